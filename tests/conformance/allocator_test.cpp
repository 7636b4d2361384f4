// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Stream-ordered memory: what a stream gets, nobody else still uses.

#include "conformance/backends.h"

#include <array>

namespace conformance {
namespace {

using namespace std::chrono_literals;

class Allocating : public OnDevice {};
CONFORMANCE_SUITE(Allocating);

TEST_P(Allocating, MemoryOfAStreamThatIsStillBusyIsNotGivenToAnother) {
  Gate gate(device());
  Cell seen(device());
  coord::Coordinator coordinator(device());
  coord::StreamOrderedAllocator memory(coordinator);
  const coord::Stream first = stream(), second = stream();
  auto* const number = static_cast<float*>(memory.allocate(first, sizeof(float)));
  const auto use = coordinator.submit({.stream = first}, [&](coord::StreamRef on) {
    set(on, number, 3);
    gate.close(on);
    on.copy(seen.data(), number, sizeof(float));
  });
  memory.free(first, number);
  auto* const other = static_cast<float*>(memory.allocate(second, sizeof(float)));
  EXPECT_NE(other, number);
  coordinator.wait(
      coordinator.submit({.stream = second}, [&](coord::StreamRef on) { set(on, other, 5); }));
  gate.open();
  coordinator.wait(use);
  EXPECT_EQ(seen.value(), 3.0f);
}

TEST_P(Allocating, ChainsAcrossStreamsUseOneBlockOfMemory) {
  coord::Coordinator coordinator(device());
  coord::StreamOrderedAllocator memory(coordinator);
  Cell sum(device());
  std::array<coord::Stream, 3> streams{stream(), stream(), stream()};
  coord::OperationHandle last;
  for (int i = 1; i <= 30; ++i) {
    const coord::Stream& on = streams[static_cast<std::size_t>(i) % 3];
    coord::OperationOptions options{.stream = on};
    if (last.id().valid()) options.after.push_back(last);
    last = coordinator.submit(options, [&](coord::StreamRef at) {
      auto* const number = static_cast<float*>(memory.allocate(at, 4096));
      set(at, number, static_cast<float>(i));
      at.launch({.duration = 20us, .transform = {number, number, 1, 2.0f, 0.0f}});
      at.copy(sum.data(), number, sizeof(float));
      memory.free(at, number);
    });
  }
  coordinator.wait(last);
  EXPECT_EQ(sum.value(), 60.0f);
  EXPECT_EQ(memory.statistics().grown, 1u);
  EXPECT_EQ(memory.statistics().waits, 0u);
}

TEST_P(Allocating, TooMuchIsRefusedAndTheRestContinues) {
  coord::Coordinator coordinator(device());
  coord::StreamOrderedAllocator memory(coordinator);
  const coord::Stream on = stream();
  try {
    (void)memory.allocate(on, std::size_t{1} << 39);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const coord::Error& error) {
    EXPECT_EQ(error.kind(), coord::ErrorKind::kOutOfMemory) << error.what();
  }
  EXPECT_NE(memory.allocate(on, 1000), nullptr);
}

TEST_P(Allocating, AGraphCanBeLaunchedOnMemoryAllocatedInItsCapture) {
  coord::Coordinator coordinator(device());
  coord::StreamOrderedAllocator memory(coordinator);
  Cell seen(device());
  const coord::Stream on = stream();
  on.begin_capture();
  coordinator.submit({.stream = on}, [&](coord::StreamRef at) {
    auto* const number = static_cast<float*>(memory.allocate(at, sizeof(float)));
    set(at, number, 7);
    at.copy(seen.data(), number, sizeof(float));
    memory.free(at, number);
  });
  const coord::Graph graph = on.end_capture();
  auto* const later = static_cast<float*>(memory.allocate(on, sizeof(float)));
  set(on, later, 1);
  const coord::ExecutableGraph executable = graph.instantiate();
  for (int i = 0; i < 3; ++i) executable.launch(on);
  on.synchronize();
  EXPECT_EQ(seen.value(), 7.0f);
}

}  // namespace
}  // namespace conformance
