// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How well the simulated device predicts a GPU: makespans of the same programs on both.
//
//   fidelity_bench [--device auto|cuda|sim]
//
// First the GPU is measured in isolation: host cost of calls, single kernels of each shape, chains
// of copies of two sizes and in both directions. The simulated device gets those figures and
// nothing else, and each program runs on it once; then it runs on the GPU. Without a GPU only
// predictions are printed, with the figures of an H200.

#include <coord/coord.h>
#include <coord/sim.h>

#include <chrono>
#include <cmath>
#include <compare>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/budget.h"

namespace {

using namespace std::chrono_literals;
using coord::Device;
using coord::Event;
using coord::Nanoseconds;
using coord::Stream;
namespace bench = streamscope::bench;

constexpr std::size_t kChunk = 2 << 20;
constexpr int kRepetitions = 9;

/// A kernel by its shape; the time of each of its blocks is known on the GPU only by measuring.
struct Shape {
  Nanoseconds duration;
  unsigned waves = 0;  // how many times its blocks fill all multiprocessors; 0: a single block
  friend auto operator<=>(const Shape&, const Shape&) = default;
};
constexpr Shape kSmall{20us}, kMiddle{50us}, kLarge{100us}, kUrgent{50us, 1}, kBroad{50us, 4};

/// Launches kernels: on a GPU as they are, on a simulated one with their measured duration.
class Kernels {
 public:
  void measured(Shape shape, Nanoseconds duration) { durations_[shape] = duration; }
  void launch(const Device& device, coord::StreamRef stream, Shape shape) const {
    const auto found = durations_.find(shape);
    const bool known = device.simulated() && found != durations_.end();
    stream.launch({.duration = known ? found->second : shape.duration,
                   .blocks = blocks(device, shape),
                   .blocks_per_sm = shape.waves == 0 ? 0u : 1u});
  }
  static unsigned blocks(const Device& device, Shape shape) {
    return shape.waves == 0 ? 1 : shape.waves * device.properties().sm_count;
  }

 private:
  std::map<Shape, Nanoseconds> durations_;
};

struct Program {
  std::string name;
  int overlap_streams = 0;  // of the workload that is measured with several numbers of streams
  /// Runs once; returns how long it took, set-up excluded.
  std::function<Nanoseconds(const Device&, const Kernels&)> run;
};

std::vector<Stream> make_streams(const Device& device, int count) {
  std::vector<Stream> streams;
  for (int i = 0; i < count; ++i) streams.push_back(device.create_stream());
  return streams;
}

std::vector<Event> make_events(const Device& device, std::size_t count) {
  std::vector<Event> events;
  for (std::size_t i = 0; i < count; ++i) events.push_back(device.create_event());
  return events;
}

/// Chunks that are copied up, worked on and copied down, dealt out to `count` streams.
Nanoseconds overlap(const Device& device, const Kernels& kernels, int count) {
  constexpr std::size_t kChunks = 32, kBuffers = 16;
  const std::vector<Stream> streams = make_streams(device, count);
  const auto host = device.allocate_host<std::byte>(kBuffers * kChunk);
  const auto memory = device.allocate<std::byte>(kBuffers * kChunk);
  const coord::TimeNs begin = device.now();
  for (std::size_t i = 0; i < kChunks; ++i) {
    const Stream& stream = streams[i % streams.size()];
    const std::size_t at = i % kBuffers * kChunk;
    stream.copy_to_device(memory.data() + at, host.data() + at, kChunk);
    kernels.launch(device, stream, kLarge);
    stream.copy_to_host(host.data() + at, memory.data() + at, kChunk);
  }
  device.synchronize();
  return device.now() - begin;
}

Nanoseconds fork_join(const Device& device, const Kernels& kernels) {
  const Stream main = device.create_stream();
  const std::vector<Stream> sides = make_streams(device, 4);
  const Event fork = device.create_event();
  const std::vector<Event> joins = make_events(device, sides.size());
  const coord::TimeNs begin = device.now();
  for (int round = 0; round < 20; ++round) {
    kernels.launch(device, main, kSmall);
    main.record(fork);
    for (std::size_t i = 0; i < sides.size(); ++i) {
      sides[i].wait(fork);
      kernels.launch(device, sides[i], i % 2 == 0 ? kMiddle : kLarge);
      sides[i].record(joins[i]);
      main.wait(joins[i]);
    }
  }
  device.synchronize();
  return device.now() - begin;
}

/// Until the urgent stream is done, which shares the device with one of large grids.
Nanoseconds priority_mix(const Device& device, const Kernels& kernels) {
  const Stream low = device.create_stream();
  const Stream high = device.create_stream({.priority = coord::StreamPriority::kHigh});
  const Event urgent = device.create_event();
  const coord::TimeNs begin = device.now();
  for (int i = 0; i < 6; ++i) {
    kernels.launch(device, low, kBroad);
    kernels.launch(device, high, kUrgent);
  }
  high.record(urgent);
  urgent.synchronize();
  const Nanoseconds took = device.now() - begin;
  device.synchronize();
  return took;
}

/// More streams than hardware queues, filled one after the other or all at the same time.
Nanoseconds many_streams(const Device& device, const Kernels& kernels, bool one_by_one) {
  constexpr std::size_t kStreams = 24, kDepth = 6;
  const std::vector<Stream> streams = make_streams(device, kStreams);
  const coord::TimeNs begin = device.now();
  for (std::size_t i = 0; i < kStreams * kDepth; ++i)
    kernels.launch(device, streams[one_by_one ? i / kDepth : i % kStreams], kLarge);
  device.synchronize();
  return device.now() - begin;
}

std::vector<Program> programs() {
  std::vector<Program> all;
  for (const int streams : {1, 2, 3, 4, 8, 16}) {
    all.push_back({"overlap_" + std::to_string(streams) + "_streams", streams,
                   [streams](const Device& device, const Kernels& kernels) {
                     return overlap(device, kernels, streams);
                   }});
  }
  all.push_back({"fork_join", 0, fork_join});
  all.push_back({"priority_mix", 0, priority_mix});
  for (const bool one_by_one : {false, true}) {
    all.push_back({one_by_one ? "queue_aliasing_stream_by_stream" : "queue_aliasing_round_robin", 0,
                   [one_by_one](const Device& device, const Kernels& kernels) {
                     return many_streams(device, kernels, one_by_one);
                   }});
  }
  return all;
}

/// The median of several runs after one to warm up, in ns.
double median_ns(const std::function<Nanoseconds()>& run) {
  (void)run();
  std::vector<double> values;
  for (int i = 0; i < kRepetitions; ++i) values.push_back(static_cast<double>(run().count()));
  return bench::median(values);
}

/// Host time of each call of a series that the device keeps up with or buffers.
std::int64_t cost_ns(const Device& device, const std::function<void()>& call) {
  constexpr int kCalls = 200;
  return std::llround(median_ns([&] {
                        const coord::TimeNs begin = device.now();
                        for (int i = 0; i < kCalls; ++i) call();
                        const Nanoseconds took = device.now() - begin;
                        device.synchronize();
                        return took;
                      }) /
                      kCalls);
}

/// Device time that each further operation of a chain in one stream takes.
double step_ns(const Device& device, const Stream& stream, const std::function<void()>& enqueue) {
  constexpr int kShort = 5, kLong = 25;
  const auto chain = [&](int length) {
    return median_ns([&] {
      const coord::TimeNs begin = device.now();
      for (int i = 0; i < length; ++i) enqueue();
      stream.synchronize();
      return device.now() - begin;
    });
  };
  return (chain(kLong) - chain(kShort)) / (kLong - kShort);
}

/// Measures the device alone, nothing beside anything else.
coord::sim::Config calibrate(const Device& device, Kernels& kernels) {
  coord::sim::Config config;
  coord::sim::Calibration& costs = config.calibration;
  const coord::DeviceProperties& properties = device.properties();
  config.sm_count = properties.sm_count;
  config.max_connections = properties.max_connections;
  const Stream stream = device.create_stream();
  const Event event = device.create_event();
  const auto host = device.allocate_host<std::byte>(4 * kChunk);
  const auto memory = device.allocate<std::byte>(4 * kChunk);

  costs.launch_ns = cost_ns(device, [&] { stream.launch({}); });
  costs.record_ns = cost_ns(device, [&] { stream.record(event); });
  costs.wait_ns = cost_ns(device, [&] { stream.wait(event); });
  costs.copy_ns = cost_ns(device, [&] { stream.copy_to_device(memory.data(), host.data(), 4096); });

  // The duration of a kernel is its step in a chain, minus the gap that the simulated device adds.
  for (const Shape shape : {kSmall, kMiddle, kLarge, kUrgent, kBroad}) {
    const double step = step_ns(device, stream, [&] { Kernels().launch(device, stream, shape); });
    const double blocks =
        (step - static_cast<double>(costs.successor_gap_ns)) / std::max(shape.waves, 1u);
    kernels.measured(shape, Nanoseconds(std::llround(blocks)));
  }
  // One kernel alone: the rest is the way to the device and back.
  const double alone = median_ns([&] {
    const coord::TimeNs begin = device.now();
    Kernels().launch(device, stream, kSmall);
    stream.synchronize();
    return device.now() - begin;
  });
  const double kernel = step_ns(device, stream, [&] { Kernels().launch(device, stream, kSmall); }) -
                        static_cast<double>(costs.successor_gap_ns);
  costs.launch_latency_ns = std::max<std::int64_t>(
      std::llround(alone - kernel) - costs.wake_spinning_ns, costs.launch_ns);

  const auto copies = [&](bool up, std::size_t bytes) {
    return step_ns(device, stream, [&] {
      if (up) {
        stream.copy_to_device(memory.data(), host.data(), bytes);
      } else {
        stream.copy_to_host(host.data(), memory.data(), bytes);
      }
    });
  };
  double fixed_ns = 0;
  for (const bool up : {true, false}) {
    const double small = copies(up, kChunk), large = copies(up, 4 * kChunk);
    const double bytes_per_ns = static_cast<double>(3 * kChunk) / (large - small);
    (up ? costs.host_to_device_bytes_per_us : costs.device_to_host_bytes_per_us) =
        std::llround(bytes_per_ns * 1000);
    fixed_ns += (small - static_cast<double>(kChunk) / bytes_per_ns) / 2;
  }
  costs.copy_fixed_ns = std::max<std::int64_t>(std::llround(fixed_ns) - costs.successor_gap_ns, 0);
  const Stream back = device.create_stream();
  const auto returned = device.allocate_host<std::byte>(4 * kChunk);
  const double both_ways = step_ns(device, stream, [&] {
    stream.copy_to_device(memory.data(), host.data(), 4 * kChunk);
    back.copy_to_host(returned.data(), memory.data(), 4 * kChunk);
  });
  device.synchronize();
  costs.both_ways_percent =
      std::min<std::int64_t>(std::llround(100 * copies(true, 4 * kChunk) / both_ways), 100);

  std::printf(
      "calibrated on %s: launch %lld, record %lld, wait %lld, copy %lld ns of host time;\n"
      "  launch latency %lld ns; copies up %.1f and down %.1f GB/s, %lld %% of it both ways at "
      "once, "
      "%lld ns fixed\n",
      properties.name.c_str(), static_cast<long long>(costs.launch_ns),
      static_cast<long long>(costs.record_ns), static_cast<long long>(costs.wait_ns),
      static_cast<long long>(costs.copy_ns), static_cast<long long>(costs.launch_latency_ns),
      static_cast<double>(costs.host_to_device_bytes_per_us) / 1000,
      static_cast<double>(costs.device_to_host_bytes_per_us) / 1000,
      static_cast<long long>(costs.both_ways_percent), static_cast<long long>(costs.copy_fixed_ns));
  return config;
}

/// The speedup of several streams over one, by their number.
struct Gains {
  std::map<int, double> predicted_ns, measured_ns;

  void print() const {
    std::printf("%-34s %12s %12s\n", "gain over one stream", "predicted", "measured");
    for (const auto& [streams, ns] : predicted_ns) {
      const auto measured = measured_ns.find(streams);
      std::printf("%-3d%-31s %12.2f ", streams, streams == 1 ? " stream" : " streams",
                  predicted_ns.at(1) / ns);
      if (measured == measured_ns.end()) {
        std::printf("%12s\n", "no GPU");
      } else {
        std::printf("%12.2f\n", measured_ns.at(1) / measured->second);
      }
    }
  }
};

int run(const std::string& which) {
  const Device device = Device::open(which);
  Kernels kernels;
  const bool real = !device.simulated();
  const coord::sim::Config config = real ? calibrate(device, kernels) : coord::sim::Config();
  std::printf("%-34s %12s %12s %8s\n", "program", "predicted us", "measured us", "error");
  double worst = 0, predicting_s = 0;
  Gains gains;
  for (const Program& program : programs()) {
    const auto begin = std::chrono::steady_clock::now();
    const auto predicted = static_cast<double>(program.run(Device::open(config), kernels).count());
    predicting_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (program.overlap_streams > 0) gains.predicted_ns[program.overlap_streams] = predicted;
    if (!real) {
      std::printf("%-34s %12.1f %12s %8s\n", program.name.c_str(), predicted / 1000, "no GPU", "");
      continue;
    }
    const double measured = median_ns([&] { return program.run(device, kernels); });
    if (program.overlap_streams > 0) gains.measured_ns[program.overlap_streams] = measured;
    const double percent = 100 * (predicted - measured) / measured;
    worst = std::max(worst, std::abs(percent));
    std::printf("%-34s %12.1f %12.1f %+7.1f%%\n", program.name.c_str(), predicted / 1000,
                measured / 1000, percent);
    std::fflush(stdout);
  }
  gains.print();
  bench::budget("fidelity_predictions_s", predicting_s, "s", 5, bench::Better::kLess);
  if (real) {
    bench::budget("fidelity_worst_error_percent", worst, "percent", 15, bench::Better::kLess);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string device = "auto";
  if (argc == 3 && std::strcmp(argv[1], "--device") == 0) {
    device = argv[2];
  } else if (argc != 1) {
    std::fprintf(stderr, "usage: %s [--device auto|cuda|sim]\n", argv[0]);
    return 2;
  }
  try {
    return run(device);
  } catch (const coord::Error& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
