// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Groups of streams, the same on every backend. Gates hold streams, so that a missing order shows
// as a wrong number.

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "conformance/backends.h"

namespace conformance {
namespace {

using namespace std::chrono_literals;
using coord::OperationHandle;
using coord::StreamRef;

class Groups : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    for (int i = 0; i < 3; ++i) streams_.push_back(stream());
    coordinator_.emplace(device());
    const std::vector<StreamRef> refs(streams_.begin(), streams_.end());
    group_.emplace(*coordinator_, refs);
  }

  /// Work that changes the number x there to a * x + b.
  static auto change(const Cell& cell, float a, float b) {
    return [target = cell.data(), a, b](StreamRef stream) {
      stream.launch({.transform = {target, target, 1, a, b}});
    };
  }
  OperationHandle give(std::size_t stream, const std::function<void(StreamRef)>& function) {
    return group()->submit({.stream = (*group())[stream]}, function);
  }

  coord::Coordinator& coordinator() { return *coordinator_; }
  coord::StreamGroup* group() { return &*group_; }

 private:
  std::vector<coord::Stream> streams_;
  std::optional<coord::Coordinator> coordinator_;
  std::optional<coord::StreamGroup> group_;
};
CONFORMANCE_SUITE(Groups);

TEST_P(Groups, StreamsMayDependOnEachOtherInTurn) {
  Cell cell(device());
  Gate gate(device());
  give(0, [&](StreamRef stream) { gate.close(stream); });
  for (int round = 0; round < 5; ++round) {
    give(0, change(cell, 2, 1));
    group()->add_dependency((*group())[1], (*group())[0]);
    give(1, change(cell, 3, 0));
    group()->add_dependency((*group())[0], (*group())[1]);
  }
  gate.open();
  group()->wait();
  float expected = 0;
  for (int round = 0; round < 5; ++round) expected = (2 * expected + 1) * 3;
  EXPECT_EQ(cell.value(), expected);
}

TEST_P(Groups, ABarrierHoldsEveryStreamUntilAllHavePassed) {
  for (std::size_t held = 0; held < 3; ++held) {
    Cell cell(device());
    Gate gate(device());
    give(held, [&](StreamRef stream) { gate.close(stream); });
    give(held, change(cell, 1, 5));
    group()->barrier();
    const OperationHandle after = give((held + 1) % 3, change(cell, 10, 0));
    EXPECT_FALSE(coordinator().wait_for(after, 2ms));
    gate.open();
    group()->wait();
    EXPECT_EQ(cell.value(), 50.0f) << "with stream " << held << " held";
  }
}

TEST_P(Groups, WorkNotYetSubmittedKeepsItsPlace) {
  Cell cell(device());
  const OperationHandle first = group()->register_operation({.stream = (*group())[0]});
  give(0, change(cell, 10, 0));
  group()->add_dependency((*group())[1], (*group())[0]);
  give(1, change(cell, 1, 2));
  EXPECT_EQ(coordinator().metrics().submitted, 0u);
  coordinator().submit(first, change(cell, 1, 1));
  group()->wait();
  EXPECT_EQ(cell.value(), 12.0f);
}

TEST_P(Groups, CallsBackAfterAllOfThem) {
  Gate gate(device());
  for (std::size_t i = 0; i < 3; ++i) {
    if (i == 1) give(i, [&](StreamRef stream) { gate.close(stream); });
    give(i, [](StreamRef stream) { stream.launch({}); });
  }
  std::promise<coord::Outcome> called;
  group()->on_complete([&](const coord::Outcome& outcome) { called.set_value(outcome); });
  std::future<coord::Outcome> outcome = called.get_future();
  EXPECT_EQ(outcome.wait_for(5ms), std::future_status::timeout);
  gate.open();
  ASSERT_EQ(outcome.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(outcome.get().state, coord::OperationState::kCompleted);
}

/// The CUDA context that is the calling thread's current one, if there is CUDA.
void* current_context() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return nullptr;
  const auto get = reinterpret_cast<int (*)(void**)>(dlsym(library, "cuCtxGetCurrent"));
  void* context = nullptr;
  EXPECT_EQ(get(&context), 0);
  return context;
}

TEST_P(Groups, ThreadsOfParallelExecutionHaveTheContextOfTheirStream) {
  Cell cell(device());
  void* expected = nullptr;
  {
    const coord::CurrentDevice current(device());
    expected = current_context();
  }
  EXPECT_EQ(expected != nullptr, !device().simulated());
  std::atomic<int> right{0};
  const std::vector<std::function<void(StreamRef)>> pieces(6, [&](StreamRef stream) {
    if (current_context() == expected) ++right;
    if (stream == (*group())[0]) change(cell, 1, 1)(stream);
  });
  const std::thread::id caller = std::this_thread::get_id();
  const OperationHandle later = group()->register_operation({.stream = (*group())[2]});
  (void)group()->execute_parallel(pieces);  // those of the last stream are deferred
  EXPECT_EQ(right, 4);
  coordinator().submit(later, [&](StreamRef) { EXPECT_EQ(std::this_thread::get_id(), caller); });
  group()->wait();
  EXPECT_EQ(right, 6) << "deferred ones have it as well";
  EXPECT_EQ(cell.value(), 2.0f);
}

}  // namespace
}  // namespace conformance
