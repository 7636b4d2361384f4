// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Times of work, kinds of memory and counts, the same on every backend.

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "conformance/backends.h"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using coord::MemoryKind;
using coord::StreamReport;
using coord::WorkKind;

class Measuring : public OnDevice {};
CONFORMANCE_SUITE(Measuring);

TEST_P(Measuring, TimesAreTheDevices) {
  const coord::Stream stream = this->stream();
  coord::StreamProfiler profiler(device());
  stream.launch({.duration = 1ms});  // to warm up
  profiler.watch(stream);
  for (int i = 0; i < 5; ++i) {
    stream.launch({.duration = 2ms});
    std::this_thread::sleep_for(1ms);
  }
  stream.synchronize();
  const StreamReport report = profiler.report(stream);
  EXPECT_EQ(report.of(WorkKind::kKernel).timed, 5u);
  EXPECT_GE(report.of(WorkKind::kKernel).shortest, 1990us);
  EXPECT_LT(report.of(WorkKind::kKernel).average(), 2200us);
  EXPECT_GE(report.span, report.busy);
}

TEST_P(Measuring, WaitingForAnotherStreamIsNotWork) {
  Gate gate(device());
  const coord::Stream stream = this->stream();
  coord::StreamProfiler profiler(device());
  profiler.watch(stream);
  gate.close(stream);
  stream.launch({.duration = 100us});
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(profiler.report(stream).of(WorkKind::kKernel).timed, 0u);
  gate.open();
  stream.synchronize();
  const StreamReport report = profiler.report(stream);
  EXPECT_EQ(report.of(WorkKind::kKernel).timed, 1u);
  EXPECT_LT(report.of(WorkKind::kKernel).average(), 1ms);
}

TEST_P(Measuring, StreamsOverlapAsTheyRan) {
  const coord::Stream a = stream(), b = stream();
  a.launch({.duration = 100us});
  b.launch({.duration = 100us});
  device().synchronize();
  coord::StreamProfiler together(device()), apart(device());
  together.watch(a);
  together.watch(b);
  for (int i = 0; i < 3; ++i) {
    a.launch({.duration = 5ms});
    b.launch({.duration = 5ms});
  }
  device().synchronize();
  EXPECT_GT(together.report().concurrency, 1.8);
  together.unwatch(a);
  together.unwatch(b);
  apart.watch(a);
  apart.watch(b);
  for (const coord::Stream* stream : {&a, &b, &a}) {
    stream->launch({.duration = 5ms});
    stream->synchronize();
  }
  EXPECT_LT(apart.report().concurrency, 1.05);
}

TEST_P(Measuring, ASectionCoversLaunchesThatLibcoordDoesNotSee) {
  const coord::Stream stream = this->stream();
  coord::StreamProfiler profiler(device());
  profiler.watch(stream);
  {
    const coord::StreamProfiler::Section section = profiler.section(stream);
    for (int i = 0; i < 3; ++i) stream.launch({.duration = 1ms});
  }
  stream.synchronize();
  EXPECT_GE(profiler.report(stream).sections.average(), 2990us);
  EXPECT_LT(profiler.report(stream).sections.average(), 4ms);
}

TEST_P(Measuring, MemoryKindsAreDistinguishedAndPageableCopiesAreCounted) {
  const coord::Stream stream = this->stream();
  const auto memory = device().allocate<std::byte>(1 << 16);
  const auto pinned = device().allocate_host<std::byte>(1 << 16);
  const std::vector<std::byte> pageable(1 << 16);
  EXPECT_EQ(device().memory_kind(memory.data()), MemoryKind::kDevice);
  EXPECT_EQ(device().memory_kind(pinned.data() + 5), MemoryKind::kPinned);
  EXPECT_EQ(device().memory_kind(pageable.data()), MemoryKind::kPageable);
  coord::StreamProfiler profiler(device());
  profiler.watch(stream);
  stream.copy_to_device(memory.data(), pinned.data(), 1 << 16);
  EXPECT_EQ(profiler.report(stream).pageable_copies, 0u);
  stream.copy_to_device(memory.data(), pageable.data(), 1 << 16);
  stream.synchronize();
  EXPECT_EQ(profiler.report(stream).pageable_copies, 1u);
  EXPECT_EQ(stream.metrics().transfers().count, 2u);
}

TEST_P(Measuring, ManagedMemoryMovesAheadOfItsUse) {
  const coord::Stream stream = this->stream();
  std::optional<coord::ManagedBuffer<float>> numbers;
  try {
    numbers.emplace(device().allocate_managed<float>(1 << 20));
  } catch (const coord::Error& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(device().memory_kind(numbers->data()), MemoryKind::kManaged);
  for (float& number : *numbers) number = 3;
  stream.prefetch_to_device(numbers->data(), numbers->bytes());
  stream.launch({.transform = {numbers->data(), numbers->data(), numbers->size(), 2.0f, 1.0f}});
  stream.prefetch_to_host(numbers->data(), numbers->bytes());
  stream.synchronize();
  for (std::size_t i = 0; i < numbers->size(); i += 1000) EXPECT_EQ((*numbers)[i], 7.0f);
  EXPECT_EQ(stream.metrics().of(WorkKind::kPrefetch).count, 2u);
  const auto memory = device().allocate<float>(16);
  EXPECT_THROW(stream.prefetch_to_host(memory.data(), 64), coord::Error);
}

TEST_P(Measuring, CapturesContainNoMeasurements) {
  const coord::Stream stream = this->stream();
  coord::StreamProfiler profiler(device());
  profiler.watch(stream);
  stream.begin_capture();
  for (int i = 0; i < 3; ++i) stream.launch({.duration = 20us});
  const coord::Graph graph = stream.end_capture();
  EXPECT_EQ(graph.shape().nodes, 3u);
  graph.instantiate().launch(stream);
  stream.synchronize();
  EXPECT_EQ(profiler.report(stream).of(WorkKind::kGraph).timed, 1u);
  EXPECT_EQ(profiler.report(stream).of(WorkKind::kKernel).timed, 0u);
}

}  // namespace
}  // namespace conformance
