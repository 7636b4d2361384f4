// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The cost of libcoord itself, compared with alternatives. STREAMSCOPE_BENCH_DEVICE selects the
// device (default auto); on the simulated one the calls of the "driver" cost what the simulator's
// bookkeeping costs.

#include "bench/budget.h"
#include "bench/free_backend.h"

#include <coord/coord.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "bench/futex_wake.h"
#include "bench/quiet_processor.h"

namespace {

namespace bench = streamscope::bench;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 7;

/// CPU time of this thread, so that other load on the machine does not count.
double thread_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

double nanoseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

/// ns per call of `function`, the median of several rounds of `count` calls.
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

/// The same with several threads, in ns of CPU time for each call: a machine with fewer CPUs than
/// threads does not make the calls more expensive.
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

/// The usual solution: one lock around a vector.
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
  // Enough of each thread that its start and end hardly count.
  bench::budget("event_acquire_release_16_threads", per_call_of(16, many, ours), "ns", 25,
                bench::Better::kLess);
  bench::rival("mutex_and_vector_16_threads", per_call_of(16, few, theirs), "ns");
  bench::rival("create_and_destroy_16_threads", per_call_of(16, few / 4, without), "ns");
}

/// A device whose calls cost nothing.
coord::Device free_device() {
  return coord::Device::of_backend(std::make_unique<bench::FreeBackend>());
}

/// The cost of an operation for the thread that submits it, in ns, once the Coordinator has what it
/// needs.
struct OperationCost {
  double no_dependency, four_dependencies, posted, other_stream;
};

OperationCost measure_operations(const coord::Device& device) {
  const auto nothing = [](coord::StreamRef) {};
  const std::size_t batches = bench::scaled(200);
  constexpr std::size_t kBatch = 256;  // a driver's queue takes this many without blocking us
  std::vector<double> none, four, posted, other_stream;
  for (int round = 0; round < kRounds; ++round) {
    const coord::Stream stream = device.create_stream(), other = device.create_stream();
    coord::Coordinator coordinator(device, {.polled = true});
    std::array<coord::OperationHandle, 4> recent;
    const auto measure = [&](std::vector<double>& result, auto&& submit) {
      double spent = 0;
      for (std::size_t batch = 0; batch < batches; ++batch) {
        const double begin = thread_nanoseconds();
        for (std::size_t i = 0; i < kBatch; ++i) submit();
        spent += thread_nanoseconds() - begin;
        stream.synchronize();
        other.synchronize();
      }
      result.push_back(spent / static_cast<double>(batches * kBatch));
    };
    std::vector<double> warmed_up;
    measure(warmed_up, [&] { coordinator.submit({.stream = stream}, nothing); });
    for (auto& operation : recent) operation = coordinator.submit({.stream = other}, nothing);
    // The stream has waited for them: from here on they are implied.
    const coord::OperationOptions after{.stream = stream,
                                        .after = std::span<const coord::OperationHandle>(recent)};
    coordinator.submit(after, nothing);
    const coord::OperationOptions alone{.stream = stream};
    measure(none, [&] { coordinator.submit(alone, nothing); });
    measure(four, [&] { coordinator.submit(after, nothing); });
    measure(posted, [&] { coordinator.post(alone, nothing); });
    coord::OperationHandle last = recent[3];
    bool odd = false;
    measure(other_stream, [&] {
      odd = !odd;
      last = coordinator.submit({.stream = odd ? stream : other, .after = {last}}, nothing);
    });
  }
  return {bench::median(none), bench::median(four), bench::median(posted),
          bench::median(other_stream)};
}

/// Its own cost is measured where calls of the driver cost nothing; next to it the same with the
/// device's calls, and these alone.
void measure_coordinator(const coord::Device& device) {
  const bench::OnQuietProcessor here;
  const OperationCost own = measure_operations(free_device());
  bench::budget("coordinator_own_ns_per_operation", own.four_dependencies, "ns", 60,
                bench::Better::kLess);
  bench::rival("own_cost_without_dependency", own.no_dependency, "ns");
  bench::rival("own_cost_posted", own.posted, "ns");
  bench::rival("own_cost_wait_for_other_stream", own.other_stream, "ns");
  const OperationCost whole = measure_operations(device);
  bench::rival("operation_with_calls_of_the_device", whole.four_dependencies, "ns");
  bench::rival("posted_with_calls_of_the_device", whole.posted, "ns");

  const coord::Stream stream = device.create_stream();
  coord::EventPool pool(device);
  std::vector<coord::EventRef> events(512);
  pool.acquire(coord::EventClass::kNoTiming, events);
  std::vector<double> record;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = thread_nanoseconds();
    for (std::size_t i = 0; i < 256; ++i) stream.record(events[(256 * round + i) % 512]);
    record.push_back((thread_nanoseconds() - begin) / 256);
    stream.synchronize();
  }
  bench::rival("bare_record_of_the_device", bench::median(record), "ns");
  bench::rival("bare_capture_status_of_the_device",
               per_call(bench::scaled(20'000), [&] { (void)stream.capture_status(); }), "ns");
  pool.release(events);
  bench::budget("elision_check", (own.four_dependencies - own.no_dependency) / 4, "ns", 10,
                bench::Better::kLess);
}

/// A section of 1000 operations on two streams, launched as a graph; on a GPU this includes the
/// driver's time for the launch.
void measure_repeated(const coord::Device& device) {
  const bench::OnQuietProcessor here;
  const coord::Stream stream = device.create_stream(), other = device.create_stream();
  coord::Coordinator coordinator(device, {.polled = true});
  coord::Repeated section(coordinator, stream, "thousand operations");
  const auto work = [](coord::StreamRef on) { on.launch({}); };
  const auto run = [&] {
    coordinator.wait(section.run({}, [&](coord::Section& body) {
      for (int i = 0; i < 1000; ++i) body.submit({.stream = i % 2 == 0 ? stream : other}, work);
    }));
  };
  for (int i = 0; i < 6; ++i) run();
  std::vector<double> launches;
  for (std::size_t i = 0; i < bench::scaled(1000) && section.promoted(); ++i) {
    const double begin = thread_nanoseconds();
    const auto launched = section.run({}, [](coord::Section&) {});
    launches.push_back((thread_nanoseconds() - begin) / 1000);
    coordinator.wait(launched);
  }
  if (launches.empty()) {
    std::printf("the section was not promoted\n");
    return;
  }
  bench::budget("graph_launch_1000_us", bench::median(launches), "us", 5, bench::Better::kLess);
  bench::rival("submitted_one_by_one",
               static_cast<double>(section.metrics().submission_time.count()) / 1000, "us");
}

/// The usual solutions: the next stream in turn, busy or not; or the first idle one by the driver.
void measure_stream_pool(const coord::Device& device) {
  const bench::OnQuietProcessor here;
  const coord::Device free = free_device();
  const std::size_t many = bench::scaled(1'000'000);
  for (const bool some_idle : {true, false}) {
    coord::StreamPool pool(free, {.size = 8, .time_one_in = 0});
    std::vector<coord::StreamLease> held;  // all but the last stream, or all of them
    for (int i = 0; i < (some_idle ? 7 : 8); ++i) held.push_back(pool.lease());
    const double pick = per_call(many, [&] { pool.lease().drop(); });
    if (some_idle) {
      bench::budget("stream_pick_ns", pick, "ns", 20, bench::Better::kLess);
    } else {
      bench::rival("pick_with_all_8_busy", pick, "ns");
    }
    for (coord::StreamLease& lease : held) lease.drop();
  }
  coord::StreamPool pool(free, {.size = 8, .time_one_in = 0});
  bench::rival("pick_and_end_without_the_drivers_write",
               per_call(many, [&] { pool.lease().end(); }), "ns");
  std::vector<coord::Stream> streams(8);
  for (coord::Stream& stream : streams) stream = device.create_stream();
  bench::rival("query_of_eight_streams_of_the_device",
               per_call(bench::scaled(20'000),
                        [&] {
                          for (const coord::Stream& stream : streams) (void)stream.query();
                        }),
               "ns");
}

/// The usual solution: a lock, a list for each stream and size, and an event behind each free.
class LockedMemory {
 public:
  explicit LockedMemory(const coord::Device& device) : device_(device), events_(device) {}
  void* allocate(coord::StreamRef stream, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    std::vector<Freed>& free = free_[{stream.id().value, bytes}];
    if (free.empty()) {
      all_.push_back(device_.allocate<char>(bytes));
      free.push_back({all_.back().data(), events_.acquire()});
    }
    const Freed taken = free.back();
    free.pop_back();
    events_.release(taken.event);
    return taken.address;
  }
  void free(coord::StreamRef stream, void* address, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const coord::EventRef event = events_.acquire();
    stream.record(event);
    free_[{stream.id().value, bytes}].push_back({address, event});
  }

 private:
  struct Freed {
    void* address;
    coord::EventRef event;
  };
  coord::Device device_;
  coord::EventPool events_;
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::size_t>, std::vector<Freed>> free_;
  std::vector<coord::DeviceBuffer<char>> all_;
};

/// Allocating and freeing, in one stream and in the turn of two that are ordered.
void measure_allocator(const coord::Device& device) {
  const bench::OnQuietProcessor here;
  constexpr std::size_t kBytes = 100'000;
  const std::size_t many = bench::scaled(1'000'000), few = bench::scaled(2'000);
  const coord::Device free = free_device();
  const coord::Stream stream = free.create_stream(), other = free.create_stream();
  coord::Coordinator coordinator(free, {.polled = true});
  coord::StreamOrderedAllocator memory(coordinator);
  const auto pair = [&] { memory.free(stream, memory.allocate(stream, kBytes)); };
  std::vector<void*> taken(1000);
  std::vector<double> hits;
  for (int round = 0; round < kRounds; ++round) {
    double spent = 0;
    const std::size_t batches = bench::scaled(1000);
    for (std::size_t batch = 0; batch < batches; ++batch) {
      if (batch == 0) {  // this many exist
        for (void*& address : taken) address = memory.allocate(stream, 1024);
        for (void* address : taken) memory.free(stream, address);
      }
      const double begin = thread_nanoseconds();
      for (void*& address : taken) address = memory.allocate(stream, 1024);
      spent += thread_nanoseconds() - begin;
      for (void* address : taken) memory.free(stream, address);
    }
    hits.push_back(spent / static_cast<double>(batches * taken.size()));
  }
  bench::budget("allocator_hit_ns", bench::median(hits), "ns", 30, bench::Better::kLess);
  bench::rival("allocate_and_free_of_one_stream", per_call(many, pair), "ns");
  memory.free(stream, memory.allocate(stream, kBytes));
  coordinator.wait(coordinator.submit({.stream = stream}, [](coord::StreamRef) {}));
  bool odd = false;
  bench::rival("allocate_and_free_in_turn_of_two_streams",
               per_call(many,
                        [&] {
                          odd = !odd;
                          const coord::Stream& on = odd ? other : stream;
                          memory.free(on, memory.allocate(on, kBytes));
                        }),
               "ns");
  LockedMemory locked(free);
  bench::rival(
      "mutex_lists_and_events_without_the_drivers_record",
      per_call(many, [&] { locked.free(stream, locked.allocate(stream, kBytes), kBytes); }), "ns");
  const coord::Stream real = device.create_stream();
  LockedMemory real_locked(device);
  bench::rival(
      "mutex_lists_and_events_of_the_device",
      per_call(few, [&] { real_locked.free(real, real_locked.allocate(real, kBytes), kBytes); }),
      "ns");
  bench::rival("allocate_async_and_free_async_of_the_device",
               per_call(few, [&] { real.free_async(real.allocate_async(kBytes)); }), "ns");
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
  measure_repeated(device.simulated() ? free_device() : device);
  measure_stream_pool(device);
  measure_allocator(device);
  measure_timeline();
}
