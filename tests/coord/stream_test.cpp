// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a stream counts of its work, and which kinds of memory that work accesses.

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
using coord::ErrorKind;
using coord::MemoryKind;
using coord::Stream;
using coord::WorkKind;

class StreamMetrics : public OneStream {};
class ManagedMemory : public OneStream {};
class MemoryKinds : public OneStream {};

TEST_F(StreamMetrics, CountEachCallOnceByKindWithItsBytes) {
  const auto memory = device.allocate<float>(1024);
  const auto host = device.allocate_host<float>(1024);
  const auto managed = device.allocate_managed<float>(512);
  const coord::Event event = device.create_event();
  stream.copy_to_device(memory.data(), host.data(), 4096);
  stream.copy_to_device(memory.data(), host.data(), 1000);
  stream.copy_to_host(host.data(), memory.data(), 400);
  stream.copy(memory.data(), memory.data() + 512, 800);
  stream.copy_peer(device, memory.data(), device, memory.data() + 512, 20);
  stream.prefetch_to_device(managed.data(), managed.bytes());
  stream.prefetch_to_host(managed.data(), managed.bytes());
  stream.memset(memory.data(), 1, 64);
  for (int i = 0; i < 3; ++i) stream.launch({});
  stream.host_function([] {});
  stream.record(event);
  stream.wait(event);
  stream.synchronize();
  const coord::StreamMetrics metrics = stream.metrics();
  EXPECT_EQ(metrics.of(WorkKind::kCopyToDevice).count, 2u);
  EXPECT_EQ(metrics.of(WorkKind::kCopyToDevice).bytes, 5096u);
  EXPECT_EQ(metrics.of(WorkKind::kCopyToHost).bytes, 400u);
  EXPECT_EQ(metrics.of(WorkKind::kCopyInDevice).bytes, 800u);
  EXPECT_EQ(metrics.of(WorkKind::kCopyPeer).bytes, 20u);
  EXPECT_EQ(metrics.of(WorkKind::kPrefetch).count, 2u);
  EXPECT_EQ(metrics.of(WorkKind::kPrefetch).bytes, 4096u);
  EXPECT_EQ(metrics.of(WorkKind::kMemset).bytes, 64u);
  EXPECT_EQ(metrics.of(WorkKind::kHostFunction).count, 1u);
  EXPECT_EQ(metrics.launches(), 3u);
  EXPECT_EQ(metrics.transfers().count, 7u);
  EXPECT_EQ(metrics.transfers().bytes, 5096u + 400 + 800 + 20 + 4096);
  EXPECT_EQ(metrics.records, 1u);
  EXPECT_EQ(metrics.waits, 1u);
  EXPECT_EQ(metrics.operations, 0u);
}

TEST_F(StreamMetrics, CountWhatCoordinatorsAndGraphsEnqueue) {
  const Stream first = device.create_stream(), second = device.create_stream();
  coord::Coordinator coordinator(device);
  const auto launch = [](coord::StreamRef stream) { stream.launch({}); };
  const auto before = coordinator.submit({.stream = first}, launch);
  coordinator.wait(coordinator.submit({.stream = second, .after = {before}}, launch));
  EXPECT_EQ(first.metrics().operations, 1u);
  EXPECT_EQ(first.metrics().records, 1u);
  EXPECT_EQ(second.metrics().operations, 1u);
  EXPECT_EQ(second.metrics().waits, 1u);
  EXPECT_EQ(second.metrics().launches(), 1u);

  first.begin_capture();
  first.launch({});
  const coord::ExecutableGraph graph = first.end_capture().instantiate();
  graph.launch(second);
  EXPECT_EQ(first.metrics().of(WorkKind::kKernel).count, 2u) << "captured calls count";
  EXPECT_EQ(second.metrics().of(WorkKind::kGraph).count, 1u);
  EXPECT_EQ(second.metrics().launches(), 2u);
}

TEST_F(StreamMetrics, FailuresAreNotCountedAndANewStreamStartsAtZero) {
  {
    const Stream gone = device.create_stream();
    gone.launch({});
    EXPECT_THROW(gone.memset(nullptr, 0, 16), coord::Error);
    EXPECT_EQ(gone.metrics().of(WorkKind::kMemset).count, 0u);
  }
  EXPECT_EQ(device.create_stream().metrics().launches(), 0u) << "its entry may be an old one's";
}

TEST_F(StreamMetrics, MemoryBelongsToTheStreamThatAllocatedItWhoeverFreesIt) {
  const Stream owner = device.create_stream(), other = device.create_stream();
  void* const first = owner.allocate_async(1000);
  void* const second = owner.allocate_async(500);
  EXPECT_EQ(owner.metrics().memory_bytes, 1500u);
  owner.synchronize();
  other.free_async(first);
  EXPECT_EQ(owner.metrics().memory_bytes, 500u);
  EXPECT_EQ(other.metrics().memory_bytes, 0u);
  EXPECT_THROW(other.free_async(first), coord::Error);
  EXPECT_EQ(owner.metrics().memory_bytes, 500u) << "what fails changes nothing";
  owner.free_async(second);
  void* const third = owner.allocate_async(800);
  EXPECT_EQ(owner.metrics().memory_bytes, 800u);
  EXPECT_EQ(owner.metrics().peak_memory_bytes, 1500u);
  owner.free_async(third);
  void* left = nullptr;
  {
    const Stream gone = device.create_stream();
    left = gone.allocate_async(64);
    gone.synchronize();
  }
  const Stream next = device.create_stream();  // in the entry of the one that is gone
  other.free_async(left);
  EXPECT_EQ(next.metrics().memory_bytes, 0u);
  other.synchronize();
}

TEST_F(StreamMetrics, MayBeReadByOtherThreads) {
  std::atomic<bool> done{false};
  std::thread reader([&] {
    std::uint64_t last = 0;
    while (!done) {
      const std::uint64_t now = stream.metrics().launches();
      EXPECT_GE(now, last);
      last = now;
    }
  });
  for (int i = 0; i < 1000; ++i) stream.launch({});
  done = true;
  reader.join();
  EXPECT_EQ(stream.metrics().launches(), 1000u);
}

TEST_F(ManagedMemory, IsReadAndWrittenByHostAndDevice) {
  const auto numbers = device.allocate_managed<float>(256);
  for (float& number : numbers) number = 3;
  stream.prefetch_to_device(numbers.data(), numbers.bytes());
  stream.launch({.transform = {numbers.data(), numbers.data(), 256, 2.0f, 1.0f}});
  stream.prefetch_to_host(numbers.data(), numbers.bytes());
  stream.synchronize();
  for (const float number : numbers) EXPECT_EQ(number, 7.0f);
}

TEST_F(ManagedMemory, APrefetchTakesTimeOnlyIfThePagesAreElsewhere) {
  fake_observer::start();
  const auto bytes = device.allocate_managed<std::byte>(64 << 20);
  for (int i = 0; i < 2; ++i) stream.prefetch_to_device(bytes.data(), bytes.bytes());
  stream.prefetch_to_host(bytes.data(), bytes.bytes());
  stream.synchronize();
  const auto observed = fake_observer::stop();
  std::vector<std::int64_t> took;
  for (const fake_observer::Op& op : observed.ops) {
    if (op.name.starts_with("prefetch")) took.push_back(op.facts.end_ns - op.facts.begin_ns);
  }
  ASSERT_EQ(took.size(), 3u);
  EXPECT_GT(took[0], 1'000'000) << "64 MiB over a bus";
  EXPECT_LT(took[1], 10'000);
  EXPECT_GT(took[2], 1'000'000);
}

TEST_F(ManagedMemory, NothingElseIsPrefetched) {
  const auto memory = device.allocate<float>(16);
  const auto host = device.allocate_host<float>(16);
  const auto managed = device.allocate_managed<float>(16);
  float own = 0;
  for (const void* address :
       {static_cast<const void*>(memory.data()), static_cast<const void*>(host.data()),
        static_cast<const void*>(&own)}) {
    EXPECT_EQ(kind_thrown([&] { stream.prefetch_to_device(address, 4); }),
              ErrorKind::kInvalidArgument);
    EXPECT_EQ(kind_thrown([&] { stream.prefetch_to_host(address, 4); }),
              ErrorKind::kInvalidArgument);
  }
  EXPECT_EQ(kind_thrown([&] { stream.prefetch_to_host(managed.data(), 4 * managed.bytes()); }),
            ErrorKind::kInvalidArgument);
}

TEST_F(MemoryKinds, AreDistinguished) {
  const std::vector<float> plain(4);
  const auto host = device.allocate_host<float>(4);
  const auto memory = device.allocate<float>(4);
  const auto managed = device.allocate_managed<float>(4);
  EXPECT_EQ(device.memory_kind(plain.data()), MemoryKind::kPageable);
  EXPECT_EQ(device.memory_kind(&host[3]), MemoryKind::kPinned);
  EXPECT_EQ(device.memory_kind(memory.data()), MemoryKind::kDevice);
  EXPECT_EQ(device.memory_kind(managed.data() + 1), MemoryKind::kManaged);
  EXPECT_STREQ(to_string(MemoryKind::kPinned), "Pinned");
}

}  // namespace
