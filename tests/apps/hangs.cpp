// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that hang, each for one reason, and their fixed twins.
//
//   hangs NAME [--repaired] [--device sim|cuda]     one line of JSON if it came to its end
//   hangs --list
//
// On the simulated device a hang ends in an error and exit code 3; on a GPU the program must be
// killed (tests/gpu/hangs.py).

#include <coord/coord.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

namespace {

using coord::Device;
using coord::Event;
using coord::Stream;
using namespace std::chrono_literals;

constexpr int kHung = 3, kNoDevice = 77;

struct Run {
  const Device& device;
  bool repaired;
};

using Flags = coord::HostBuffer<std::uint64_t>;

Flags cleared_flags(const Device& device) {
  Flags flags = device.allocate_host<std::uint64_t>(2);
  flags[0] = flags[1] = 0;
  return flags;
}

// Each stream waits for the write that the other one has queued behind its own wait.
void crossed_signals(const Run& run) {
  const Stream left = run.device.create_stream({.name = "left"}),
               right = run.device.create_stream({.name = "right"});
  const Flags flags = cleared_flags(run.device);
  if (run.repaired) left.write_value(&flags[0], 1);
  left.wait_value(&flags[1], 1);
  left.launch({.name = "left", .duration = 10us});
  if (!run.repaired) left.write_value(&flags[0], 1);
  right.wait_value(&flags[0], 1);
  right.launch({.name = "right", .duration = 10us});
  right.write_value(&flags[1], 1);
  left.synchronize();
}

// The write waits, through an event, for the stream that waits for the write.
void signal_behind_event(const Run& run) {
  const Stream consumer = run.device.create_stream({.name = "consumer"}),
               producer = run.device.create_stream({.name = "producer"});
  const Event done = run.device.create_event({.name = "done"});
  const Flags flags = cleared_flags(run.device);
  if (run.repaired) producer.write_value(&flags[0], 1);
  consumer.wait_value(&flags[0], 1);
  consumer.launch({.name = "consume", .duration = 10us});
  consumer.record(done);
  producer.wait(done);
  if (!run.repaired) producer.write_value(&flags[0], 1);
  run.device.synchronize();
}

// A write that nobody issues.
void forgotten_signal(const Run& run) {
  const Stream stream = run.device.create_stream({.name = "waits"}),
               other = run.device.create_stream({.name = "signals"});
  const Flags flags = cleared_flags(run.device);
  stream.wait_value(&flags[0], 1);
  stream.launch({.name = "after", .duration = 10us});
  if (run.repaired) other.write_value(&flags[0], 1);
  stream.synchronize();
}

// A kernel that spins until the host stores a flag, and a host that waits for the kernel first.
void endless_kernel(const Run& run) {
  const Stream stream = run.device.create_stream({.name = "math"});
  const Flags flags = cleared_flags(run.device);
  flags[1] = 1;
  for (int i = 0; i < 5; ++i)
    stream.launch({.name = "spin", .duration = 10us, .spin_address = &flags[1], .spin_value = 1});
  stream.synchronize();
  if (run.repaired) std::atomic_ref<std::uint64_t>(flags[0]).store(1);
  stream.launch({.name = "spin", .duration = 10us, .spin_address = &flags[0], .spin_value = 1});
  stream.launch({.name = "behind", .duration = 10us});
  stream.synchronize();
}

// A host function that waits for what the host does after the synchronization.
void blocked_host_function(const Run& run) {
  const Stream stream = run.device.create_stream({.name = "notify"});
  static std::atomic<bool> go;
  go = run.repaired;
  stream.host_function([] {
    while (!go) std::this_thread::sleep_for(1ms);
  });
  stream.launch({.name = "behind", .duration = 10us});
  stream.synchronize();
  go = true;
}

// Memory is freed, which waits for the device, before the write that the device waits for.
void free_before_signal(const Run& run) {
  const Stream stream = run.device.create_stream({.name = "waits"}),
               other = run.device.create_stream({.name = "signals"});
  const Flags flags = cleared_flags(run.device);
  {
    const coord::DeviceBuffer<float> scratch = run.device.allocate<float>(1024);
    stream.wait_value(&flags[0], 1);
    stream.launch({.name = "after", .duration = 10us});
    if (run.repaired) other.write_value(&flags[0], 1);
  }
  if (!run.repaired) other.write_value(&flags[0], 1);
  run.device.synchronize();
}

struct Hang {
  const char* name;
  const char* detector;
  bool simulated;  // a host function that blocks stops the whole simulated device
  void (*run)(const Run&);
};

constexpr Hang kHangs[] = {
    {"crossed_signals", "deadlock-cycle", true, crossed_signals},
    {"signal_behind_event", "deadlock-cycle", true, signal_behind_event},
    {"forgotten_signal", "lost-signal", true, forgotten_signal},
    {"endless_kernel", "stuck-kernel", true, endless_kernel},
    {"blocked_host_function", "host-func-hazard", false, blocked_host_function},
    {"free_before_signal", "implicit-sync-under-spin", true, free_before_signal},
};

}  // namespace

int main(int argc, char** argv) {
  const Hang* hang = nullptr;
  std::string device_name = "auto";
  bool repaired = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--list") {
      for (const Hang& each : kHangs)
        std::printf("{\"hang\":\"%s\",\"detector\":\"%s\",\"simulated\":%s}\n", each.name,
                    each.detector, each.simulated ? "true" : "false");
      return 0;
    }
    if (argument == "--repaired") {
      repaired = true;
    } else if (argument == "--device" && i + 1 < argc) {
      device_name = argv[++i];
    } else {
      for (const Hang& each : kHangs) {
        if (argument == each.name) hang = &each;
      }
    }
  }
  if (!hang) {
    std::fprintf(stderr, "usage: hangs NAME [--repaired] [--device sim|cuda] | hangs --list\n");
    return 2;
  }
  try {
    const Device device = Device::open(device_name);
    hang->run({device, repaired});
    std::printf("{\"hang\":\"%s\",\"repaired\":%s}\n", hang->name, repaired ? "true" : "false");
  } catch (const coord::Error& error) {
    std::fprintf(stderr, "hangs: %s\n", error.what());
    return error.kind() == coord::ErrorKind::kNoDevice   ? kNoDevice
           : error.kind() == coord::ErrorKind::kDeadlock ? kHung
                                                         : 1;
  }
  return 0;
}
