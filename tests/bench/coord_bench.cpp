// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What libcoord itself costs, beside the ways to do without it. STREAMSCOPE_BENCH_DEVICE chooses
// the device (default auto); on the simulated one the calls of the "driver" cost what the
// simulator's bookkeeping costs.

#include "bench/budget.h"

#include <coord/coord.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <ctime>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "bench/futex_wake.h"

namespace {

namespace bench = streamscope::bench;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 7;

/// Time of this thread on a processor, so that what else the machine does counts for nothing.
double thread_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double nanoseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

/// ns per call of `function`, the median of some rounds of `count` calls.
template <typename Function>
double per_call(std::size_t count, Function function) {
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = thread_nanoseconds();
    for (std::size_t i = 0; i < count; ++i) function();
    rounds.push_back((thread_nanoseconds() - begin) / static_cast<double>(count));
  }
  return bench::median(rounds);
}

/// The same with several threads, in ns of processor time for each call: a machine with fewer
/// processors than threads does not make the calls any dearer.
template <typename Function>
double per_call_of(unsigned threads, std::size_t count, Function function) {
  std::vector<double> rounds;
  const unsigned processors = std::max(1u, std::min(threads, std::thread::hardware_concurrency()));
  for (int round = 0; round < kRounds; ++round) {
    std::barrier start(threads + 1);
    std::vector<std::jthread> all;
    for (unsigned t = 0; t < threads; ++t) {
      all.emplace_back([&] {
        function();  // the thread's first call is its own
        start.arrive_and_wait();
        for (std::size_t i = 0; i < count; ++i) function();
      });
    }
    start.arrive_and_wait();
    const auto begin = Clock::now();
    all.clear();
    rounds.push_back(nanoseconds_since(begin) * processors / static_cast<double>(count * threads));
  }
  return bench::median(rounds);
}

/// What others have: one lock around a vector.
class LockedPool {
 public:
  explicit LockedPool(const coord::Device& device) : device_(device) {}
  coord::Event* acquire() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      all_.push_back(std::make_unique<coord::Event>(device_.create_event()));
      free_.push_back(all_.back().get());
    }
    coord::Event* event = free_.back();
    free_.pop_back();
    return event;
  }
  void release(coord::Event* event) {
    const std::lock_guard lock(mutex_);
    free_.push_back(event);
  }

 private:
  coord::Device device_;
  std::mutex mutex_;
  std::vector<coord::Event*> free_;
  std::vector<std::unique_ptr<coord::Event>> all_;
};

void measure_event_pool(const coord::Device& device) {
  coord::EventPool pool(device);
  LockedPool locked(device);
  const auto ours = [&] { pool.release(pool.acquire()); };
  const auto theirs = [&] { locked.release(locked.acquire()); };
  const auto without = [&] { (void)device.create_event(); };
  const std::size_t many = bench::scaled(1'000'000), few = bench::scaled(20'000);

  bench::budget("event_acquire_release_1_thread", per_call(many, ours), "ns", 15,
                bench::Better::kLess);
  bench::rival("mutex_and_vector_1_thread", per_call(many, theirs), "ns");
  bench::rival("create_and_destroy_1_thread", per_call(few, without), "ns");
  bench::budget("event_acquire_release_16_threads", per_call_of(16, many / 4, ours), "ns", 25,
                bench::Better::kLess);
  bench::rival("mutex_and_vector_16_threads", per_call_of(16, few, theirs), "ns");
  bench::rival("create_and_destroy_16_threads", per_call_of(16, few / 4, without), "ns");
}

void measure_coordinator(const coord::Device& device) {
  const coord::Stream stream = device.create_stream(), other = device.create_stream();
  const std::size_t count = bench::scaled(20'000);
  const auto nothing = [](coord::StreamRef) {};
  coord::EventPool pool(device);
  // The call that a submission cannot do without, on an event of a pool.
  const auto record = [&] {
    const coord::EventRef event = pool.acquire();
    stream.record(event);
    pool.release(event);
  };
  std::vector<double> own, check;
  for (int round = 0; round < kRounds; ++round) {
    coord::Coordinator coordinator(device, {.polled = true});
    std::array<coord::OperationHandle, 4> recent;
    for (auto& operation : recent) operation = coordinator.submit({.stream = other}, nothing);
    // The stream has waited for them: from here on they are implied.
    coordinator.submit({.stream = stream, .after = std::span<const coord::OperationHandle>(recent)},
                       nothing);
    const auto measure = [&](std::size_t dependencies) {
      const coord::OperationOptions options{
          .stream = stream,
          .after = std::span<const coord::OperationHandle>(recent).first(dependencies)};
      const double begin = thread_nanoseconds();
      for (std::size_t i = 0; i < count; ++i) coordinator.submit(options, nothing);
      return (thread_nanoseconds() - begin) / static_cast<double>(count);
    };
    const double none = measure(0), four = measure(4);
    const double begin = thread_nanoseconds();
    for (std::size_t i = 0; i < count; ++i) record();
    const double call = (thread_nanoseconds() - begin) / static_cast<double>(count);
    own.push_back(four - call);
    check.push_back((four - none) / 4);
    stream.synchronize();
    other.synchronize();
  }
  bench::budget("operation_own_cost_4_dependencies", bench::median(own), "ns", 60,
                bench::Better::kLess);
  bench::budget("elision_check", bench::median(check), "ns", 10, bench::Better::kLess);
}

void measure_timeline() {
  const std::size_t many = bench::scaled(2'000'000);
  coord::TimelineSignal timeline;
  std::uint64_t value = 0, sum = 0;
  bench::budget("timeline_completed", per_call(many, [&] { sum += timeline.completed(); }), "ns", 3,
                bench::Better::kLess);
  bench::budget("host_signal_without_waiter", per_call(many, [&] { timeline.signal(++value); }),
                "ns", 10, bench::Better::kLess);
  if (sum == 1) std::printf("\n");  // keeps the loads

  // Ping and pong between two threads that sleep: through timelines, and through a bare futex.
  const std::uint64_t rounds = bench::scaled(3'000);
  std::unique_ptr<coord::TimelineSignal> there, back;
  std::uint64_t base = 0;
  there = std::make_unique<coord::TimelineSignal>();
  back = std::make_unique<coord::TimelineSignal>();
  std::atomic<std::uint64_t> answered{0};
  const double ours = bench::hand_over_ns(
      rounds,
      [&](std::uint64_t i) {
        if (i == 1) base = there->completed();
        there->signal(base + i);
        back->wait(base + i);
      },
      [&](std::uint64_t) {
        const std::uint64_t next = ++answered;
        there->wait(next);
        back->signal(next);
      });
  const double bare = bench::futex_wake_ns(rounds);
  bench::budget("timeline_wake", ours, "ns", 1.2 * bare, bench::Better::kLess);
  bench::rival("futex_wake", bare, "ns");
}

}  // namespace

int main() {
  const char* which = std::getenv("STREAMSCOPE_BENCH_DEVICE");
  const coord::Device device = coord::Device::open(which != nullptr ? which : "auto");
  std::printf("device %s\n", device.properties().name.c_str());
  measure_event_pool(device);
  measure_coordinator(device);
  measure_timeline();
}
