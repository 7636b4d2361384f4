// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How late the host learns what a device has reached: callbacks of an AsyncWaiter, the value of a
// timeline, and the cost of polling. STREAMSCOPE_BENCH_DEVICE selects the device (default auto).
// Streams are held by a word of host memory, so the instant at which a point is reached is known,
// except for the time until a GPU sees that word, which is measured beside it.

#include <coord/coord.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/budget.h"
#include "bench/futex_wake.h"

namespace {

namespace bench = streamscope::bench;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

double process_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

/// Holds streams until the host releases them.
class Gate {
 public:
  explicit Gate(const coord::Device& device) : word_(device.allocate_host<std::uint64_t>(1)) {}
  void hold(coord::StreamRef stream) { stream.wait_value(word_.data(), ++held_); }
  Clock::time_point open() {
    const Clock::time_point now = Clock::now();
    std::atomic_ref<std::uint64_t>(word_[0]).store(held_);
    return now;
  }

 private:
  coord::HostBuffer<std::uint64_t> word_;
  std::uint64_t held_ = 0;
};

/// Passes `time`, asleep if it is long.
void pass(Clock::duration time) {
  if (time > 1ms) return std::this_thread::sleep_for(time);
  for (const auto begin = Clock::now(); Clock::now() - begin < time;) {
  }
}

/// From the opening of a gate that was held for a while to the first success of a thread that polls
/// all the time: the device's own time, which nobody can beat. `mark` comes behind the gate.
template <typename Mark, typename Ask>
double gate_delay_us(const coord::Device& device, std::size_t count, Clock::duration held,
                     const coord::Stream& stream, Mark mark, Ask ask) {
  Gate gate(device);
  std::vector<double> delays;
  for (std::size_t i = 0; i < count; ++i) {
    gate.hold(stream);
    mark();
    pass(held);
    const Clock::time_point opened = gate.open();
    while (!ask()) {
    }
    delays.push_back(microseconds(Clock::now() - opened));
  }
  return bench::median(delays);
}

/// Polling the stream.
double gate_delay_us(const coord::Device& device, std::size_t count, Clock::duration held) {
  const coord::Stream stream = device.create_stream();
  return gate_delay_us(
      device, count, held, stream, [] {}, [&] { return stream.query(); });
}

/// Polling an event.
double event_delay_us(const coord::Device& device, std::size_t count, Clock::duration held) {
  const coord::Stream stream = device.create_stream();
  const coord::Event event = device.create_event();
  return gate_delay_us(
      device, count, held, stream, [&] { stream.record(event); }, [&] { return event.query(); });
}

/// From the opening of a gate to the callback of a waiter, if that is `after` the wait began.
double callback_delay_us(const coord::Device& device, std::size_t count, Clock::duration after) {
  coord::AsyncWaiter waiter(device);
  const coord::Stream stream = device.create_stream();
  Gate gate(device);
  std::vector<double> delays;
  for (std::size_t i = 0; i < count; ++i) {
    Clock::time_point called;
    std::atomic<bool> was_called{false};
    gate.hold(stream);
    waiter.when_reached(stream, [&](const coord::WaitOutcome&) {
      called = Clock::now();
      was_called.store(true, std::memory_order_release);
    });
    pass(after);
    const Clock::time_point reached = gate.open();
    while (!was_called.load(std::memory_order_acquire)) std::this_thread::yield();
    delays.push_back(microseconds(called - reached));
  }
  return bench::median(delays);
}

/// Share of a CPU while a wait has lasted for a while.
double idle_percent(const coord::Device& device) {
  coord::AsyncWaiter waiter(device);
  const coord::Stream stream = device.create_stream();
  Gate gate(device);
  gate.hold(stream);
  waiter.when_reached(stream, [](const coord::WaitOutcome&) {});
  std::this_thread::sleep_for(50ms);
  const double processor = process_seconds();
  const auto begin = Clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(bench::scaled(1000)));
  const double used = process_seconds() - processor;
  const double percent = 100 * used * 1e6 / microseconds(Clock::now() - begin);
  gate.open();
  stream.synchronize();
  return percent;
}

/// How long completed() does not report points that were reached, while a thread waits.
struct Staleness {
  std::vector<double>
      since_known_us;  // a word that the device writes just before notifies the host
  std::vector<double> since_gate_us;
};
Staleness staleness(const coord::Device& device, std::size_t count, Clock::duration apart) {
  coord::TimelineSignal timeline(device);
  const coord::Stream stream = device.create_stream();
  const coord::HostBuffer<std::uint64_t> word = device.allocate_host<std::uint64_t>(1);
  Gate gate(device);
  std::jthread waiting([&] { timeline.wait(count); });
  Staleness all;
  for (std::uint64_t i = 1; i <= count; ++i) {
    gate.hold(stream);
    stream.write_value(word.data(), i);
    timeline.signal(stream, i);
    std::this_thread::sleep_for(apart);
    const Clock::time_point opened = gate.open();
    Clock::time_point known = Clock::time_point::max();
    for (bool observed = false; !observed;) {
      observed = timeline.completed() >= i;
      const Clock::time_point now = Clock::now();
      if (std::atomic_ref<std::uint64_t>(word[0]).load() >= i) known = std::min(known, now);
      if (!observed) continue;
      all.since_known_us.push_back(microseconds(now - std::min(known, now)));
      all.since_gate_us.push_back(microseconds(now - opened));
    }
  }
  return all;
}

}  // namespace

int main() {
  const char* which = std::getenv("STREAMSCOPE_BENCH_DEVICE");
  const coord::Device device = coord::Device::open(which != nullptr ? which : "auto");
  std::printf("device %s\n", device.properties().name.c_str());
  const double bare = bench::futex_wake_ns(bench::scaled(3'000)) / 1000;
  const double gate_at_once = gate_delay_us(device, bench::scaled(1'000), 0us);
  const double gate = gate_delay_us(device, bench::scaled(1'000), 20us);
  const double by_event = event_delay_us(device, bench::scaled(1'000), 20us);
  const double spinning = callback_delay_us(device, bench::scaled(1'000), 20us);
  const double after_1_ms = callback_delay_us(device, bench::scaled(200), 1ms);
  const double after_20_ms = callback_delay_us(device, bench::scaled(30), 20ms);
  const double idle = idle_percent(device);
  const Staleness stale = staleness(device, bench::scaled(1'000), 200us);
  const Staleness late = staleness(device, bench::scaled(300), 3ms);
  // On the simulated device each thread has its own clock, and the polling one has to catch up with
  // the one that opens the gate: times then have no limit.
  const auto budget_on_a_gpu = [&](const char* name, double value, double limit) {
    if (device.simulated()) {
      bench::rival(name, value, "us");
    } else {
      bench::budget(name, value, "us", limit, bench::Better::kLess);
    }
  };
  bench::budget("waiter_idle_cpu_pct", idle, "%", 5, bench::Better::kLess);
  // After the first instant that a thread that does nothing but poll can observe, with the gate
  // held as long.
  budget_on_a_gpu("waiter_callback_delay_us", spinning - gate, std::max(5.0, 1.2 * bare));
  bench::rival("futex_wake_us", bare, "us");
  bench::rival("waiter_callback_since_the_gate_us", spinning, "us");
  bench::rival("gate_us", gate, "us");
  bench::rival("gate_by_event_us", by_event, "us");
  bench::rival("gate_not_held_us", gate_at_once, "us");
  bench::rival("waiter_callback_delay_after_1_ms_us", after_1_ms, "us");
  bench::rival("waiter_callback_delay_after_20_ms_us", after_20_ms, "us");
  const auto notify_staleness = [&](const std::string& name, const Staleness& found) {
    budget_on_a_gpu((name + "_us").c_str(), quantile(found.since_known_us, 0.99), 20);
    bench::rival((name + "_median_us").c_str(), quantile(found.since_known_us, 0.5), "us");
    bench::rival((name + "_longest_us").c_str(), quantile(found.since_known_us, 1), "us");
    bench::rival((name + "_since_the_gate_us").c_str(), quantile(found.since_gate_us, 0.99), "us");
  };
  notify_staleness("completed_staleness", stale);
  // After the time in which everybody polls without pause.
  notify_staleness("completed_staleness_after_3_ms", late);
}
