// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a profiler reports about streams, compared with durations set on the simulated device.

#include <coord/coord.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "coord/fake_observer.h"
#include "coord/one_stream.h"
#include "coord/thrown.h"

namespace {

using namespace std::chrono_literals;
using coord::Device;
using coord::ErrorKind;
using coord::Nanoseconds;
using coord::ProfileReport;
using coord::Stream;
using coord::StreamReport;
using coord::WorkKind;
using coord::WorkTimes;
using testing::HasSubstr;

/// A profiler attached to streams from their creation.
class Watching : public coord::StreamProfiler {
 public:
  Watching(const Device& device, std::initializer_list<coord::StreamRef> streams,
           const coord::StreamProfilerOptions& options = {})
      : coord::StreamProfiler(device, options) {
    for (const coord::StreamRef stream : streams) watch(stream);
  }
};

class StreamProfiler : public OneStream {
 protected:
  /// Kernels one after the other, to their end.
  void run(int count, Nanoseconds duration) {
    for (int i = 0; i < count; ++i) stream.launch({.duration = duration});
    stream.synchronize();
  }
};

/// Besides the duration of the work, the gaps between it and its two records.
constexpr Nanoseconds kGaps = 4us;

void expect_about(Nanoseconds measured, Nanoseconds expected) {
  EXPECT_GE(measured, expected - 1us);
  EXPECT_LE(measured, expected + kGaps);
}

TEST_F(StreamProfiler, MeasuresOnTheDeviceAndNotOnTheHost) {
  const Stream math = device.create_stream({.name = "math"});
  Watching profiler(device, {math});
  for (const Nanoseconds duration : {100us, 300us, 200us}) {
    math.launch({.duration = duration});
    coord::sim::host_work(device, 1ms);  // which is nobody's time on the device
  }
  math.synchronize();
  const StreamReport report = profiler.report(math);
  const WorkTimes& kernels = report.of(WorkKind::kKernel);
  EXPECT_EQ(kernels.count, 3u);
  EXPECT_EQ(kernels.timed, 3u);
  expect_about(kernels.average(), 200us);
  expect_about(kernels.shortest, 100us);
  expect_about(kernels.longest, 300us);
  EXPECT_EQ(report.average_latency, kernels.average());
  EXPECT_EQ(report.busy, kernels.total);
  EXPECT_GE(report.span, 2ms);
  EXPECT_LT(report.utilization(), 0.35);
  EXPECT_EQ(report.name, "math");
  EXPECT_EQ(report.priority, math.priority());
}

TEST_F(StreamProfiler, WorkThatHasNotEndedHasNoTime) {
  const auto gate = device.allocate_host<std::uint64_t>(1);
  Watching profiler(device, {stream});
  stream.launch({.duration = 10us});
  stream.wait_value(gate.data(), 1);
  stream.launch({.duration = 10us});
  coord::sim::host_work(device, 1ms);
  EXPECT_EQ(profiler.report(stream).of(WorkKind::kKernel).timed, 1u);
  EXPECT_EQ(profiler.report(stream).of(WorkKind::kKernel).count, 2u);
  std::atomic_ref<std::uint64_t>(gate[0]).store(1);
  stream.synchronize();
  const WorkTimes kernels = profiler.report(stream).of(WorkKind::kKernel);
  EXPECT_EQ(kernels.timed, 2u);
  expect_about(kernels.longest, 10us);  // waiting for the gate is not counted
}

TEST_F(StreamProfiler, SumsUpEachKindWithItsBytes) {
  const auto memory = device.allocate<std::byte>(8 << 20);
  const auto pinned = device.allocate_host<std::byte>(8 << 20);
  const std::vector<std::byte> pageable(1 << 20);
  Watching profiler(device, {stream});
  stream.copy_to_device(memory.data(), pinned.data(), 8 << 20);
  stream.copy_to_device(memory.data(), pageable.data(), 1 << 20);
  stream.copy_to_host(pinned.data(), memory.data(), 8 << 20);
  stream.memset(memory.data(), 0, 1 << 20);
  stream.synchronize();
  const StreamReport report = profiler.report(stream);
  EXPECT_EQ(report.of(WorkKind::kCopyToDevice).timed, 2u);
  EXPECT_EQ(report.of(WorkKind::kCopyToDevice).bytes, std::uint64_t{9} << 20);
  const double rate = report.of(WorkKind::kCopyToHost).bytes_per_s();
  const double given = 1e6 * static_cast<double>(coord::sim::h200().device_to_host_bytes_per_us);
  EXPECT_NEAR(rate / given, 1, 0.1);
  EXPECT_EQ(report.of(WorkKind::kMemset).timed, 1u);
  EXPECT_EQ(report.pageable_copies, 1u);
  EXPECT_EQ(report.pageable_bytes, std::uint64_t{1} << 20);
}

TEST_F(StreamProfiler, ReportsWhichCopiesAreHiddenBehindKernels) {
  const Stream copies = device.create_stream(), math = device.create_stream();
  const auto memory = device.allocate<std::byte>(8 << 20);
  const auto pinned = device.allocate_host<std::byte>(8 << 20);
  for (const bool overlapping : {false, true}) {
    Watching profiler(device, {copies, math});
    for (int i = 0; i < 4; ++i) {
      copies.copy_to_device(memory.data(), pinned.data(), 8 << 20);  // some 150 us
      if (!overlapping) copies.synchronize();
      math.launch({.duration = 300us});
      if (!overlapping) math.synchronize();
    }
    device.synchronize();
    const ProfileReport report = profiler.report();
    EXPECT_EQ(report.streams.size(), 2u);
    if (overlapping) {
      EXPECT_GT(report.concurrency, 1.3);
      EXPECT_GT(report.overlapped, report.copying * 9 / 10);
    } else {
      EXPECT_NEAR(report.concurrency, 1, 0.01);
      EXPECT_EQ(report.overlapped.count(), 0);
      EXPECT_LT(report.busy, report.span);
    }
    expect_about(report.copying, report.streams[0].busy);
    EXPECT_THAT(report.text(), HasSubstr("all: busy"));
  }
}

TEST_F(StreamProfiler, ASectionIsOnePieceWhateverIsInIt) {
  Watching profiler(device, {stream});
  for (int i = 0; i < 2; ++i) {
    const coord::StreamProfiler::Section section = profiler.section(stream);
    for (int kernel = 0; kernel < 5; ++kernel) stream.launch({.duration = 100us});
    EXPECT_EQ(kind_thrown([&] { (void)profiler.section(stream); }), ErrorKind::kNotPermitted);
  }
  stream.synchronize();
  const StreamReport report = profiler.report(stream);
  EXPECT_EQ(report.sections.timed, 2u);
  EXPECT_GT(report.sections.average(), 500us);
  EXPECT_LT(report.sections.average(), 520us);
  EXPECT_EQ(report.of(WorkKind::kKernel).count, 10u);
  EXPECT_EQ(report.of(WorkKind::kKernel).timed, 0u) << "they are part of the sections";
}

TEST_F(StreamProfiler, ASampleRepresentsAll) {
  Watching profiler(device, {stream}, {.time_one_in = 8});
  run(80, 50us);
  const StreamReport report = profiler.report(stream);
  EXPECT_EQ(report.of(WorkKind::kKernel).timed, 10u);
  EXPECT_EQ(report.of(WorkKind::kKernel).count, 80u);
  EXPECT_NEAR(static_cast<double>(report.busy.count()), 80 * 50e3, 80 * 4e3);
}

TEST_F(StreamProfiler, AddsNothingToGraphsAndDoesNotBreakCaptures) {
  const Stream other = device.create_stream();
  Watching profiler(device, {stream, other});
  stream.begin_capture();
  for (int i = 0; i < 3; ++i) stream.launch({.duration = 20us});
  for (int i = 0; i < 200; ++i) {  // in which the profiler polls its own events
    coord::sim::host_work(device, 10ms);
    other.launch({.duration = 20us});
  }
  (void)profiler.report();
  const coord::Graph graph = stream.end_capture();
  EXPECT_EQ(graph.shape().nodes, 3u);
  const coord::ExecutableGraph executable = graph.instantiate();
  executable.launch(stream);
  device.synchronize();
  const StreamReport report = profiler.report(stream);
  EXPECT_EQ(report.of(WorkKind::kKernel).count, 0u);
  EXPECT_EQ(profiler.report(other).of(WorkKind::kKernel).timed, 200u);
  EXPECT_EQ(report.of(WorkKind::kGraph).timed, 1u);
  EXPECT_GE(report.of(WorkKind::kGraph).average(), 60us);
}

TEST_F(StreamProfiler, AStreamThatIsNotProfiledCostsNothing) {
  coord::StreamProfiler profiler(device);
  fake_observer::start();
  stream.launch({});
  profiler.watch(stream);
  profiler.unwatch(stream);
  stream.launch({});
  auto observed = fake_observer::stop();
  EXPECT_TRUE(observed.calls_named("simEventRecord").empty());
  EXPECT_EQ(profiler.report(stream).of(WorkKind::kKernel).count, 0u);
}

TEST_F(StreamProfiler, AStreamHasOneProfilerAtATime) {
  const Device elsewhere = Device::open("sim");
  Stream watched = device.create_stream();
  coord::StreamProfiler second(device);
  {
    coord::StreamProfiler first(device);
    first.watch(watched);
    EXPECT_EQ(kind_thrown([&] { second.watch(watched); }), ErrorKind::kNotPermitted);
    EXPECT_EQ(kind_thrown([&] { second.unwatch(watched); }), ErrorKind::kInvalidHandle);
    EXPECT_EQ(kind_thrown([&] { (void)second.section(watched); }), ErrorKind::kInvalidHandle);
    EXPECT_EQ(kind_thrown([&] { first.watch(elsewhere.create_stream()); }),
              ErrorKind::kInvalidHandle);
  }
  second.watch(watched);
  watched.launch({.duration = 10us});
  second.unwatch(watched);
  watched.launch({.duration = 10us});
  second.watch(watched);
  watched.launch({.duration = 10us});
  watched.synchronize();
  EXPECT_EQ(second.report(watched).of(WorkKind::kKernel).timed, 2u);
  watched = Stream();
  EXPECT_EQ(second.report().streams.at(0).of(WorkKind::kKernel).timed, 2u) << "it is gone";
}

TEST_F(StreamProfiler, LosesNothingHoweverMuchIsTimed) {
  Watching profiler(device, {stream}, {.history = 100});
  run(3000, 5us);
  const ProfileReport report = profiler.report();
  EXPECT_EQ(report.streams.at(0).of(WorkKind::kKernel).timed, 3000u);
  EXPECT_LE(report.busy, 100 * (5us + kGaps)) << "only of the history";
}

TEST_F(StreamProfiler, PollsTheDeviceDuringWorkAndKeepsFewEvents) {
  for (const std::uint32_t one_in : {1u, 8u}) {
    fake_observer::start();
    Watching profiler(device, {stream}, {.time_one_in = one_in});
    for (std::uint32_t i = 0; i < 2000 * one_in; ++i) {
      stream.launch({.duration = 1us});
      if (i % 100 == 99) stream.synchronize();
    }
    const auto observed = fake_observer::stop();
    EXPECT_LT(observed.calls_named("simEventCreate").size(), 500u) << "one in " << one_in;
    EXPECT_EQ(profiler.report(stream).of(WorkKind::kKernel).timed, 2000u);
  }
}

TEST_F(StreamProfiler, PlacesWorkExactlyLongAfterTheStart) {
  const Stream a = device.create_stream(), b = device.create_stream();
  Watching profiler(device, {a, b});
  a.launch({.duration = 10us});
  for (int i = 0; i < 5; ++i) {
    coord::sim::host_work(device, 100s);
    a.launch({.duration = 100us});
    b.launch({.duration = 100us});
  }
  device.synchronize();
  const ProfileReport report = profiler.report();
  EXPECT_GE(report.span, 500s);
  EXPECT_LT(report.span, 501s);
  EXPECT_LT(report.busy, 10us + 5 * 120us) << "they lie beside each other";
  EXPECT_GT(report.concurrency, 1.6);
}

TEST_F(StreamProfiler, AFailureOfTheDeviceIsReported) {
  Watching profiler(device, {stream});
  stream.launch({.duration = 10us});
  coord::sim::inject(device, {.call = "simLaunchKernel", .code = 719});
  EXPECT_EQ(kind_thrown([&] { stream.launch({}); }), ErrorKind::kDeviceFailure);
  EXPECT_EQ(kind_thrown([&] { (void)profiler.report(stream); }), ErrorKind::kDeviceFailure);
}

TEST_F(StreamProfiler, ThreadsMayUseTheirStreamsWhileOneReports) {
  std::vector<Stream> streams;
  for (int i = 0; i < 3; ++i) streams.push_back(device.create_stream());
  coord::StreamProfiler profiler(device);
  for (const Stream& stream : streams) profiler.watch(stream);
  std::vector<std::thread> threads;
  for (const Stream& stream : streams) {
    threads.emplace_back([&stream] {
      for (int i = 0; i < 300; ++i) stream.launch({.duration = 1us});
    });
  }
  for (int i = 0; i < 20; ++i) (void)profiler.report();
  for (std::thread& thread : threads) thread.join();
  device.synchronize();
  for (const StreamReport& stream : profiler.report().streams)
    EXPECT_EQ(stream.of(WorkKind::kKernel).timed, 300u);
}

}  // namespace
