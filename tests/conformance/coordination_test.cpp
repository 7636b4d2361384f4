// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// libcoord's upper parts, the same on every backend: what they order, count and report. Each test
// holds a stream with a gate, so that a missing order shows as a wrong number.

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "conformance/backends.h"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using coord::Coordinator;
using coord::OperationHandle;
using coord::StreamRef;

/// Work that changes the number x there to a * x + b.
auto change(const Cell& cell, float a, float b) {
  return [target = cell.data(), a, b](StreamRef stream) {
    stream.launch({.transform = {target, target, 1, a, b}});
  };
}

class UpperParts : public OnDevice {
 protected:
  /// Waits for something that happens on another thread.
  template <typename Condition>
  static bool eventually(Condition condition) {
    for (int i = 0; i < 5000 && !condition(); ++i) std::this_thread::sleep_for(1ms);
    return condition();
  }
};
CONFORMANCE_SUITE(UpperParts);

TEST_P(UpperParts, EventPoolReusesEventsAndDetectsStaleHandles) {
  coord::EventPool pool(device());
  const coord::Stream stream = this->stream();
  coord::EventRef stale;
  for (int i = 0; i < 100; ++i) {
    const coord::EventRef event = pool.acquire();
    stream.record(event);
    pool.release(event);
    stale = event;
  }
  EXPECT_LE(pool.metrics().created, 2u);
  EXPECT_EQ(pool.metrics().in_use(), 0u);
  EXPECT_THROW(pool.release(stale), coord::Error);
  EXPECT_THROW(stream.record(stale), coord::Error);
  stream.synchronize();
}

TEST_P(UpperParts, CoordinatorKeepsTheOrderOfADiamondWithThreeWaits) {
  const coord::Stream top = stream(), left = stream(), right = stream();
  Cell a(device()), b(device());
  Gate gate(device());
  Coordinator coordinator(device());
  const auto first = coordinator.submit({.stream = top}, [&](StreamRef stream) {
    gate.close(stream);
    change(a, 0, 3)(stream);
  });
  const auto one = coordinator.submit({.stream = left, .after = {first}}, change(a, 2, 0));
  const auto two = coordinator.submit({.stream = right, .after = {first, one}}, change(b, 0, 5));
  const auto last =
      coordinator.submit({.stream = top, .after = {first, one, two}}, change(a, 1, 1));
  EXPECT_EQ(coordinator.metrics().waits_placed, 3u);
  EXPECT_FALSE(coordinator.completed(last));
  gate.open();
  coordinator.wait(last);
  EXPECT_TRUE(coordinator.completed(two));
  EXPECT_EQ(a.value(), 7.0f);
  EXPECT_EQ(b.value(), 5.0f);
}

TEST_P(UpperParts, CoordinatorDefersOperationsThatDependOnWorkNotYetSubmitted) {
  const coord::Stream a = stream(), b = stream();
  Cell cell(device());
  Coordinator coordinator(device());
  const auto later = coordinator.register_operation({.stream = a});
  const auto dependent = coordinator.submit({.stream = b, .after = {later}}, change(cell, 2, 0));
  EXPECT_EQ(coordinator.metrics().blocked_now, 1u);
  coordinator.begin(later);
  change(cell, 0, 4)(a);
  coordinator.complete(later);
  coordinator.wait(dependent);
  EXPECT_EQ(cell.value(), 8.0f);
}

TEST_P(UpperParts, CoordinatorReportsTheEndAndTheFailureOfOperations) {
  const coord::Stream stream = this->stream();
  Gate gate(device());
  std::atomic<int> completed{0}, failed{0};
  Coordinator coordinator(device());
  const auto count = [&](const coord::Outcome& outcome) {
    ++(outcome.state == coord::OperationState::kCompleted ? completed : failed);
  };
  coordinator.on_complete(
      coordinator.submit({.stream = stream}, [&](StreamRef on) { gate.close(on); }), count);
  EXPECT_EQ(completed, 0);
  const auto broken = coordinator.register_operation({.stream = stream});
  const auto dependent =
      coordinator.submit({.stream = stream, .after = {broken}}, [](StreamRef) {});
  coordinator.on_complete(dependent, count);
  EXPECT_TRUE(coordinator.cancel(broken));
  gate.open();
  EXPECT_TRUE(eventually([&] { return completed == 1 && failed == 1; }));
  EXPECT_THROW(coordinator.wait(dependent), coord::Error);
}

TEST_P(UpperParts, CoordinatorReturnsEventsAndRecordsInALongRun) {
  const coord::Stream a = stream(), b = stream();
  Coordinator coordinator(device(), {.history = 16});
  OperationHandle last = coordinator.submit({.stream = a}, [](StreamRef) {});
  for (int i = 0; i < 5000; ++i) {
    last = coordinator.submit({.stream = i % 2 == 0 ? b : a, .after = {last}}, [](StreamRef) {});
    coordinator.post({.stream = b}, [](StreamRef) {});
    if (i % 500 == 499) coordinator.wait(last);
  }
  coordinator.wait(last);
  EXPECT_LT(coordinator.event_utilization().available, 3000u);
  EXPECT_LE(coordinator.event_utilization().in_use, 600u);
}

TEST_P(UpperParts, BarrierHoldsEveryStream) {
  const coord::Stream a = stream(), b = stream(), c = stream();
  Cell cell(device());
  Gate gate(device());
  Coordinator coordinator(device());
  coord::Barrier barrier(coordinator, std::vector<StreamRef>{a, b, c});
  coordinator.submit({.stream = a}, [&](StreamRef stream) {
    gate.close(stream);
    change(cell, 0, 3)(stream);
  });
  coordinator.submit({.stream = b}, [](StreamRef) {});
  const auto passed = barrier.pass();
  const auto after = coordinator.submit({.stream = c}, change(cell, 2, 0));
  EXPECT_FALSE(coordinator.completed(after));
  gate.open();
  coordinator.wait(after);
  EXPECT_TRUE(coordinator.completed(passed));
  EXPECT_EQ(cell.value(), 6.0f);
  EXPECT_LE(barrier.metrics().waits, 4u);
}

TEST_P(UpperParts, ForkJoinOrdersBranchesBetweenTwoPointsOfTheTrunk) {
  const coord::Stream trunk = stream(), left = stream(), right = stream();
  Cell a(device()), b(device());
  Gate gate(device());
  Coordinator coordinator(device());
  gate.close(trunk);
  change(a, 0, 3)(trunk);
  {
    coord::ForkJoin fork(coordinator, trunk, std::vector<StreamRef>{left, right});
    change(a, 2, 0)(left);
    change(b, 0, 5)(right);
    fork.join();
  }
  change(a, 1, 1)(trunk);
  change(b, 2, 0)(trunk);
  gate.open();
  trunk.synchronize();
  EXPECT_EQ(a.value(), 7.0f);
  EXPECT_EQ(b.value(), 10.0f);
}

class RepeatedSections : public OnDevice {};
CONFORMANCE_SUITE(RepeatedSections);

TEST_P(RepeatedSections, TheThirdUnchangedRunCreatesAnEquivalentGraph) {
  const coord::Stream trunk = stream(), branch = stream();
  Cell a(device()), b(device());
  Coordinator coordinator(device());
  coord::Repeated step(coordinator, trunk, "step");
  int calls = 0;
  OperationHandle last;
  for (int i = 0; i < 5; ++i) {
    last = step.run({}, [&](coord::Section& section) {
      ++calls;
      const auto first = section.submit({.stream = trunk}, change(a, 1, 1));
      const auto other = section.submit({.stream = branch, .after = {first}}, change(b, 1, 2));
      for (int k = 0; k < 20; ++k) section.submit({.stream = branch}, change(b, 1, 1));
      section.submit({.stream = trunk, .after = {other}}, change(a, 2, 0));
    });
  }
  coordinator.wait(last);
  EXPECT_EQ(a.value(), 62.0f) << "((0 + 1) * 2 + 1) * 2 and so on, five times";
  EXPECT_EQ(b.value(), 110.0f);
  const coord::RepeatedMetrics metrics = step.metrics();
  EXPECT_EQ(metrics.runs, 5u);
  EXPECT_EQ(metrics.promotions, 1u);
  EXPECT_EQ(metrics.launches, 3u);
  EXPECT_EQ(metrics.submissions, 2u);
  EXPECT_EQ(calls, 3) << "the third call is captured, later runs need none";
  EXPECT_EQ(metrics.operations, 23u);
}

TEST_P(RepeatedSections, AnotherVersionIsSubmittedAndPromotedAgain) {
  const coord::Stream trunk = stream();
  Cell cell(device());
  Coordinator coordinator(device());
  coord::Repeated step(coordinator, trunk, "step");
  const auto run = [&](std::uint64_t version, float amount) {
    return step.run({.version = version}, [&](coord::Section& section) {
      for (int k = 0; k < 20; ++k) section.submit({.stream = trunk}, change(cell, 1, amount));
    });
  };
  for (int i = 0; i < 4; ++i) run(1, 1);
  EXPECT_TRUE(step.promoted());
  run(2, 10);
  EXPECT_FALSE(step.promoted());
  EXPECT_EQ(step.metrics().fallbacks, 1u);
  run(2, 10);
  coordinator.wait(run(2, 10));
  EXPECT_TRUE(step.promoted());
  EXPECT_EQ(step.metrics().promotions, 2u);
  EXPECT_EQ(cell.value(), 20.0f * (4 * 1 + 3 * 10));
}

TEST_P(RepeatedSections, WorkThatCannotBeCapturedIsSubmitted) {
  const coord::Stream trunk = stream();
  Cell cell(device());
  Coordinator coordinator(device());
  coord::Repeated step(coordinator, trunk, "step");
  OperationHandle last;
  for (int i = 0; i < 5; ++i) {
    last = step.run({}, [&](coord::Section& section) {
      section.submit({.stream = trunk}, [&](StreamRef stream) {
        change(cell, 1, 1)(stream);
        (void)stream.query();  // forbidden while it is being captured
      });
    });
  }
  coordinator.wait(last);
  EXPECT_EQ(cell.value(), 5.0f);
  EXPECT_EQ(step.metrics().refusals, 1u) << "tried once";
  EXPECT_EQ(step.metrics().submissions, 5u);
  EXPECT_EQ(trunk.capture_status(), coord::CaptureStatus::kNone);
}

TEST_P(RepeatedSections, AGraphComesAfterAndBeforeTheOtherWorkOfItsStreams) {
  const coord::Stream trunk = stream(), branch = stream(), outer = stream(), pausing = stream();
  Cell a(device()), b(device());
  Gate gate(device()), later(device());
  Coordinator coordinator(device());
  coord::Repeated step(coordinator, trunk, "step");
  const auto run = [&](const coord::Dependencies& after) {
    return step.run({.after = after}, [&](coord::Section& section) {
      for (int k = 0; k < 10; ++k) section.submit({.stream = trunk}, change(a, 1, 1));
      for (int k = 0; k < 10; ++k) section.submit({.stream = branch}, change(b, 1, 1));
    });
  };
  for (int i = 0; i < 3; ++i) run({});
  ASSERT_TRUE(step.promoted());
  // Held: work of a branch before the section, and an operation that it must follow.
  coordinator.submit({.stream = branch}, [&](StreamRef stream) {
    later.close(stream);
    change(b, 0, 100)(stream);
  });
  const auto before = coordinator.submit({.stream = outer}, [&](StreamRef stream) {
    gate.close(stream);
    change(a, 0, 100)(stream);
  });
  run({before});
  EXPECT_TRUE(step.promoted());
  coordinator.submit({.stream = branch}, change(b, 2, 0));
  const auto last = coordinator.submit({.stream = trunk}, change(a, 2, 0));
  EXPECT_FALSE(coordinator.completed(last));
  gate.open();
  coordinator.wait(coordinator.submit({.stream = pausing, .after = {before}},
                                      [](StreamRef stream) { stream.launch({.duration = 5ms}); }));
  EXPECT_FALSE(coordinator.completed(last)) << "the branch is held still";
  later.open();
  device().synchronize();
  EXPECT_EQ(a.value(), 220.0f);
  EXPECT_EQ(b.value(), 220.0f);
}

TEST_P(RepeatedSections, OrderFromMemoryRangesHoldsInTheGraph) {
  const coord::Stream trunk = stream(), branch = stream();
  Cell cell(device());
  Coordinator coordinator(device());
  coord::Repeated step(coordinator, trunk, "step");
  const coord::MemoryRange range(cell.data(), sizeof(float));
  OperationHandle last;
  for (int i = 0; i < 4; ++i) {
    last = step.run({}, [&](coord::Section& section) {
      for (int k = 0; k < 5; ++k) {
        section.submit({.stream = trunk, .writes = {range}, .infer_dependencies = true},
                       change(cell, 1, 1));
        section.submit({.stream = branch, .writes = {range}, .infer_dependencies = true},
                       change(cell, 2, 0));
      }
    });
  }
  coordinator.wait(last);
  float expected = 0;
  for (int k = 0; k < 20; ++k) expected = (expected + 1) * 2;
  EXPECT_EQ(cell.value(), expected);
  EXPECT_EQ(step.metrics().launches, 2u);
  EXPECT_EQ(coordinator.metrics().races, 0u);
}

/// Two devices that reach each other; skipped, visibly, where there are none.
class TwoDevices : public testing::TestWithParam<BackendUnderTest> {
 protected:
  void SetUp() override {
    if (GetParam().name == "sim") {
      devices_ = coord::sim::open_devices({}, 2);
      return;
    }
    try {
      devices_.push_back(coord::Device::open(GetParam().name + ":0"));
      devices_.push_back(coord::Device::open(GetParam().name + ":1"));
    } catch (const coord::Error& error) {
      if (error.kind() != coord::ErrorKind::kNoDevice) throw;
      GTEST_SKIP() << "needs two devices: " << error.what();
    }
    try {
      const coord::Stream stream = devices_[1].create_stream();
      const coord::Event event = devices_[0].create_event();
      stream.wait(event);
    } catch (const coord::Error& error) {
      if (error.kind() != coord::ErrorKind::kNotSupported) throw;
      GTEST_SKIP() << "the two devices do not reach each other: " << error.what();
    }
  }

  std::vector<coord::Device> devices_;
};
CONFORMANCE_SUITE(TwoDevices);

TEST_P(TwoDevices, DependenciesBarriersAndForksHoldAcrossThem) {
  const coord::Stream here = devices_[0].create_stream(), there = devices_[1].create_stream();
  Cell near(devices_[0]), far(devices_[1]);
  Gate gate(devices_[0]);
  Coordinator coordinator(devices_[0]);
  const auto copy_over = [&](StreamRef stream) {
    stream.copy_peer(devices_[1], far.data(), devices_[0], near.data(), sizeof(float));
  };
  // A dependency.
  const auto made = coordinator.submit({.stream = here}, [&](StreamRef stream) {
    gate.close(stream);
    change(near, 0, 3)(stream);
  });
  const auto copied = coordinator.submit({.stream = there, .after = {made}}, copy_over);
  EXPECT_FALSE(coordinator.completed(copied));
  gate.open();
  coordinator.wait(copied);
  EXPECT_EQ(far.value(), 3.0f);

  // A barrier.
  Gate second(devices_[0]);
  coord::Barrier barrier(coordinator, std::vector<StreamRef>{here, there});
  coordinator.submit({.stream = here}, [&](StreamRef stream) {
    second.close(stream);
    change(near, 0, 5)(stream);
  });
  barrier.pass();
  const auto after = coordinator.submit({.stream = there}, copy_over);
  EXPECT_FALSE(coordinator.completed(after));
  second.open();
  coordinator.wait(after);
  EXPECT_EQ(far.value(), 5.0f);

  // A fork to the other device and back.
  Gate third(devices_[0]);
  third.close(here);
  change(near, 0, 7)(here);
  {
    coord::ForkJoin fork(coordinator, here, std::vector<StreamRef>{there});
    copy_over(there);
    change(far, 2, 0)(there);
  }
  const auto end = coordinator.submit({.stream = here}, [](StreamRef) {});
  EXPECT_FALSE(coordinator.completed(end));
  third.open();
  coordinator.wait(end);
  EXPECT_EQ(far.value(), 14.0f);
}

}  // namespace
}  // namespace conformance
