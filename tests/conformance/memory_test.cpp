// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Stream-ordered memory, copies between devices, and kernels that spin on memory.

#include "conformance/backends.h"

namespace conformance {
namespace {

using namespace std::chrono_literals;

class Memory : public OnDevice {};
CONFORMANCE_SUITE(Memory);

TEST_P(Memory, StreamOrderedAllocationServesTheWorkBetween) {
  Cell cell(device());
  const coord::Stream stream = this->stream();
  for (int i = 1; i <= 3; ++i) {
    auto* const memory = static_cast<float*>(stream.allocate_async(1024 * sizeof(float)));
    stream.memset(memory, 0, sizeof(float));
    stream.launch({.transform = {memory, memory, 1, 1.0f, static_cast<float>(i)}});
    stream.copy(cell.data(), memory, sizeof(float));
    stream.free_async(memory);
    stream.synchronize();
    EXPECT_EQ(cell.value(), static_cast<float>(i));
  }
}

TEST_P(Memory, MayBeFreedInAnotherStreamThatIsOrderedAfterItsUse) {
  Cell cell(device());
  Gate gate(device());
  const coord::Stream uses = stream(), frees = stream();
  const coord::Event used = event();
  auto* const memory = static_cast<float*>(uses.allocate_async(sizeof(float)));
  gate.close(uses);
  set(uses, memory, 8);
  uses.copy(cell.data(), memory, sizeof(float));
  uses.record(used);
  frees.wait(used);
  frees.free_async(memory);
  gate.open();
  frees.synchronize();
  EXPECT_EQ(cell.value(), 8.0f);
}

TEST_P(Memory, AllocationOfNothingIsRefused) {
  const coord::Stream stream = this->stream();
  EXPECT_THROW((void)stream.allocate_async(0), coord::Error);
}

TEST_P(Memory, AllocationInAStreamOfTooMuchIsRefused) {
  const coord::Stream stream = this->stream();
  try {
    (void)stream.allocate_async(std::size_t{1} << 46);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const coord::Error& error) {
    EXPECT_EQ(error.kind(), coord::ErrorKind::kOutOfMemory) << error.what();
  }
}

TEST_P(Memory, PeerCopyWithinOneDeviceIsACopy) {
  Cell from(device()), to(device());
  const coord::Stream stream = this->stream();
  set(stream, from.data(), 12);
  stream.copy_peer(device(), to.data(), device(), from.data(), sizeof(float));
  stream.synchronize();
  EXPECT_EQ(to.value(), 12.0f);
}

TEST_P(Memory, ReachesTheOtherDevice) {
  std::vector<coord::Device> devices;
  if (device().simulated()) {
    devices = coord::sim::open_devices({}, 2);
  } else {
    try {
      devices = {device(), coord::Device::open("cuda:1")};
    } catch (const coord::Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  const Cell from(devices[0]);
  Cell to(devices[1]);
  const coord::Stream source = devices[0].create_stream(), target = devices[1].create_stream();
  const coord::Event copied = devices[0].create_event();
  Gate gate(devices[0]);
  gate.close(source);
  set(source, from.data(), 5);
  source.copy_peer(devices[1], to.data(), devices[0], from.data(), sizeof(float));
  source.record(copied);
  target.wait(copied);
  target.launch({.transform = {to.data(), to.data(), 1, 2.0f, 0.0f}});
  EXPECT_FALSE(target.query());
  gate.open();
  target.synchronize();
  EXPECT_EQ(to.value(), 10.0f);
}

TEST_P(Memory, OfAForeignDeviceIsUnreachable) {
  const coord::Device other = coord::Device::open("sim");
  const Cell here(device()), there(other);
  const coord::Stream stream = this->stream();
  EXPECT_THROW(stream.copy_peer(other, there.data(), device(), here.data(), 4), coord::Error);
}

TEST_P(Memory, SpinningKernelWaitsForTheHostsStore) {
  Gate gate(device());
  const coord::Stream stream = this->stream();
  stream.launch({.name = "spin", .spin_address = gate.flag(), .spin_value = 1});
  EXPECT_FALSE(stream.query());
  gate.open();
  stream.synchronize();
}

TEST_P(Memory, SpinningKernelWaitsForAWriteOfAnotherStream) {
  Gate gate(device());
  const coord::Stream spins = this->stream(), writes = this->stream();
  spins.launch({.name = "spin", .spin_address = gate.flag(), .spin_value = 1});
  EXPECT_FALSE(spins.query());
  writes.write_value(gate.flag(), 1);
  spins.synchronize();
}

TEST_P(Memory, BlocksThatFillAMultiprocessorRunInWaves) {
  const coord::Stream stream = this->stream();
  const unsigned count = device().properties().sm_count;
  const auto elapsed = [&](unsigned blocks) {
    const coord::Event start = device().create_event({.event_class = coord::EventClass::kTiming});
    const coord::Event end = device().create_event({.event_class = coord::EventClass::kTiming});
    stream.record(start);
    stream.launch({.duration = 1ms, .blocks = blocks, .blocks_per_sm = 1});
    stream.record(end);
    stream.synchronize();
    return end.elapsed_since(start);
  };
  (void)elapsed(1);
  EXPECT_LT(elapsed(count), 1800us);
  EXPECT_GE(elapsed(2 * count), 1900us);
}

}  // namespace
}  // namespace conformance
