// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that hang, and programs that are merely slow: `hang NAME` and `slow NAME`. The fakes
// block what a GPU would block. Each ends by itself after a minute.
#include <dlfcn.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <span>
#include <thread>

#include "child.h"
#include "collect/cupti/decode.h"

namespace child {
namespace {

const auto kLeft = handle<cudaStream_t>(0xa00a), kRight = handle<cudaStream_t>(0xb00b);
const auto kDone = handle<cudaEvent_t>(0xe00e);
uint32_t flags[2];

void start() {
  cuInit(0);
  create_context();
  create_stream(kLeft, cudaStreamNonBlocking);
  create_stream(kRight, cudaStreamNonBlocking);
  create_event(kDone, cudaEventDisableTiming);
  for (auto stream : {kLeft, kRight}) fake_set_pending(stream, true);
  fake_set_pending(kDone, true);
}

// Where the threads of these programs are, by name in their stacks.
__attribute__((noinline)) void hangs_here() {
  pause_ms(60'000);
  _exit(0);
}

void wait_value(cudaStream_t stream, uint32_t* flag, uint32_t value) {
  const cuStreamWaitValue32_v2_params parameters{stream, reinterpret_cast<CUdeviceptr>(flag), value,
                                                 0};
  driver(DRIVER_ID(cuStreamWaitValue32_v2), parameters);
}

void write_value(cudaStream_t stream, uint32_t* flag, uint32_t value) {
  const cuStreamWriteValue32_v2_params parameters{stream, reinterpret_cast<CUdeviceptr>(flag),
                                                  value, 0};
  driver(DRIVER_ID(cuStreamWriteValue32_v2), parameters);
}

void synchronize(cudaStream_t stream, const Inside& inside) {
  const cudaStreamSynchronize_v3020_params parameters{stream};
  runtime(RUNTIME_ID(cudaStreamSynchronize_v3020), parameters, {.inside = inside});
}

void never_returns(const FakeCall&) { hangs_here(); }

void launch_host_function(cudaStream_t stream) {
  const cudaLaunchHostFunc_v10000_params parameters{stream, nullptr, nullptr};
  runtime(RUNTIME_ID(cudaLaunchHostFunc_v10000), parameters);
}

/// A kernel that took this long, a while ago.
void ran_kernel(cudaStream_t stream, const char* name, int64_t duration_ns) {
  streamscope::collect::KernelActivity kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.correlation_id = launch(stream, name);
  kernel.start = fake_timestamp();
  kernel.end = kernel.start + static_cast<uint64_t>(duration_ns);
  kernel.name = name;
  fake_activity(&kernel, sizeof kernel, false);
  fake_deliver();
}

void lost_signal() {
  wait_value(kLeft, &flags[0], 1);
  launch(kLeft, "behind");
  synchronize(kLeft, never_returns);
}

void crossed_signals() {
  wait_value(kLeft, &flags[1], 1);
  write_value(kLeft, &flags[0], 1);
  wait_value(kRight, &flags[0], 1);
  write_value(kRight, &flags[1], 1);
  synchronize(kLeft, never_returns);
}

void stuck_kernel() {
  for (int i = 0; i < 5; ++i) ran_kernel(kLeft, "spin", 10'000);
  launch(kLeft, "spin");
  launch(kLeft, "behind");
  synchronize(kLeft, never_returns);
}

std::mutex lock;

__attribute__((noinline)) void takes_the_lock(void*) {
  const std::lock_guard guard(lock);
  pause_ms(1);
}

// The function waits for a lock that is held by the thread that waits for the function.
void host_function_on_mutex() {
  lock.lock();
  launch_host_function(kLeft);
  fake_run_host_function(takes_the_lock, nullptr);
  launch(kLeft, "behind");
  synchronize(kLeft, never_returns);
}

std::atomic<bool> go{false};

__attribute__((noinline)) void waits_for_a_flag(void*) {
  while (!go) pause_ms(1000);
}

void host_function_on_flag() {
  launch_host_function(kLeft);
  fake_run_host_function(waits_for_a_flag, nullptr);
  launch(kLeft, "behind");
  synchronize(kLeft, never_returns);
}

std::mutex hungry;
std::condition_variable never_notified;

__attribute__((noinline)) void waits_for_food() {
  std::unique_lock hold(hungry);
  never_notified.wait(hold);
}

__attribute__((noinline)) void computes() {
  volatile double sum = 0;
  for (;;) sum = sum + 1;
}

// A thread that made the releasing write so far, and no longer does.
void feed(void (*then)()) {
  std::thread producer([then] {
    for (uint32_t step = 1; step <= 5; ++step) write_value(kRight, &flags[0], step);
    then();
  });
  pause_ms(100);
  flags[0] = 5;
  for (uint32_t step = 1; step <= 6; ++step) wait_value(kLeft, &flags[0], step);
  fake_set_pending(kRight, false);
  synchronize(kLeft, never_returns);
  producer.join();
}

void host_not_feeding() { feed(waits_for_food); }

std::mutex first, second;

__attribute__((noinline)) void locks(std::mutex& one, std::mutex& other, cudaStream_t stream) {
  const std::lock_guard outer(one);
  synchronize(stream, [](const FakeCall&) { pause_ms(100); });
  const std::lock_guard inner(other);
}

// Nothing is pending on the device, and no call is in progress.
void opposite_locks() {
  fake_set_pending(kLeft, false);
  fake_set_pending(kRight, false);
  std::thread other([] { locks(second, first, kRight); });
  locks(first, second, kLeft);
  other.join();
}

void free_memory(const Inside& inside) {
  const cudaFree_v3020_params parameters{handle<void*>(0x7000)};
  runtime(RUNTIME_ID(cudaFree_v3020), parameters, {.inside = inside});
}

void free_under_spin() {
  for (int i = 0; i < 5; ++i) ran_kernel(kLeft, "spin", 10'000);
  launch(kLeft, "spin");
  fake_block_flush(true);
  std::thread other([] {
    pause_ms(50);
    const cudaLaunchKernel_v7000_params parameters{};
    runtime(RUNTIME_ID(cudaLaunchKernel_v7000), parameters,
            {.symbol = "other", .inside = never_returns});
  });
  free_memory(never_returns);
  other.join();
}

void lazy_loading() {
  for (int i = 0; i < 5; ++i) ran_kernel(kLeft, "spin", 10'000);
  launch(kLeft, "spin");
  cudaLaunchKernel_v7000_params parameters{};
  parameters.stream = kRight;
  runtime(RUNTIME_ID(cudaLaunchKernel_v7000), parameters,
          {.symbol = "not_loaded", .inside = never_returns});
}

void full_queue() {
  wait_value(kLeft, &flags[0], 1);
  for (int i = 0; i < 1020; ++i) launch(kLeft, "queued");
  cudaLaunchKernel_v7000_params parameters{};
  parameters.stream = kLeft;
  runtime(RUNTIME_ID(cudaLaunchKernel_v7000), parameters,
          {.symbol = "one_too_many", .inside = never_returns});
}

void query(int32_t result) {
  const cudaEventQuery_v3020_params parameters{kDone};
  runtime(RUNTIME_ID(cudaEventQuery_v3020), parameters, {.result = result});
}

void endless_poll() {
  wait_value(kLeft, &flags[0], 1);
  record(kDone, kLeft);
  for (int i = 0; i < 60'000; ++i) {
    query(600);
    pause_ms(1);
  }
}

void stalled_queries() {
  fake_block_queries(true);
  lost_signal();
}

// A graph whose external wait is for a record behind a blocked stream.
void graph_behind_record() {
  wait_value(kLeft, &flags[0], 1);
  record(kDone, kLeft);
  const cudaStreamBeginCapture_v10000_params begin{kRight, cudaStreamCaptureModeRelaxed};
  runtime(RUNTIME_ID(cudaStreamBeginCapture_v10000), begin);
  const cudaStreamWaitEvent_v3020_params external{kRight, kDone, cudaEventWaitExternal};
  runtime(RUNTIME_ID(cudaStreamWaitEvent_v3020), external);
  launch(kRight, "captured");
  cudaGraph_t graph = nullptr;
  const cudaStreamEndCapture_v10000_params end{kRight, &graph};
  runtime(RUNTIME_ID(cudaStreamEndCapture_v10000), end);
  const cudaGraphLaunch_v10000_params launched{handle<cudaGraphExec_t>(0x9009), kRight};
  runtime(RUNTIME_ID(cudaGraphLaunch_v10000), launched);
  synchronize(kRight, never_returns);
}

// The slow ones.

void slow_kernel() {
  ran_kernel(kLeft, "long", 20'000'000'000);
  launch(kLeft, "long");
  synchronize(kLeft, never_returns);
}

void busy_producer() { feed(computes); }

void idle_server() {
  ran_kernel(kLeft, "request", 10'000);
  for (auto stream : {kLeft, kRight}) fake_set_pending(stream, false);
  const int set = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event;
  (void)!epoll_wait(set, &event, 1, 60'000);
}

void long_host_work() {
  ran_kernel(kLeft, "step", 10'000);
  for (auto stream : {kLeft, kRight}) fake_set_pending(stream, false);
  computes();
}

void stopped_by_debugger() {
  launch(kLeft, "kernel");
  synchronize(kLeft, [](const FakeCall&) { raise(SIGSTOP); });
}

void steady_progress() {
  for (int i = 0; i < 600; ++i) {
    ran_kernel(kLeft, "step", 10'000);
    pause_ms(100);
  }
}

void poll_with_progress() {
  record(kDone, kLeft);
  // By the clock: a fixed number of polls takes long where processors are busy.
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  for (auto done_at = begin; done_at - begin < std::chrono::seconds(120);) {
    const bool done = Clock::now() - done_at > std::chrono::milliseconds(100);
    if (done) done_at = Clock::now();
    query(done ? 0 : 600);
    pause_ms(2);
  }
}

void compiling() {
  const cuModuleLoadData_params parameters{};
  driver(DRIVER_ID(cuModuleLoadData), parameters, {.inside = [](const FakeCall&) { computes(); }});
}

void asks_for_dump() {
  for (int i = 0; i < 10; ++i) launch(kLeft, "before");
  reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "streamscope_dump"))();
  pause_ms(500);
}

struct Program {
  const char* name;
  void (*run)();
};

constexpr Program kHangs[] = {
    {"lost-signal", lost_signal},
    {"crossed-signals", crossed_signals},
    {"stuck-kernel", stuck_kernel},
    {"host-function-on-mutex", host_function_on_mutex},
    {"host-function-on-flag", host_function_on_flag},
    {"host-not-feeding", host_not_feeding},
    {"opposite-locks", opposite_locks},
    {"free-under-spin", free_under_spin},
    {"lazy-loading", lazy_loading},
    {"full-queue", full_queue},
    {"endless-poll", endless_poll},
    {"stalled-queries", stalled_queries},
    {"graph-behind-record", graph_behind_record},
    {"slow-kernel", slow_kernel},
    {"busy-producer", busy_producer},
    {"idle-server", idle_server},
    {"long-host-work", long_host_work},
    {"stopped-by-debugger", stopped_by_debugger},
    {"steady-progress", steady_progress},
    {"poll-with-progress", poll_with_progress},
    {"compiling", compiling},
    {"asks-for-dump", asks_for_dump},
};

// As many records as there is time for; prints how many.
int soak(long seconds) {
  long records = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (; std::chrono::steady_clock::now() < end; records += 300) {
    for (int i = 0; i < 100; ++i) {
      launch(kLeft, "soak");
      record(kDone, kLeft);
      wait(kRight, kDone);
    }
  }
  std::printf("%ld\n", records);
  return 0;
}

int hang(const Arguments& arguments) {
  if (arguments.size() == 2 && arguments[0] == "soak") {
    start();
    return soak(std::atol(arguments[1].c_str()));
  }
  for (const Program& program : kHangs) {
    if (arguments.empty() || arguments[0] != program.name) continue;
    start();
    program.run();
    return 0;
  }
  return 2;
}

constexpr Scenario kScenarios[] = {{"hang", hang}};

}  // namespace
}  // namespace child

std::span<const child::Scenario> hang_scenarios() { return child::kScenarios; }
