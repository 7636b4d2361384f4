// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Results are computed correctly, on every backend, to the bit.

#include <cmath>
#include <numeric>

#include "conformance/backends.h"

namespace conformance {
namespace {

class Results : public OnDevice {};
CONFORMANCE_SUITE(Results);

TEST_P(Results, TransformIsFusedAndCoversEveryElement) {
  constexpr std::size_t kCount = 100'003;  // a multiple of nothing
  const coord::Stream stream = this->stream();
  const coord::DeviceBuffer<float> from = device().allocate<float>(kCount),
                                   to = device().allocate<float>(kCount);
  std::vector<float> host(kCount), result(kCount);
  for (std::size_t i = 0; i < kCount; ++i) host[i] = std::sqrt(static_cast<float>(i));
  stream.copy_to_device(from, host);
  stream.launch({.blocks = 7, .transform = {from.data(), to.data(), kCount, 1.1f, -0.3f}});
  stream.copy_to_host(result, to);
  stream.synchronize();
  for (std::size_t i = 0; i < kCount; ++i)
    ASSERT_EQ(result[i], std::fma(host[i], 1.1f, -0.3f)) << i;
}

TEST_P(Results, MemsetSetsBytesAndNothingElse) {
  const coord::Stream stream = this->stream();
  const coord::DeviceBuffer<std::uint8_t> memory = device().allocate<std::uint8_t>(16);
  std::vector<std::uint8_t> result(16);
  stream.memset(memory.data(), 0, 16);
  stream.memset(memory.data() + 4, 0xab, 3);
  stream.copy_to_host(result, memory);
  stream.synchronize();
  EXPECT_EQ(result,
            (std::vector<std::uint8_t>{0, 0, 0, 0, 0xab, 0xab, 0xab, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_P(Results, PageableSourceMayBeReusedOnReturn) {
  Gate gate(device());
  const coord::Stream stream = this->stream();
  const coord::DeviceBuffer<int> memory = device().allocate<int>(64);
  std::vector<int> host(64), result(64);
  std::iota(host.begin(), host.end(), 0);
  gate.close(stream);
  stream.copy_to_device(memory, host);
  host.assign(64, -1);
  gate.open();
  stream.copy_to_host(result, memory);
  stream.synchronize();
  EXPECT_EQ(result[63], 63);
}

TEST_P(Results, CopyToPageableMemoryIsCompleteOnReturn) {
  const coord::Stream stream = this->stream();
  const coord::DeviceBuffer<int> memory = device().allocate<int>(1 << 20);
  std::vector<int> result(1 << 20, -1);
  stream.memset(memory.data(), 0, memory.bytes());
  stream.copy_to_host(result, memory);
  EXPECT_EQ(result.front(), 0);
  EXPECT_EQ(result.back(), 0);
}

TEST_P(Results, HostBufferIsZeroed) {
  const coord::HostBuffer<int> memory = device().allocate_host<int>(1000);
  EXPECT_EQ(std::accumulate(memory.begin(), memory.end(), 0), 0);
}

TEST_P(Results, IdsAreNeverReusedEvenIfHandlesAre) {
  std::vector<coord::StreamId> streams;
  std::vector<coord::EventId> events;
  for (int i = 0; i < 8; ++i) {
    const coord::Stream stream = this->stream();
    const coord::Event event = this->event();
    EXPECT_EQ(std::find(streams.begin(), streams.end(), stream.id()), streams.end());
    EXPECT_EQ(std::find(events.begin(), events.end(), event.id()), events.end());
    streams.push_back(stream.id());
    events.push_back(event.id());
  }
}

TEST_P(Results, PrioritiesAreClampedToTheDevice) {
  const coord::DeviceProperties& properties = device().properties();
  const coord::Stream low = device().create_stream({.priority = coord::StreamPriority::kLow});
  const coord::Stream normal = this->stream();
  const coord::Stream high =
      device().create_stream({.priority = coord::StreamPriority::kHigh, .name = "urgent"});
  EXPECT_EQ(low.priority(), properties.least_priority);
  EXPECT_LE(normal.priority(), low.priority());
  EXPECT_LE(high.priority(), normal.priority());
  EXPECT_EQ(high.priority(), properties.greatest_priority);
  EXPECT_EQ(high.name(), "urgent");
}

TEST_P(Results, NativeStreamExistsOnCudaOnly) {
  const coord::Stream stream = this->stream();
  if (device().simulated()) {
    EXPECT_THROW((void)stream.native(), coord::Error);
  } else {
    EXPECT_EQ(reinterpret_cast<std::uint64_t>(stream.native()), stream.handle());
  }
}

}  // namespace
}  // namespace conformance
