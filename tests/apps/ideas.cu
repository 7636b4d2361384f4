// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What ideas that libcoord leaves out would gain on this device, and what they cost or break:
// copies that are predicted and issued early, streams by the kind of a kernel, energy of an
// operation by samples. And the gain of one that libcoord has: work by its deadline. Results are in
// docs/decisions/0020-ideas-left-out.md and docs/performance.md.
//   ideas [--quick]
#include <coord/coord.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "counted.h"

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double median_ms(int rounds, const std::function<void()>& run) {
  std::vector<double> spent;
  for (int i = 0; i <= rounds; ++i) {
    const auto start = Clock::now();
    run();
    CALL(cudaDeviceSynchronize);
    if (i > 0) spent.push_back(ms_since(start));
  }
  std::sort(spent.begin(), spent.end());
  return spent[spent.size() / 2];
}

__global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

__global__ void compute(float* out, int steps) {
  float value = threadIdx.x;
  for (int i = 0; i < steps; ++i) value = fmaf(value, 0.9999f, 0.5f);
  if (value == 0.123f) *out = value;
}

__global__ void stream_memory(float4* out, const float4* in, size_t count, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
      out[i] = in[i];
  }
}

__global__ void add_all(const int* in, int count, unsigned long long* sum) {
  unsigned long long mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    mine += static_cast<unsigned>(in[i]);
  atomicAdd(sum, mine);
}

struct Streams {
  cudaStream_t low, high;
  Streams() {
    int least = 0, greatest = 0;
    CALL(cudaDeviceGetStreamPriorityRange, &least, &greatest);
    CALL(cudaStreamCreateWithPriority, &low, cudaStreamNonBlocking, least);
    CALL(cudaStreamCreateWithPriority, &high, cudaStreamNonBlocking, greatest);
  }
};

/// A copy and a kernel on it, repeatedly, on one stream; or the copy of the next round issued as
/// soon as this round's has begun, which a library could predict from the pattern.
void prefetch(const Streams& streams, int rounds, int times) {
  constexpr int kCount = 1 << 20;
  int *host, *device[2];
  unsigned long long* sums;
  CALL(cudaMallocHost, reinterpret_cast<void**>(&host), kCount * sizeof(int));
  for (int*& one : device) CALL(cudaMalloc, reinterpret_cast<void**>(&one), kCount * sizeof(int));
  CALL(cudaMalloc, reinterpret_cast<void**>(&sums), times * sizeof(*sums));
  cudaEvent_t copied[2], used[2];
  for (int i = 0; i < 2; ++i) {
    CALL(cudaEventCreateWithFlags, &copied[i], cudaEventDisableTiming);
    CALL(cudaEventCreateWithFlags, &used[i], cudaEventDisableTiming);
  }
  const auto copy = [&](int i, cudaStream_t stream) {
    CALL(cudaMemcpyAsync, device[i % 2], host, kCount * sizeof(int), cudaMemcpyHostToDevice,
         stream);
  };
  const auto work = [&](int i) {
    add_all<<<132, 256, 0, streams.low>>>(device[i % 2], kCount, sums + i);
    spin<<<1, 1, 0, streams.low>>>(150'000);
  };
  // The host writes what it sends before each round, as programs do.
  const auto fill = [&](int i) { std::fill(host, host + 64, i); };

  const auto in_order = [&] {
    for (int i = 0; i < times; ++i) copy(i, streams.low), work(i);
  };
  const auto early = [&] {
    copy(0, streams.high);
    CALL(cudaEventRecord, copied[0], streams.high);
    for (int i = 0; i < times; ++i) {
      if (i + 1 < times) {
        if (i > 0) CALL(cudaStreamWaitEvent, streams.high, used[(i + 1) % 2], 0);
        copy(i + 1, streams.high);
        CALL(cudaEventRecord, copied[(i + 1) % 2], streams.high);
      }
      CALL(cudaStreamWaitEvent, streams.low, copied[i % 2], 0);
      work(i);
      CALL(cudaEventRecord, used[i % 2], streams.low);
    }
  };
  counted::note("prefetch_in_order_ms", median_ms(rounds, in_order));
  counted::note("prefetch_early_ms", median_ms(rounds, early));

  // With a host that writes between rounds: sums of the data that a kernel should have seen.
  std::fill(host, host + kCount, 0);
  CALL(cudaMemset, sums, 0, times * sizeof(*sums));
  CALL(cudaDeviceSynchronize);
  copy(0, streams.high);
  CALL(cudaStreamSynchronize, streams.high);
  for (int i = 0; i < times; ++i) {
    if (i + 1 < times) copy(i + 1, streams.high);  // predicted, before the host has written
    CALL(cudaStreamSynchronize, streams.high);
    fill(i + 1);
    work(i);
    CALL(cudaStreamSynchronize, streams.low);
  }
  std::vector<unsigned long long> seen(times);
  CALL(cudaMemcpy, seen.data(), sums, times * sizeof(*sums), cudaMemcpyDeviceToHost);
  int stale = 0;
  for (int i = 1; i < times; ++i) stale += seen[i] != 64ull * static_cast<unsigned>(i);
  counted::note("prefetch_stale", stale);
  counted::note("prefetch_copies", times - 1);
}

/// Compute-bound and memory-bound kernels of about the same length, in random order on two streams:
/// in turn, or by kind, so that unlike ones run side by side.
void kinds(const Streams& streams, int rounds, int times) {
  constexpr size_t kCount = 16 << 20;
  float4 *in, *out;
  CALL(cudaMalloc, reinterpret_cast<void**>(&in), kCount * sizeof(float4));
  CALL(cudaMalloc, reinterpret_cast<void**>(&out), kCount * sizeof(float4));
  std::mt19937 random(7);
  std::vector<bool> computes;
  for (int i = 0; i < times; ++i) computes.push_back(i % 2 == 0);
  std::shuffle(computes.begin(), computes.end(), random);
  for (const int blocks : {66, 132, 1056}) {
    const auto one = [&](bool is_compute, cudaStream_t stream) {
      if (is_compute) {
        compute<<<blocks, 256, 0, stream>>>(reinterpret_cast<float*>(out),
                                            blocks > 132 ? 15'000 : 60'000);
      } else {
        stream_memory<<<blocks, 256, 0, stream>>>(out, in, kCount / 2, 1);
      }
    };
    const auto run = [&](bool by_kind) {
      for (int i = 0; i < times; ++i)
        one(computes[i], (by_kind ? computes[i] : i % 2 == 0) ? streams.low : streams.high);
    };
    const std::string name = "kinds_" + std::to_string(blocks) + "_blocks";
    counted::note(name + "_by_turns_ms", median_ms(rounds, [&] { run(false); }));
    counted::note(name + "_by_kind_ms", median_ms(rounds, [&] { run(true); }));
  }
  CALL(cudaFree, in);
  CALL(cudaFree, out);
}

/// The driver's energy meter, polled all the time by its own thread.
class Meter {
 public:
  struct Step {
    double ms;          // when the value changed
    double millijoule;  // the value then
  };

  Meter() {
    library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (library_ == nullptr) return;
    const auto init = function<int (*)()>("nvmlInit_v2");
    const auto by_index = function<int (*)(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2");
    read_ = function<int (*)(void*, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
    unsigned long long value = 0;
    works_ = init != nullptr && by_index != nullptr && read_ != nullptr && init() == 0 &&
             by_index(0, &device_) == 0 && read_(device_, &value) == 0;
  }
  [[nodiscard]] bool works() const { return works_; }

  /// The values that it shows while `run` runs; times since `start`.
  std::vector<Step> during(Clock::time_point start, const std::function<void()>& run) {
    std::vector<Step> steps;
    std::atomic<bool> over{false};
    std::thread reader([&] {
      unsigned long long last = 0, now = 0;
      while (!over) {
        if (read_(device_, &now) == 0 && now != last) {
          steps.push_back({ms_since(start), static_cast<double>(now)});
          last = now;
        }
      }
    });
    run();
    over = true;
    reader.join();
    return steps;
  }

 private:
  template <typename Function>
  Function function(const char* name) {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }
  void* library_ = nullptr;
  void* device_ = nullptr;
  int (*read_)(void*, unsigned long long*) = nullptr;
  bool works_ = false;
};

/// Energy of an operation: measured alone for a second, and estimated from the meter while two
/// kinds of operations alternate in phases of random length.
void energy(const Streams& streams, double seconds) {
  Meter meter;
  if (!meter.works()) {
    counted::note("energy_meter_works", 0.0);
    return;
  }
  constexpr size_t kCount = 16 << 20;
  float4 *in, *out;
  CALL(cudaMalloc, reinterpret_cast<void**>(&in), kCount * sizeof(float4));
  CALL(cudaMalloc, reinterpret_cast<void**>(&out), kCount * sizeof(float4));
  const std::array<std::function<void()>, 2> issue = {
      [&] { compute<<<1056, 256, 0, streams.low>>>(reinterpret_cast<float*>(out), 20'000); },
      [&] { stream_memory<<<1056, 256, 0, streams.low>>>(out, in, kCount, 1); }};
  const auto start = Clock::now();
  const auto some = [&](int kind, double ms) {  // returns how many
    const auto begun = Clock::now();
    int count = 0;
    while (ms_since(begun) < ms) {
      for (int i = 0; i < 8; ++i) issue[kind]();
      count += 8;
      CALL(cudaStreamSynchronize, streams.low);
    }
    return count;
  };
  std::array<double, 2> alone{}, op_ms{};
  std::vector<double> gaps;
  for (int kind : {0, 1}) {
    some(kind, 300);  // warm
    int count = 0;
    double spent = 0;
    const auto steps = meter.during(start, [&] {
      const auto begun = Clock::now();
      count = some(kind, 1000 * seconds);
      spent = ms_since(begun);
    });
    if (steps.size() < 3) return counted::note("energy_meter_moves", 0.0);
    const double power =
        (steps.back().millijoule - steps[1].millijoule) / (steps.back().ms - steps[1].ms);
    op_ms[kind] = spent / count;
    alone[kind] = power * op_ms[kind];
    for (size_t i = 2; i < steps.size(); ++i) gaps.push_back(steps[i].ms - steps[i - 1].ms);
  }
  std::sort(gaps.begin(), gaps.end());
  counted::note("energy_meter_moves_every_ms", gaps[gaps.size() / 2]);
  counted::note("energy_compute_operation_us", 1e3 * op_ms[0]);
  counted::note("energy_memory_operation_us", 1e3 * op_ms[1]);

  std::mt19937 random(3);
  struct Phase {
    double start_ms, end_ms;
    int kind, count;
  };
  std::vector<Phase> phases;
  const auto steps = meter.during(start, [&] {
    const auto begun = Clock::now();
    while (ms_since(begun) < 3000 * seconds) {
      const int kind = static_cast<int>(phases.size() % 2);
      const double from = ms_since(start);
      const int count = some(kind, 2 + random() % 40);
      phases.push_back({from, ms_since(start), kind, count});
    }
  });
  // Least squares: energy of a step = operations of either kind in it, each times its energy.
  double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
  for (size_t i = 2; i < steps.size(); ++i) {
    std::array<double, 2> in_step{};
    for (const Phase& phase : phases) {
      const double inside =
          std::min(phase.end_ms, steps[i].ms) - std::max(phase.start_ms, steps[i - 1].ms);
      if (inside > 0) in_step[phase.kind] += phase.count * inside / (phase.end_ms - phase.start_ms);
    }
    const double y = steps[i].millijoule - steps[i - 1].millijoule;
    aa += in_step[0] * in_step[0], ab += in_step[0] * in_step[1], bb += in_step[1] * in_step[1];
    ay += in_step[0] * y, by += in_step[1] * y;
  }
  const double determinant = aa * bb - ab * ab;
  const std::array<double, 2> estimated = {(ay * bb - by * ab) / determinant,
                                           (by * aa - ay * ab) / determinant};
  for (int kind : {0, 1}) {
    const std::string name = kind == 0 ? "energy_compute" : "energy_memory";
    counted::note(name + "_alone_millijoule", alone[kind]);
    counted::note(name + "_estimated_millijoule", estimated[kind]);
  }
  CALL(cudaFree, in);
  CALL(cudaFree, out);
}

__global__ void spin_then_tell(long long cycles, volatile int* done) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *done = 1;
}

/// Operations that fill the device arrive at random and must end by a deadline. How many miss it:
/// submitted at once in order of arrival, on two stream priorities by urgency, or by a
/// DeadlineQueue.
void deadlines(const Streams& streams, int times) {
  int khz = 0, multiprocessors = 0;
  CALL(cudaDeviceGetAttribute, &khz, cudaDevAttrClockRate, 0);
  CALL(cudaDeviceGetAttribute, &multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  const int blocks = 2 * multiprocessors;  // none runs beside another
  int* done;
  CALL(cudaMallocHost, reinterpret_cast<void**>(&done), times * sizeof(int));
  const coord::Device device = coord::Device::open("cuda");
  const coord::Stream stream = device.create_stream();
  coord::Coordinator coordinator(device);
  enum Policy { kAsTheyCome, kStreamPriorities, kDeadlineQueue };
  const std::array<const char*, 3> names = {"as_they_come", "stream_priorities", "deadline_queue"};
  for (const double load : {0.6, 0.8, 0.95}) {
    for (const Policy policy : {kAsTheyCome, kStreamPriorities, kDeadlineQueue}) {
      std::mt19937 random(11);
      std::uniform_real_distribution<double> service(0.05, 0.35), slack(1.5, 12);
      std::exponential_distribution<double> gap(load / 0.2);
      struct Job {
        double arrival, service, deadline, ended = 0;
      };
      std::vector<Job> jobs;
      double at = 1;
      for (int i = 0; i < times; ++i) {
        at += gap(random);
        const double takes = service(random);
        jobs.push_back({at, takes, at + takes * slack(random)});
      }
      std::fill(done, done + times, 0);
      coord::DeadlineQueue queue(coordinator, stream);
      const auto start = Clock::now();
      const coord::TimeNs device_start = device.now();
      const auto launch = [&](int i, cudaStream_t to) {
        spin_then_tell<<<blocks, 1024, 0, to>>>(static_cast<long long>(jobs[i].service * khz),
                                                done + i);
      };
      std::vector<int> running;
      int next = 0, ended = 0;
      while (ended < times) {
        const double now = ms_since(start);
        for (; next < times && jobs[next].arrival <= now; ++next) {
          const bool urgent = jobs[next].deadline - jobs[next].arrival < 6 * 0.2;
          if (policy == kDeadlineQueue) {
            const auto deadline = static_cast<std::int64_t>(1e6 * jobs[next].deadline);
            queue.submit({device_start.value + deadline}, [&launch, i = next](coord::StreamRef to) {
              launch(i, reinterpret_cast<cudaStream_t>(to.native()));
            });
          } else {
            launch(next, policy == kStreamPriorities && urgent ? streams.high : streams.low);
          }
          running.push_back(next);
        }
        for (size_t i = 0; i < running.size();) {
          if (reinterpret_cast<volatile int*>(done)[running[i]] == 0) {
            ++i;
            continue;
          }
          jobs[running[i]].ended = ms_since(start);
          ++ended;
          running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
        }
      }
      queue.wait();
      CALL(cudaDeviceSynchronize);
      const auto missed = std::count_if(jobs.begin(), jobs.end(),
                                        [](const Job& job) { return job.ended > job.deadline; });
      counted::note("deadlines_load_" + std::to_string(std::lround(100 * load)) + "_" +
                        names[policy] + "_missed_percent",
                    100.0 * static_cast<double>(missed) / times);
      if (policy == kDeadlineQueue)
        counted::expect("operations", times, static_cast<long long>(queue.metrics().completed));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  counted::require_device();
  const bool quick = counted::flag(argc, argv, "--quick");
  const Streams streams;
  prefetch(streams, quick ? 1 : 7, quick ? 10 : 200);
  kinds(streams, quick ? 1 : 7, quick ? 10 : 80);
  energy(streams, quick ? 0.3 : 2);
  deadlines(streams, quick ? 20 : 1500);
  counted::report("ideas");
}
