// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Threads that launch one kernel on shared streams as fast as they can, so that a recording must
// find out which launch each kernel on the device belongs to. The kernels tell by themselves:
//   many_threads [--threads 8] [--streams 4] [--launches N] [--mark shape|duration|none]
// shape: launch i of thread t has the grid (1, 1 + i % 31, 1 + t). duration: a kernel of thread t
// runs for (1 + t) * 10 us. none: all are equal. N launches in all threads together. The report
// has the system's id of each thread, in order of t.
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>
#include <thread>
#include <vector>

#include "counted.h"

namespace {

constexpr int kShapes = 31;           // of one thread; prime, so that no period hides a shift
constexpr unsigned kUnitNs = 10'000;  // of the durations
constexpr long long kLaunchesPerSync = 200;  // of a thread; 8 threads queue 1600 at most
constexpr long long kLongLaunchesPerSync = 50;

enum class Mark { kShape, kDuration, kNone };

__global__ void work(unsigned duration_ns) {
  if (duration_ns == 0) return;
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < duration_ns);
}

struct Plan {
  Mark mark = Mark::kShape;
  long long launches_of_thread = 0;
  std::vector<cudaStream_t> streams;
  std::atomic<int> ready{0};
  int thread_count = 0;
};

void launch_all(Plan& plan, int thread, long long* id) {
  *id = syscall(SYS_gettid);
  const unsigned duration_ns = plan.mark == Mark::kDuration ? (1 + thread) * kUnitNs : 0;
  const long long per_sync = plan.mark == Mark::kDuration ? kLongLaunchesPerSync : kLaunchesPerSync;
  plan.ready.fetch_add(1);
  while (plan.ready.load() < plan.thread_count) {  // all begin at once
  }
  for (long long i = 0; i < plan.launches_of_thread; ++i) {
    const cudaStream_t stream = plan.streams[(thread + i) % plan.streams.size()];
    const dim3 grid = plan.mark == Mark::kShape ? dim3(1, 1 + i % kShapes, 1 + thread) : dim3(1);
    work<<<grid, 32, 0, stream>>>(duration_ns);
    if ((i + 1) % per_sync != 0) continue;
    counted::check(cudaGetLastError(), "kernel launch", __FILE__, __LINE__);
    CALL(cudaStreamSynchronize, stream);
  }
  counted::check(cudaGetLastError(), "kernel launch", __FILE__, __LINE__);
  counted::add("cudaLaunchKernel", plan.launches_of_thread);
}

std::string_view text_option(int argc, char** argv, std::string_view name,
                             std::string_view fallback) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (name == argv[i]) return argv[i + 1];
  }
  return fallback;
}

}  // namespace

int main(int argc, char** argv) {
  counted::require_device();
  const std::string_view mark = text_option(argc, argv, "--mark", "shape");
  if (mark != "shape" && mark != "duration" && mark != "none") {
    std::fprintf(stderr, "usage: many_threads [--mark shape|duration|none]\n");
    return 2;
  }
  Plan plan;
  plan.mark = mark == "shape" ? Mark::kShape : mark == "duration" ? Mark::kDuration : Mark::kNone;
  plan.thread_count = static_cast<int>(counted::option(argc, argv, "--threads", 8));
  const long long launches = counted::option(argc, argv, "--launches", 1'048'576);
  plan.launches_of_thread = launches / plan.thread_count;
  plan.streams.resize(counted::option(argc, argv, "--streams", 4));
  for (cudaStream_t& stream : plan.streams)
    CALL(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking);

  std::vector<long long> ids(plan.thread_count);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < plan.thread_count; ++thread)
    threads.emplace_back(launch_all, std::ref(plan), thread, &ids[thread]);
  for (std::thread& thread : threads) thread.join();
  CALL(cudaDeviceSynchronize);

  std::string list;
  for (const long long id : ids) list += (list.empty() ? "" : ", ") + std::to_string(id);
  counted::note("threads", "[" + list + "]");
  counted::note("shapes", static_cast<double>(kShapes));
  counted::note("unit_ns", static_cast<double>(kUnitNs));
  counted::report("many_threads");
}
