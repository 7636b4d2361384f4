// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that are slower than they need to be, each for one reason, and their fixed twins.
//
//   faults NAME [--repaired] [--device sim|cuda] [--iterations N]     one line of JSON
//   faults --list
//
// A profiler's estimate of the gain from fixing a fault is compared with the difference of the two:
// simulated in tests/apps/tests.cmake, on a GPU in tests/gpu/faults.py.

#include <coord/coord.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

namespace {

using coord::Device;
using coord::Event;
using coord::EventClass;
using coord::Stream;
using coord::StreamPriority;
using namespace std::chrono_literals;

constexpr int kNoDevice = 77;
constexpr unsigned kWholeDevice = 132 * 16;  // blocks of an H200

struct Run {
  const Device& device;
  bool repaired;
  int iterations;
  coord::Nanoseconds& took;
};

// From here to the end of its block; made last, so that neither set-up nor destructors count.
class Timer {
 public:
  explicit Timer(const Run& run) : run_(run), begin_(run.device.now()) {}
  ~Timer() { run_.took = run_.device.now() - begin_; }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  const Run& run_;
  const coord::TimeNs begin_;
};

void busy(coord::StreamRef stream, coord::Nanoseconds duration, unsigned blocks = 8) {
  stream.launch({.name = "busy", .duration = duration, .blocks = blocks});
}

std::vector<Stream> streams_of(const Run& run, int count) {
  std::vector<Stream> streams;
  for (int i = 0; i < count; ++i) streams.push_back(run.device.create_stream());
  return streams;
}

// Short kernels, so that the host sets the pace, and it waits ten times for one record.
void redundant_waits(const Run& run) {
  const Stream first = run.device.create_stream(), second = run.device.create_stream();
  const Event ready = run.device.create_event();
  const Timer timer(run);
  for (int i = 0; i < run.iterations; ++i) {
    busy(first, 2us);
    first.record(ready);
    for (int k = 0; k < (run.repaired ? 1 : 10); ++k) second.wait(ready);
    busy(second, 2us);
  }
  run.device.synchronize();
}

// The host waits for the device where the second stream could.
void device_syncs(const Run& run) {
  const Stream first = run.device.create_stream(), second = run.device.create_stream();
  const Event there = run.device.create_event(), back = run.device.create_event();
  const Timer timer(run);
  for (int i = 0; i < run.iterations; ++i) {
    busy(first, 20us);
    if (run.repaired) {
      first.record(there);
      second.wait(there);
    } else {
      run.device.synchronize();
    }
    busy(second, 20us);
    if (run.repaired) {
      second.record(back);
      first.wait(back);
    } else {
      run.device.synchronize();
    }
  }
  run.device.synchronize();
}

// A stream runs its work in order without any waits.
void stream_syncs(const Run& run) {
  const Stream stream = run.device.create_stream();
  const Timer timer(run);
  for (int i = 0; i < run.iterations; ++i) {
    for (int k = 0; k < 3; ++k) busy(stream, 10us);
    if (!run.repaired) stream.synchronize();
  }
  run.device.synchronize();
}

// The host reads one small copy and also waits for a long kernel.
void broad_read(const Run& run) {
  const Stream copies = run.device.create_stream(), math = run.device.create_stream();
  const auto from = run.device.allocate<float>(4096);
  auto to = run.device.allocate_host<float>(4096);
  const Event copied = run.device.create_event();
  const Timer timer(run);
  for (int i = 0; i < run.iterations; ++i) {
    copies.copy_to_host(to, from);
    if (run.repaired) copies.record(copied);
    busy(math, 60us);
    if (run.repaired) {
      copied.synchronize();
    } else {
      run.device.synchronize();
    }
  }
  run.device.synchronize();
}

// Two streams and a memset unrelated to both.
void legacy_barrier(const Run& run) {
  const Stream first = run.device.create_stream({.non_blocking = false}),
               second = run.device.create_stream({.non_blocking = false}),
               own = run.device.create_stream();
  const auto buffer = run.device.allocate<float>(4096);
  const Timer timer(run);
  for (int i = 0; i < run.iterations; ++i) {
    busy(first, 40us);
    (run.repaired ? coord::StreamRef(own) : run.device.legacy_stream())
        .memset(buffer.data(), 0, buffer.bytes());
    busy(second, 40us);
  }
  run.device.synchronize();
}

// Copies beside kernels that are shorter than what the driver needs for pageable memory, and longer
// than the copies themselves.
void pageable(const Run& run, bool upload) {
  constexpr std::size_t kElements = 512 * 1024;
  const Stream copies = run.device.create_stream(), math = run.device.create_stream();
  const auto buffer = run.device.allocate<float>(kElements);
  auto locked = run.device.allocate_host<float>(kElements);
  std::vector<float> unlocked(kElements);
  const std::span<float> memory = run.repaired ? std::span<float>(locked) : std::span(unlocked);
  copies.copy_to_device(buffer, locked);  // shows how fast the bus is
  copies.copy_to_host(locked, buffer);
  run.device.synchronize();
  const Timer timer(run);
  for (int i = 0; i < run.iterations; ++i) {
    if (upload) {
      copies.copy_to_device(buffer, memory);
    } else {
      copies.copy_to_host(memory, buffer);
    }
    busy(math, 60us);
  }
  run.device.synchronize();
}
void pageable_uploads(const Run& run) { pageable(run, true); }
void pageable_downloads(const Run& run) { pageable(run, false); }

// The work that urgent work needs is queued behind kernels that fill the device.
void low_priority_blocker(const Run& run) {
  const Stream urgent = run.device.create_stream({.priority = StreamPriority::kHigh}),
               blocker = run.device.create_stream(
                   {.priority = run.repaired ? StreamPriority::kHigh : StreamPriority::kNormal});
  const std::vector<Stream> hogs = streams_of(run, 3);
  const Event needed = run.device.create_event();
  const Timer timer(run);
  for (int i = 0; i < run.iterations; ++i) {
    for (const Stream& hog : hogs) busy(hog, 100us, kWholeDevice);
    busy(blocker, 10us);
    blocker.record(needed);
    urgent.wait(needed);
    busy(urgent, 300us);
    run.device.synchronize();
  }
}

// Twelve streams wait with work behind; four that could run are issued after them, or before.
void crowded_queues(const Run& run) {
  const Stream gate = run.device.create_stream();
  const std::vector<Stream> waiting = streams_of(run, 12), ready = streams_of(run, 4);
  const Event open = run.device.create_event();
  const Timer timer(run);
  for (int i = 0; i < run.iterations; ++i) {
    const auto issue_ready = [&] {
      for (const Stream& stream : ready) busy(stream, 200us);
    };
    busy(gate, 300us);
    gate.record(open);
    if (run.repaired) issue_ready();
    for (const Stream& stream : waiting) {
      stream.wait(open);
      busy(stream, 5us);
    }
    if (!run.repaired) issue_ready();
    run.device.synchronize();
  }
}

// Short kernels of many streams, with a time stamp after each.
void timed_events(const Run& run) {
  const std::vector<Stream> streams = streams_of(run, 8);
  std::vector<Event> events;
  for (std::size_t i = 0; i < streams.size(); ++i)
    events.push_back(run.device.create_event(
        {.event_class = run.repaired ? EventClass::kNoTiming : EventClass::kTiming}));
  const Timer timer(run);
  for (int i = 0; i < run.iterations; ++i) {
    for (std::size_t k = 0; k < streams.size(); ++k) {
      busy(streams[k], 3us);
      streams[k].record(events[k]);
      streams[(k + 1) % streams.size()].wait(events[k]);
    }
  }
  run.device.synchronize();
}

// Everything is known to be complete after the first of four synchronizations.
void repeated_syncs(const Run& run) {
  const std::vector<Stream> streams = streams_of(run, 4);
  const Timer timer(run);
  for (int i = 0; i < run.iterations; ++i) {
    busy(streams[0], 5us, 1);
    run.device.synchronize();
    if (run.repaired) continue;
    for (int k = 0; k < 4; ++k) {
      for (const Stream& stream : streams) stream.synchronize();
    }
  }
}

struct Fault {
  const char* name;
  const char* detector;
  void (*run)(const Run&);
};
constexpr Fault kFaults[] = {
    {"redundant_waits", "redundant-wait", redundant_waits},
    {"repeated_syncs", "redundant-host-sync", repeated_syncs},
    {"device_syncs", "over-broad-sync", device_syncs},
    {"stream_syncs", "over-broad-sync", stream_syncs},
    {"broad_read", "over-broad-sync", broad_read},
    {"legacy_barrier", "legacy-stream-barrier", legacy_barrier},
    {"pageable_uploads", "pageable-copy", pageable_uploads},
    {"pageable_downloads", "pageable-copy", pageable_downloads},
    {"low_priority_blocker", "priority-inversion", low_priority_blocker},
    {"timed_events", "timed-event-cost", timed_events},
    {"crowded_queues", "connections-exhausted", crowded_queues},
};

int usage() {
  std::fprintf(
      stderr,
      "usage: faults NAME [--repaired] [--device sim|cuda] [--iterations N] | faults --list\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const Fault* fault = nullptr;
  std::string device_name = "auto";
  bool repaired = false;
  int iterations = 200;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--list") {
      for (const Fault& each : kFaults)
        std::printf("{\"fault\":\"%s\",\"detector\":\"%s\"}\n", each.name, each.detector);
      return 0;
    }
    if (argument == "--repaired") {
      repaired = true;
    } else if (argument == "--device" && i + 1 < argc) {
      device_name = argv[++i];
    } else if (argument == "--iterations" && i + 1 < argc) {
      iterations = std::atoi(argv[++i]);
    } else {
      for (const Fault& each : kFaults) {
        if (argument == each.name) fault = &each;
      }
      if (!fault) return usage();
    }
  }
  if (!fault || iterations < 1) return usage();
  try {
    const Device device = Device::open(device_name);
    coord::Nanoseconds took{};
    const Run run{device, repaired, iterations, took};
    // Loads modules and wakes the GPU up; fixed, so that no finding is about it.
    if (!device.simulated()) fault->run({device, true, 3, took});
    fault->run(run);
    std::printf("{\"fault\":\"%s\",\"repaired\":%s,\"ns\":%lld}\n", fault->name,
                repaired ? "true" : "false", static_cast<long long>(took.count()));
  } catch (const coord::Error& error) {
    std::fprintf(stderr, "faults: %s\n", error.what());
    return error.kind() == coord::ErrorKind::kNoDevice ? kNoDevice : 1;
  }
  return 0;
}
