// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Random programs on a simulated device that logs why each operation did not start earlier: the
// truth that causes_check compares with the analysis of a recording.
//
//   causes COUNT FIRST TRUTH
//
// Writes to the file TRUTH a line per operation of the device, in order of the ends:
//   CORRELATION STREAM IS_WORK IS_MEMORY_WAIT CALLED REACHED BEGIN END [EVENT BY UNTIL]...
#include <coord/coord.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kBytes = 1 << 20, kEvents = 5, kSteps = 40;

struct Objects {
  coord::Device device;
  std::vector<coord::Stream> own{};
  std::vector<coord::StreamRef> streams{};  // the last one is the legacy stream
  std::vector<coord::Event> events{};
  coord::HostBuffer<std::uint64_t> flag;
  coord::HostBuffer<std::byte> host;
  coord::DeviceBuffer<std::byte> buffer;
  std::uint64_t signals = 0;

  explicit Objects(coord::Device opened)
      : device(std::move(opened)),
        flag(device.allocate_host<std::uint64_t>(1)),
        host(device.allocate_host<std::byte>(kBytes)),
        buffer(device.allocate<std::byte>(kBytes)) {
    *flag.data() = 0;
    for (const bool non_blocking : {true, true, true, false, false})
      own.push_back(device.create_stream({.non_blocking = non_blocking}));
    for (const coord::Stream& stream : own) streams.push_back(stream);
    streams.push_back(device.legacy_stream());
    for (std::size_t i = 0; i < kEvents; ++i) {
      events.push_back(device.create_event(
          {.event_class = i == 0 ? coord::EventClass::kTiming : coord::EventClass::kNoTiming}));
    }
  }
};

void run(Objects& objects, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto micros = [&](std::size_t from, std::size_t to) {
    return std::chrono::nanoseconds((from + pick(to - from)) * 1000 + pick(1000));
  };
  const coord::Device& device = objects.device;
  const std::size_t used = 2 + pick(4);  // streams
  const bool legacy = pick(3) == 0, slow_host = pick(2) == 0;
  const auto stream = [&]() -> coord::StreamRef {
    return objects.streams[legacy && pick(6) == 0 ? objects.streams.size() - 1 : pick(used)];
  };
  const auto step = [&] {
    switch (pick(16)) {
      case 0:
        stream().copy_to_device(objects.buffer.data(), objects.host.data(), 1 + pick(kBytes));
        break;
      case 1:
        stream().copy_to_host(objects.host.data(), objects.buffer.data(), 1 + pick(kBytes));
        break;
      case 2:
        stream().memset(objects.buffer.data(), 0, 1 + pick(kBytes));
        break;
      case 3:
      case 4:
      case 5:
        stream().record(objects.events[pick(kEvents)]);
        break;
      case 6:
      case 7:
      case 8:
        stream().wait(objects.events[pick(kEvents)]);
        break;
      case 9:
        if (pick(4) == 0) stream().host_function([] {});
        break;
      case 10:
        switch (pick(5)) {
          case 0:
            stream().synchronize();
            break;
          case 1:
            objects.events[pick(kEvents)].synchronize();
            break;
          case 2:
            device.synchronize();
            break;
          case 3:
            (void)objects.events[pick(kEvents)].query();
            break;
          default:
            (void)stream().query();
        }
        break;
      case 11:
        if (slow_host) coord::sim::host_work(device, micros(1, 80));
        break;
      case 12:
        // Both streams are non-blocking, so the write is never behind the wait.
        if (pick(3) == 0 && used >= 2) {
          const std::size_t writer = pick(2);
          objects.streams[1 - writer].wait_value(objects.flag.data(), ++objects.signals);
          objects.streams[writer].write_value(objects.flag.data(), objects.signals);
        }
        break;
      default:
        stream().launch({.name = "k",
                         .duration = micros(1, 60),
                         .blocks = pick(4) == 0 ? 64u : 1u,
                         .blocks_per_sm = pick(3) == 0 ? 4u : 0u});
    }
  };
  for (std::size_t i = 0; i < kSteps; ++i) {
    if (pick(20) == 0) {  // another thread issues for a while
      // Threads have their own virtual clocks; what starts or joins one passes its time on.
      const auto catch_up = [&](coord::TimeNs to) {
        if (device.now() < to) coord::sim::host_work(device, to - device.now());
      };
      const coord::TimeNs forked = device.now();
      coord::TimeNs joined = forked;
      std::thread([&] {
        catch_up(forked);
        for (int j = 0; j < 4; ++j) step();
        joined = device.now();
      }).join();
      catch_up(joined);
    } else {
      step();
    }
  }
  device.synchronize();
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t count = 0, first = 0;
  const auto number = [&](int index, std::uint32_t& value) {
    const char* end = argv[index] + std::strlen(argv[index]);
    return std::from_chars(argv[index], end, value).ptr == end;
  };
  if (argc != 4 || !number(1, count) || !number(2, first)) return 2;
  std::FILE* truth = std::fopen(argv[3], "w");
  if (truth == nullptr) return 2;
  // Devices differ in where work has to queue.
  coord::sim::Config config;
  config.max_connections = first % 3 == 0 ? 2 : 8;
  config.copy_engines_per_direction = first % 2 == 0 ? 1 : 2;
  config.sm_count = first % 5 == 0 ? 132 : 4;
  config.on_ended = [truth](const coord::sim::OpHistory& op) {
    std::fprintf(truth, "%u %u %d %d %lld %lld %lld %lld", op.correlation_id, op.stream, op.is_work,
                 op.kind == std::string_view("memory wait"), static_cast<long long>(op.called_ns),
                 static_cast<long long>(op.reached_ns), static_cast<long long>(op.begin_ns),
                 static_cast<long long>(op.end_ns));
    for (const auto& hold : op.holds)
      std::fprintf(truth, " %d %u %lld", hold.event, hold.by,
                   static_cast<long long>(hold.until_ns));
    std::fprintf(truth, "\n");
  };
  Objects objects(coord::Device::open(config));
  for (std::uint32_t seed = first; seed < first + count; ++seed) run(objects, seed);
  return std::fclose(truth) == 0 ? 0 : 2;
}
