// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Sections that repeat: when a graph is kept, and that no run is lost or done twice if it is not.

#include <coord/coord.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace {

using coord::Coordinator;
using coord::Device;
using coord::Repeated;
using coord::Section;
using coord::Stream;
using coord::StreamRef;

/// A section of operations, each of which counts how often it was done.
struct Counting {
  explicit Counting(const coord::sim::Config& config = {}) : device(Device::open(config)) {}

  void run(std::size_t operations = 10) {
    section.run({}, [&](Section& body) {
      for (std::size_t i = 0; i < operations; ++i)
        body.submit({.stream = stream},
                    [&](StreamRef on) { on.launch({.function = [&] { ++done; }}); });
    });
  }

  Device device;
  Stream stream = device.create_stream();
  Coordinator coordinator{device, {.polled = true}};
  Repeated section{coordinator, stream, "section"};
  int done = 0;
};

TEST(Repeated, KeepsSubmittingIfAGraphIsNotCheaper) {
  coord::sim::Config config;
  config.calibration.graph_launch_ns = 1'000'000;
  Counting counting(config);
  for (int i = 0; i < 10; ++i) counting.run();
  counting.device.synchronize();
  EXPECT_EQ(counting.done, 100);
  const coord::RepeatedMetrics metrics = counting.section.metrics();
  EXPECT_EQ(metrics.promotions, 1u);
  EXPECT_EQ(metrics.launches, 3u) << "tried so often";
  EXPECT_EQ(metrics.refusals, 1u);
  EXPECT_EQ(metrics.submissions, 7u);
  EXPECT_GT(metrics.launch_time, metrics.submission_time);
}

TEST(Repeated, IsPromotedIfAGraphIsCheaper) {
  Counting counting;
  for (int i = 0; i < 10; ++i) counting.run();
  counting.device.synchronize();
  EXPECT_EQ(counting.done, 100);
  EXPECT_EQ(counting.section.metrics().launches, 8u);
  EXPECT_LT(counting.section.metrics().launch_time, counting.section.metrics().submission_time);
}

TEST(Repeated, SubmitsTheRunWhoseLaunchFails) {
  Counting counting;
  for (int i = 0; i < 4; ++i) counting.run();
  ASSERT_TRUE(counting.section.promoted());
  coord::sim::inject(counting.device, {"simGraphLaunch", 1, 801});
  counting.run();
  counting.device.synchronize();
  EXPECT_EQ(counting.done, 50);
  EXPECT_EQ(counting.section.metrics().fallbacks, 1u);
  EXPECT_FALSE(counting.section.promoted());
}

TEST(Repeated, DetectsDuringCaptureThatTheSectionHasChanged) {
  Counting counting;
  counting.run(10);
  counting.run(10);
  counting.run(12);
  counting.device.synchronize();
  EXPECT_EQ(counting.done, 32);
  EXPECT_FALSE(counting.section.promoted());
  counting.run(12);
  counting.run(12);
  counting.device.synchronize();
  EXPECT_EQ(counting.done, 56);
  EXPECT_TRUE(counting.section.promoted());
}

TEST(Repeated, PropagatesExceptionsOfItsBodyAndRestarts) {
  Counting counting;
  const auto failing = [](Section&) { throw std::runtime_error("no"); };
  for (int i = 0; i < 2; ++i) counting.run();
  EXPECT_THROW(counting.section.run({}, failing), std::runtime_error);
  EXPECT_EQ(counting.stream.capture_status(), coord::CaptureStatus::kNone);
  counting.run();
  EXPECT_FALSE(counting.section.promoted());
  counting.device.synchronize();
  EXPECT_EQ(counting.done, 30);
}

TEST(Repeated, IsNotAGraphIfItDependsOnOtherOperations) {
  Counting counting;
  const auto other = counting.coordinator.submit({.stream = counting.stream}, [](StreamRef) {});
  for (int i = 0; i < 5; ++i) {
    counting.section.run({}, [&](Section& body) {
      body.submit({.stream = counting.stream, .after = {other}}, [](StreamRef) {});
    });
  }
  EXPECT_EQ(counting.section.metrics().promotions, 0u);
  EXPECT_EQ(counting.section.metrics().refusals, 1u);
}

TEST(Repeated, RefusesGroupsAndTimeoutsInside) {
  Counting counting;
  const auto group = counting.coordinator.open_group();
  const auto inside = [&](const coord::OperationOptions& options) {
    counting.section.run({}, [&](Section& body) { body.submit(options, [](StreamRef) {}); });
  };
  EXPECT_THROW(inside({.stream = counting.stream, .group = group}), coord::Error);
  EXPECT_THROW(inside({.stream = counting.stream, .timeout = std::chrono::seconds(1)}),
               coord::Error);
  EXPECT_THROW(Repeated(counting.coordinator, StreamRef(), "none"), coord::Error);
}

TEST(PostedOperations, AreForgottenOnceTheyHaveEnded) {
  const Device device = Device::open("sim");
  const Stream stream = device.create_stream();
  Coordinator coordinator(device, {.polled = true});
  for (int i = 0; i < 10'000; ++i) {
    coordinator.post({.stream = stream}, [](StreamRef) {});
    if (i % 100 == 0) stream.synchronize();
  }
  EXPECT_GE(coordinator.metrics().completed, 9'000u);
}

}  // namespace
