// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The situations on which PyTorch's CUDA sanitizer is tested (the 20 of its event handler), as our
// own traces: two accesses of which one writes are in order or not, and the verdict must be the
// same.
#include <gtest/gtest.h>

#include <vector>

#include "analysis/order/happens_before.h"
#include "memory_trace.h"

namespace streamscope::analysis {
namespace {

// Kernels that read and write tensors, one after the other as the host issues them.
class TensorProgram : public MemoryTrace {
 public:
  Id stream(size_t index) {
    while (streams_.size() <= index) streams_.push_back(add_stream());
    return streams_[index];
  }
  void launch(size_t on, const std::vector<int>& reads, const std::vector<int>& writes = {}) {
    const Id id = op(++now_, stream(on));
    for (int tensor : reads) accesses_.push_back({id, tensor, false});
    for (int tensor : writes) accesses_.push_back({id, tensor, true});
    newest_ = id;
  }
  Id record_on(size_t on) { return record(++now_, stream(on)); }
  void wait_on(size_t on, Id record) { wait(++now_, stream(on), record); }
  void synchronize_device() {
    sync(trace::kDeviceSynchronize, now_ + 1, now_ + 2);
    now_ += 2;
  }
  void synchronize_stream(size_t on) {
    sync(trace::kStreamSynchronize, now_ + 1, now_ + 2, stream(on));
    now_ += 2;
  }
  void synchronize_event(Id record) {
    sync(trace::kEventSynchronize, now_ + 1, now_ + 2, kNoId, record);
    now_ += 2;
  }
  /// Tensors that the newest kernel uses without being ordered after an earlier conflicting use.
  size_t races() const {
    const IssueOrder order(trace);
    const HappensBefore before(order);
    std::vector<int> tensors;
    for (const Access& later : accesses_) {
      if (later.op != newest_) continue;
      for (const Access& earlier : accesses_) {
        if (earlier.op == later.op || earlier.tensor != later.tensor) continue;
        if (!earlier.write && !later.write) continue;
        if (before.ordered(earlier.op, later.op)) continue;
        tensors.push_back(later.tensor);
        break;
      }
    }
    return tensors.size();
  }
  void next() { ++now_; }
  Ns now() const { return now_; }

 private:
  struct Access {
    Id op;
    int tensor;
    bool write;
  };
  std::vector<Access> accesses_;
  std::vector<Id> streams_;
  Id newest_ = kNoId;
  Ns now_ = 10;
};

TEST(SanitizerCases, AKernelWithoutTensorsIsFine) {
  TensorProgram p;
  p.launch(0, {});
  EXPECT_EQ(p.races(), 0u);
}

TEST(SanitizerCases, TwoReadersNeedNoOrder) {
  TensorProgram p;
  p.launch(1, {1});
  p.launch(2, {1});
  EXPECT_EQ(p.races(), 0u);
}

TEST(SanitizerCases, AWriterAfterAReaderOnAnotherStreamRaces) {
  TensorProgram p;
  p.launch(1, {1});
  p.launch(2, {}, {1});
  EXPECT_EQ(p.races(), 1u);
}

TEST(SanitizerCases, AnEventBetweenThemMakesItFine) {
  TensorProgram p;
  p.launch(1, {1});
  p.wait_on(2, p.record_on(1));
  p.launch(2, {}, {1});
  EXPECT_EQ(p.races(), 0u);
}

TEST(SanitizerCases, EveryReaderIsCheckedAgainstTheLastWriteNotOnlyTheFirst) {
  TensorProgram p;
  p.launch(1, {}, {1});
  p.wait_on(2, p.record_on(1));
  p.launch(2, {1});
  EXPECT_EQ(p.races(), 0u);
  p.launch(3, {1});
  EXPECT_EQ(p.races(), 1u);
}

TEST(SanitizerCases, TwoBranchesMayReadAndNeitherMayWrite) {
  TensorProgram p;
  p.launch(1, {}, {1});
  const Id record = p.record_on(1);
  p.wait_on(2, record);
  p.wait_on(3, record);
  p.launch(2, {1});
  EXPECT_EQ(p.races(), 0u);
  p.launch(3, {1});
  EXPECT_EQ(p.races(), 0u);
  p.launch(2, {}, {1});
  EXPECT_EQ(p.races(), 1u);
}

TEST(SanitizerCases, AChainOfEventsOrdersItsEnds) {
  TensorProgram p;
  p.launch(0, {1});
  for (size_t i = 0; i < 10; ++i) p.wait_on(i + 1, p.record_on(i));
  p.launch(10, {}, {1});
  EXPECT_EQ(p.races(), 0u);
}

TEST(SanitizerCases, ARecordDoesNotCoverWhatItsStreamDoesAfterIt) {
  TensorProgram p;
  p.launch(1, {1});
  const Id record = p.record_on(1);
  p.launch(1, {1});
  p.wait_on(2, record);
  p.launch(2, {}, {1});
  EXPECT_EQ(p.races(), 1u);
}

TEST(SanitizerCases, AnEventDestroyedOrCreatedAgainIsForgotten) {
  for (auto [destroyed, created] : {std::pair(true, true), {true, false}, {false, true}}) {
    TensorProgram p;
    const Id old_event = append(p.trace, trace::Event{.generation = 0});
    p.launch(1, {1});
    p.record_on(1);
    p.next();
    if (destroyed) p.trace.event.destroyed_ns[old_event] = p.now();
    const Id waited =
        created ? append(p.trace, trace::Event{.generation = 1, .created_ns = p.now()}) : old_event;
    // The handle no longer refers to a recorded event: the wait is a no-op.
    p.next();
    const Id wait = p.wait(p.now(), p.stream(2), kNoId, trace::kNeverRecorded);
    p.trace.event_wait.event_id[wait] = waited;
    p.launch(2, {}, {1});
    EXPECT_EQ(p.races(), 1u) << destroyed << created;
  }
}

TEST(SanitizerCases, OneReaderOfTenThatWasNotWaitedForRaces) {
  TensorProgram p;
  std::vector<Id> records;
  for (size_t i = 1; i <= 10; ++i) {
    p.launch(i, {1});
    records.push_back(p.record_on(i));
  }
  for (size_t i = 0; i + 1 < records.size(); ++i) p.wait_on(0, records[i]);
  p.launch(0, {}, {1});
  EXPECT_EQ(p.races(), 1u);
}

TEST(SanitizerCases, AWriterThatWaitsForAllReadersIsFine) {
  TensorProgram p;
  std::vector<Id> records;
  for (size_t i = 1; i < 10; ++i) {
    p.launch(i, {1});
    records.push_back(p.record_on(i));
  }
  for (Id record : records) p.wait_on(0, record);
  p.launch(0, {}, {1});
  EXPECT_EQ(p.races(), 0u);
}

TEST(SanitizerCases, EveryTensorIsReportedSeparately) {
  TensorProgram p;
  const std::vector<int> tensors{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  p.launch(0, {}, tensors);
  p.launch(1, {}, tensors);
  EXPECT_EQ(p.races(), 10u);
}

TEST(SanitizerCases, AWaitAddsToWhatAStreamKnewAndForgetsNothing) {
  TensorProgram p;
  p.launch(1, {}, {1});
  p.launch(2, {}, {2});
  const Id first = p.record_on(1), second = p.record_on(2);
  p.launch(1, {}, {1});
  p.launch(2, {}, {2});
  p.wait_on(2, first);
  p.wait_on(1, second);
  p.wait_on(1, p.record_on(2));
  p.launch(1, {}, {1, 2});
  EXPECT_EQ(p.races(), 0u);
}

TEST(SanitizerCases, AReRecordedEventCoversItsNewestRecordOnly) {
  TensorProgram p;
  p.launch(1, {1});
  p.launch(2, {2});
  p.record_on(1);
  const Id newest = p.record_on(2);
  p.wait_on(3, newest);
  p.launch(3, {}, {1});
  EXPECT_EQ(p.races(), 1u);
}

TEST(SanitizerCases, OneEventMayBeWaitedForByManyStreams) {
  TensorProgram p;
  p.launch(1, {}, {1});
  const Id record = p.record_on(1);
  p.wait_on(2, record);
  p.wait_on(3, record);
  p.launch(2, {1});
  EXPECT_EQ(p.races(), 0u);
  p.launch(3, {1});
  EXPECT_EQ(p.races(), 0u);
}

TEST(SanitizerCases, ADeviceSyncOrdersAllStreams) {
  TensorProgram p;
  std::vector<int> tensors;
  for (int i = 1; i < 10; ++i) {
    p.launch(static_cast<size_t>(i), {}, {i});
    tensors.push_back(i);
  }
  p.synchronize_device();
  p.launch(0, {}, tensors);
  EXPECT_EQ(p.races(), 0u);
}

TEST(SanitizerCases, ADeviceSyncCoversNothingThatCameAfterIt) {
  TensorProgram p;
  p.launch(1, {}, {1});
  p.synchronize_device();
  p.launch(1, {}, {1});
  EXPECT_EQ(p.races(), 0u);
  p.launch(2, {}, {1});
  EXPECT_EQ(p.races(), 1u);
}

TEST(SanitizerCases, AStreamMadeAfterASyncKnowsWhatItCovered) {
  TensorProgram p;
  p.launch(1, {}, {1});
  p.synchronize_device();
  p.launch(2, {}, {1});  // the stream is created here
  EXPECT_EQ(p.races(), 0u);
}

TEST(SanitizerCases, AStreamSyncCoversItsStreamForAllAndNoOtherStream) {
  TensorProgram p;
  p.launch(0, {}, {1});
  p.launch(1, {}, {2});
  p.synchronize_stream(0);
  p.launch(2, {1});
  EXPECT_EQ(p.races(), 0u);
  p.launch(3, {1});
  EXPECT_EQ(p.races(), 0u);
  p.launch(4, {2});
  EXPECT_EQ(p.races(), 1u);
}

TEST(SanitizerCases, AnEventSyncCoversTheWorkOfTheEvent) {
  TensorProgram p;
  p.launch(1, {}, {1});
  const Id record = p.record_on(1);
  p.launch(1, {}, {2});
  p.synchronize_event(record);
  p.launch(2, {}, {1});
  EXPECT_EQ(p.races(), 0u);
  p.launch(2, {}, {2});
  EXPECT_EQ(p.races(), 1u);
}

}  // namespace
}  // namespace streamscope::analysis
