// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What runs before what: FIFO, events and their records, host functions, values in memory.

#include "conformance/backends.h"

namespace conformance {
namespace {

using namespace std::chrono_literals;

class Ordering : public OnDevice {};
CONFORMANCE_SUITE(Ordering);

TEST_P(Ordering, RunsOneStreamInOrder) {
  Cell cell(device());
  const coord::Stream stream = this->stream();
  set(stream, cell.data(), 1);
  for (int i = 0; i < 8; ++i)
    stream.launch({.duration = 5us, .transform = {cell.data(), cell.data(), 1, 2.0f, 1.0f}});
  stream.synchronize();
  EXPECT_EQ(cell.value(), 511.0f);
}

TEST_P(Ordering, StreamsDoNotWaitForEachOther) {
  Cell cell(device());
  Gate gate(device());
  const coord::Stream held = stream(), free = stream();
  gate.close(held);
  set(free, cell.data(), 7);
  free.synchronize();
  EXPECT_FALSE(held.query());
  EXPECT_EQ(cell.value(), 7.0f);
}

TEST_P(Ordering, WaitMakesAStreamFollowTheRecordedWork) {
  Cell from(device()), to(device());
  Gate gate(device());
  const coord::Stream producer = stream(), consumer = stream();
  const coord::Event event = this->event();
  gate.close(producer);
  set(producer, from.data(), 3);
  producer.record(event);
  consumer.wait(event);
  consumer.copy(to.data(), from.data(), sizeof(float));
  EXPECT_FALSE(consumer.query());
  gate.open();
  consumer.synchronize();
  EXPECT_EQ(to.value(), 3.0f);
}

TEST_P(Ordering, WaitCoversNothingSubmittedAfterTheRecord) {
  Gate gate(device());
  const coord::Stream producer = stream(), consumer = stream();
  const coord::Event event = this->event();
  producer.record(event);
  gate.close(producer);
  consumer.wait(event);
  consumer.synchronize();  // would hang if it waited for the gate
  EXPECT_FALSE(producer.query());
}

TEST_P(Ordering, WaitBindsToTheNewestRecordAtTheCall) {
  Gate gate(device());
  const coord::Stream held = stream(), free = stream(), consumer = stream();
  const coord::Event event = this->event();
  free.record(event);
  held.record(event);
  gate.close(held);
  held.record(event);
  consumer.wait(event);
  free.synchronize();
  EXPECT_FALSE(consumer.query());
  gate.open();
  consumer.synchronize();
}

TEST_P(Ordering, RecordingAgainDoesNotReleaseAnEarlierWait) {
  Gate gate(device());
  const coord::Stream held = stream(), free = stream(), consumer = stream();
  const coord::Event event = this->event();
  gate.close(held);
  held.record(event);
  consumer.wait(event);
  free.record(event);
  event.synchronize();  // the newest record is complete
  EXPECT_FALSE(consumer.query());
  gate.open();
  consumer.synchronize();
}

TEST_P(Ordering, RecordingAgainDoesNotHoldAnEarlierWait) {
  Gate gate(device());
  const coord::Stream held = stream(), free = stream(), consumer = stream();
  const coord::Event event = this->event();
  free.record(event);
  consumer.wait(event);
  gate.close(held);
  held.record(event);
  consumer.synchronize();
  EXPECT_FALSE(event.query());
}

TEST_P(Ordering, QueryAndSynchronizeUseTheNewestRecord) {
  Gate gate(device());
  const coord::Stream held = stream(), free = stream();
  const coord::Event event = this->event();
  free.record(event);
  event.synchronize();
  EXPECT_TRUE(event.query());
  gate.close(held);
  held.record(event);
  EXPECT_FALSE(event.query());
  gate.open();
  event.synchronize();
  EXPECT_TRUE(event.query());
}

TEST_P(Ordering, WaitForANeverRecordedEventDoesNothing) {
  const coord::Stream stream = this->stream();
  const coord::Event event = this->event();
  EXPECT_TRUE(event.query());
  event.synchronize();
  stream.wait(event);
  stream.synchronize();
  EXPECT_TRUE(stream.query());
}

TEST_P(Ordering, DestroyingAnEventKeepsItsPendingWaits) {
  Gate gate(device());
  const coord::Stream held = stream(), consumer = stream();
  gate.close(held);
  {
    const coord::Event event = this->event();
    held.record(event);
    consumer.wait(event);
  }
  EXPECT_FALSE(consumer.query());
  gate.open();
  consumer.synchronize();
}

TEST_P(Ordering, WorkOfADestroyedStreamStillRuns) {
  Cell cell(device());
  Gate gate(device());
  const coord::Event event = this->event();
  {
    const coord::Stream stream = this->stream();
    gate.close(stream);
    set(stream, cell.data(), 5);
    stream.record(event);
  }
  gate.open();
  event.synchronize();
  EXPECT_EQ(cell.value(), 5.0f);
}

TEST_P(Ordering, HostFunctionRunsBetweenItsNeighbors) {
  Cell cell(device());
  const coord::Stream stream = this->stream();
  const coord::HostBuffer<float> seen = device().allocate_host<float>(2);
  std::atomic<float> in_function{-1};
  set(stream, cell.data(), 4);
  stream.copy_to_host(seen.data(), cell.data(), sizeof(float));
  stream.host_function([&] {
    in_function = seen[0];
    seen[1] = 9;
  });
  stream.copy_to_device(cell.data(), &seen[1], sizeof(float));
  stream.synchronize();
  EXPECT_EQ(in_function.load(), 4.0f);
  EXPECT_EQ(cell.value(), 9.0f);
}

TEST_P(Ordering, HostFunctionsOfAStreamRunInOrder) {
  const coord::Stream stream = this->stream();
  std::vector<int> order;
  for (int i = 0; i < 4; ++i) stream.host_function([&order, i] { order.push_back(i); });
  stream.synchronize();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
}

TEST_P(Ordering, HostFunctionMayNotCallTheDevice) {
  const coord::Stream stream = this->stream(), other = this->stream();
  std::atomic<bool> refused{false};
  stream.host_function([&] {
    try {
      other.synchronize();
    } catch (const coord::Error& error) {
      refused = error.kind() == coord::ErrorKind::kNotPermitted;
    }
  });
  stream.synchronize();
  EXPECT_TRUE(refused.load());
}

TEST_P(Ordering, MemoryWaitIsReleasedByAWriteOfAnotherStream) {
  Gate gate(device());
  const coord::Stream held = stream(), writer = stream();
  gate.close(held);
  EXPECT_FALSE(held.query());
  writer.write_value(gate.flag(), 1);
  held.synchronize();
}

TEST_P(Ordering, MemoryWaitComparesCyclically) {
  Gate gate(device());
  const coord::Stream stream = this->stream();
  *gate.flag() = 5;
  stream.wait_value(gate.flag(), 5);
  stream.wait_value(gate.flag(), 3);
  stream.wait_value(gate.flag(), ~std::uint64_t{0});  // -1: reached as well
  stream.synchronize();
  stream.wait_value(gate.flag(), 6);
  EXPECT_FALSE(stream.query());
  *gate.flag() = 6;
  stream.synchronize();
}

TEST_P(Ordering, DeviceSynchronizeWaitsForEveryStream) {
  Cell a(device()), b(device());
  const coord::Stream first = stream(), second = stream();
  first.launch({.duration = 50us});
  set(first, a.data(), 1);
  second.launch({.duration = 80us});
  set(second, b.data(), 2);
  device().synchronize();
  EXPECT_TRUE(first.query());
  EXPECT_TRUE(second.query());
  EXPECT_EQ(a.value() + b.value(), 3.0f);
}

TEST_P(Ordering, ElapsedTimeCoversTheKernelBetween) {
  const coord::Stream stream = this->stream();
  const coord::Event start = device().create_event({.event_class = coord::EventClass::kTiming});
  const coord::Event end = device().create_event({.event_class = coord::EventClass::kTiming});
  stream.record(start);
  stream.launch({.duration = 200us});
  stream.record(end);
  stream.synchronize();
  EXPECT_GE(end.elapsed_since(start), 190us);
  EXPECT_LT(end.elapsed_since(start), 10ms);
}

TEST_P(Ordering, CoordinatorOrdersOperationsAcrossStreams) {
  Cell cell(device());
  Gate gate(device());
  coord::Coordinator coordinator(device());
  const coord::Stream a = stream(), b = stream();
  const auto first =
      coordinator.submit({.stream = a, .description = "first"}, [&](coord::StreamRef stream) {
        gate.close(stream);
        set(stream, cell.data(), 20);
      });
  const auto second = coordinator.submit(
      {.stream = b, .after = {first}, .description = "second"}, [&](coord::StreamRef stream) {
        stream.launch({.transform = {cell.data(), cell.data(), 1, 2.0f, 2.0f}});
      });
  EXPECT_FALSE(coordinator.completed(first));
  EXPECT_FALSE(coordinator.completed(second));
  gate.open();
  coordinator.wait(second);
  EXPECT_TRUE(coordinator.completed(first));
  EXPECT_EQ(cell.value(), 42.0f);
}

}  // namespace
}  // namespace conformance
