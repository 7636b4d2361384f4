// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Work by its deadline, the same on every backend.

#include <chrono>
#include <vector>

#include "conformance/backends.h"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using coord::StreamRef;

class Deadlines : public OnDevice {};
CONFORMANCE_SUITE(Deadlines);

TEST_P(Deadlines, OvertakeWorkNotYetInFlight) {
  coord::Coordinator coordinator(device());
  const coord::Stream stream = this->stream();
  coord::DeadlineQueue queue(coordinator, stream);
  Gate gate(device());
  std::vector<int> order;
  const auto in = [&](coord::Nanoseconds time) {
    return coord::TimeNs{device().now().value + time.count()};
  };
  queue.submit(in(1h), [&](StreamRef to) { gate.close(to); });
  for (const int hours : {9, 7, 5, 3, 8}) {
    queue.submit(in(1h * hours), [&order, hours](StreamRef to) {
      order.push_back(hours);
      to.launch({});
    });
  }
  EXPECT_EQ(queue.metrics().in_flight, 2u);
  EXPECT_EQ(queue.metrics().waiting, 4u);
  gate.open();
  queue.wait();
  EXPECT_EQ(order, (std::vector{9, 3, 5, 7, 8})) << "the first of them was in flight already";
  EXPECT_EQ(queue.metrics().completed, 6u);
  EXPECT_EQ(queue.metrics().missed, 0u);
}

TEST_P(Deadlines, AreMissedByWorkThatEndsLater) {
  coord::Coordinator coordinator(device());
  const coord::Stream stream = this->stream();
  coord::DeadlineQueue queue(coordinator, stream);
  const coord::TimeNs now = device().now();
  queue.submit(now, [](StreamRef to) { to.launch({.duration = 100us}); });
  queue.wait();
  EXPECT_EQ(queue.metrics().missed, 1u);
  EXPECT_GT(queue.metrics().worst_lateness, 50us);
}

}  // namespace
}  // namespace conformance
