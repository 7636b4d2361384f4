// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Two streams that wait for each other through memory, which CUDA cannot see: a real deadlock.
//
// "left" waits for a value that "right" would write, behind its own wait for a value that "left"
// would write. The simulator reports this and the program exits with code 3. On a GPU the host
// blocks in synchronize until a second thread stores one of the values after --timeout seconds; the
// exit code is also 3.

#include <atomic>
#include <chrono>
#include <thread>

#include "example.h"

namespace {

using namespace std::chrono_literals;

int run_deadlock(const example::Arguments& arguments) {
  const coord::Device device = coord::Device::open(arguments.device);
  const coord::Stream left = device.create_stream({.name = "left"});
  const coord::Stream right = device.create_stream({.name = "right"});
  const coord::HostBuffer<std::uint64_t> flags = device.allocate_host<std::uint64_t>(2);
  const coord::DeviceBuffer<float> value = device.allocate<float>(1);
  const coord::HostBuffer<float> result = device.allocate_host<float>(1);
  const coord::Event warm = device.create_event({.name = "warm"});
  std::uint64_t* const left_done = &flags[0];
  std::uint64_t* const right_done = &flags[1];
  example::Counts counts;

  const auto add_one = [&](const coord::Stream& stream, const char* name) {
    stream.launch(
        {.name = name, .duration = 30us, .transform = {value.data(), value.data(), 1, 1.0f, 1.0f}});
    ++counts.launches;
  };
  // What works: "right" waits for "left" through an event.
  left.memset(value.data(), 0, value.bytes());
  ++counts.memsets;
  for (int i = 0; i < arguments.iterations; ++i) add_one(left, "warm up");
  left.record(warm);
  right.wait(warm);
  add_one(right, "follow");
  counts.records = counts.waits = 1;

  // What cannot work: each waits for the other's write, which is queued behind the other's wait.
  left.wait_value(right_done, 1);
  add_one(left, "never (left)");
  left.write_value(left_done, 1);
  right.wait_value(left_done, 1);
  add_one(right, "never (right)");
  right.write_value(right_done, 1);

  std::jthread rescue;
  if (!device.simulated()) {
    rescue = std::jthread(
        [&, timeout = std::chrono::seconds(arguments.timeout_s)](const std::stop_token& stop) {
          for (const auto end = std::chrono::steady_clock::now() + timeout;
               std::chrono::steady_clock::now() < end && !stop.stop_requested();) {
            std::this_thread::sleep_for(10ms);
          }
          std::atomic_ref<std::uint64_t>(*left_done)
              .store(1);  // releases "right", whose write releases "left"
        });
  }
  counts.syncs = 1;
  try {
    left.synchronize();
  } catch (const coord::Error& error) {
    if (error.kind() != coord::ErrorKind::kDeadlock) throw;
    std::fprintf(stderr, "%s\n", error.what());
    counts.print();
    return example::kDeadlock;
  }
  right.synchronize();
  left.copy_to_host(result.data(), value.data(), sizeof(float));
  left.synchronize();
  counts.syncs += 2;
  counts.copies = 1;
  counts.print();
  std::fprintf(stderr, "was deadlocked; released after %d s\n", arguments.timeout_s);
  // In the end both waits were released: "right" first, whose write released "left".
  return result[0] == static_cast<float>(arguments.iterations) + 3 ? example::kDeadlock
                                                                   : example::kWrongResult;
}

}  // namespace

int main(int argc, char** argv) { return example::run(argc, argv, run_deadlock); }
