// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Chunks that are copied to the device, processed and copied back with 1, 2 and 4 streams: measures
// with the device's clock how much of the copies overlaps kernels. The table goes to stderr.

#include <chrono>
#include <vector>

#include "example.h"

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kChunk = std::size_t{1} << 20;  // floats
constexpr std::size_t kBuffers = 4;

/// Copies each chunk to the device, processes it and copies it back; returns the profiler's report.
coord::ProfileReport run_chunks(const coord::Device& device, std::size_t count, int chunks,
                                example::Counts& counts, bool& right) {
  std::vector<coord::Stream> streams;
  for (std::size_t i = 0; i < count; ++i)
    streams.push_back(device.create_stream({.name = "worker " + std::to_string(i)}));
  const coord::DeviceBuffer<float> memory = device.allocate<float>(kBuffers * kChunk);
  const coord::HostBuffer<float> host = device.allocate_host<float>(kBuffers * kChunk);
  for (std::size_t i = 0; i < kBuffers; ++i) host[i * kChunk] = static_cast<float>(i);

  coord::StreamProfiler profiler(device);
  for (const coord::Stream& stream : streams) profiler.watch(stream);
  for (int i = 0; i < chunks; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) % kBuffers * kChunk;
    const coord::Stream& stream = streams[static_cast<std::size_t>(i) % count];
    stream.copy_to_device(memory.data() + at, host.data() + at, kChunk * sizeof(float));
    stream.launch(
        {.duration = 100us, .transform = {memory.data() + at, memory.data() + at, 1, 1.0f, 1.0f}});
    stream.copy_to_host(host.data() + at, memory.data() + at, kChunk * sizeof(float));
  }
  device.synchronize();
  counts.syncs += 2;  // this one, and one in the profiler's constructor
  counts.launches += static_cast<std::uint64_t>(chunks);
  counts.copies += static_cast<std::uint64_t>(2 * chunks);
  for (std::size_t i = 0; i < kBuffers; ++i) {
    const int passes = chunks / static_cast<int>(kBuffers) +
                       (static_cast<int>(i) < chunks % static_cast<int>(kBuffers) ? 1 : 0);
    right = right && host[i * kChunk] == static_cast<float>(static_cast<int>(i) + passes);
  }
  coord::ProfileReport report = profiler.report();
  counts.records += report.records;
  return report;
}

int run_stream_profiler(const example::Arguments& arguments) {
  const coord::Device device = coord::Device::open(arguments.device);
  example::Counts counts;
  bool right = true;
  for (const std::size_t streams : {1, 2, 4}) {
    const coord::ProfileReport report =
        run_chunks(device, streams, arguments.iterations, counts, right);
    std::fputs(report.text().c_str(), stderr);
    // One stream alone has no overlap; four, each with its own buffer, do.
    right = right && report.streams.size() == streams;
    if (streams == 1) right = right && report.overlapped.count() == 0;
    if (streams == 4 && arguments.iterations >= 4) right = right && report.overlapped.count() > 0;
  }
  return counts.finish(right);
}

}  // namespace

int main(int argc, char** argv) { return example::run(argc, argv, run_stream_profiler); }
