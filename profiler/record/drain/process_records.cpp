// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How each kind of record is read, and which part of the process receives it.

#include <algorithm>
#include <array>
#include <string>

#include "process_drain.h"
#include "record/run/progress.h"

namespace streamscope::record {

using ring::RecordKind;

struct ProcessDrain::Readers {
  using Read = size_t (*)(ProcessDrain& drain, Lane& lane, size_t index, size_t limit);

  /// A record for one part, for some with its thread; parts with a result return whether the record
  /// was valid.
  template <class Record, auto kPart>
  static size_t part(ProcessDrain& drain, Lane& lane, size_t index, size_t) {
    const auto record = as<Record>(lane.pending[index]);
    auto& taker = drain.*kPart;
    if constexpr (requires { taker.describe(record, lane.tid); }) {
      taker.describe(record, lane.tid);
    } else if constexpr (requires { bool{taker.describe(record)}; }) {
      if (!taker.describe(record)) drain.invalid();
    } else {
      taker.describe(record);
    }
    return 1;
  }
  /// A record about the process itself.
  template <class Record>
  static size_t own(ProcessDrain& drain, Lane& lane, size_t index, size_t) {
    drain.describe(as<Record>(lane.pending[index]));
    return 1;
  }
  /// A record that a member function reads, alone or with following ones.
  template <auto kMember>
  static size_t member(ProcessDrain& drain, Lane& lane, size_t index, size_t limit) {
    if constexpr (requires { size_t{(drain.*kMember)(lane, index, limit)}; }) {
      return (drain.*kMember)(lane, index, limit);
    } else {
      (drain.*kMember)(lane, index);
      return 1;
    }
  }
  static size_t nothing(ProcessDrain&, Lane&, size_t, size_t) { return 1; }
  static size_t invalid(ProcessDrain& drain, Lane&, size_t, size_t) { return drain.invalid(), 1; }

  static constexpr size_t kKinds = static_cast<size_t>(RecordKind::kWaitLinks) + 1;
  static const std::array<Read, kKinds> by_kind;
};

constexpr std::array<ProcessDrain::Readers::Read, ProcessDrain::Readers::kKinds>
    ProcessDrain::Readers::by_kind = [] {
      using P = ProcessDrain;
      std::array<Read, kKinds> table{};
      table.fill(invalid);
      const auto set = [&](Read read, std::initializer_list<RecordKind> kinds) {
        for (const RecordKind kind : kinds) table[static_cast<size_t>(kind)] = read;
      };
      using enum RecordKind;
      set(member<&P::read_text>, {kText});
      set(own<ring::ProcessRecord>, {kProcess});
      set(member<&P::read_thread>, {kThread});
      set(part<ring::NameRecord, &P::objects_>, {kName});
      set(part<ring::ModuleRecord, &P::stacks_>, {kModule});
      set(member<&P::read_stack>, {kStack});
      set(member<&P::read_call>, {kCall});
      set(part<ring::RangeRecord, &P::annotations_>,
          {kRangePush, kRangePop, kRangeStart, kRangeEnd, kMark});
      set(part<ring::CommunicatorRecord, &P::annotations_>, {kCommunicator});
      set(member<&P::read_op>, {kKernel, kMemcpy, kMemset, kGraphLaunch, kDeviceWork});
      set(part<ring::LaunchShapeRecord, &P::work_>, {kLaunchShape});
      set(own<ring::SyncWitnessRecord>, {kSyncWitness});
      set(own<ring::OverheadRecord>, {kOverhead});
      set(part<ring::CorrelationRecord, &P::correlations_>, {kCorrelation});
      set(part<ring::GraphRecord, &P::graphs_>, {kGraph});
      set(part<ring::GraphNodeRecord, &P::graphs_>, {kGraphNode});
      set(part<ring::GraphEdgeRecord, &P::graphs_>, {kGraphEdge});
      set(part<ring::OperationRecord, &P::operations_>, {kOperation});
      set(part<ring::OperationDependenciesRecord, &P::operations_>, {kOperationDependencies});
      set(part<ring::OperationStateRecord, &P::operations_>, {kOperationState});
      set(part<ring::OperationsCompletedRecord, &P::operations_>, {kOperationsCompleted});
      set(part<ring::PoolRecord, &P::operations_>, {kPool});
      set(part<ring::PoolSampleRecord, &P::operations_>, {kPoolSample});
      set(part<ring::BarrierRecord, &P::operations_>, {kBarrier});
      set(part<ring::BarrierStreamRecord, &P::operations_>, {kBarrierStream});
      set(part<ring::BarrierArrivalRecord, &P::operations_>, {kBarrierArrival});
      set(part<ring::TimelineRecord, &P::operations_>, {kTimeline});
      set(part<ring::TimelinePointRecord, &P::operations_>, {kTimelinePoint});
      set(part<ring::TaskQueueRecord, &P::tasks_>, {kTaskQueue});
      set(part<ring::TaskRunRecord, &P::tasks_>, {kTaskRun});
      set(part<ring::TaskRecord, &P::tasks_>, {kTask});
      set(part<ring::AccessRecord, &P::accesses_>, {kAccess});
      set(part<ring::KernelArgumentsRecord, &P::accesses_>, {kKernelArguments});
      set(part<ring::TensorBlockRecord, &P::tensor_blocks_>, {kTensorBlock});
      set(nothing, {kDropped});  // counted from the ring's header
      set(own<ring::LossRecord>, {kLoss});
      set(own<ring::EndRecord>, {kEnd});
      set(own<ring::AnswerRecord>, {kAnswer});
      set(nothing, {kDump});  // for a flight recorder, which has processed it
      set(part<ring::WaitsRecord, &P::coord_waits_>, {kWaits});
      set(part<ring::WaitPartyRecord, &P::coord_waits_>, {kWaitParty});
      set(part<ring::WaitLinksRecord, &P::coord_waits_>, {kWaitLinks});
      return table;
    }();

size_t ProcessDrain::read(Lane& lane, size_t index, size_t limit) {
  const ring::Record& record = lane.pending[index];
  moved_ += is_progress(record);
  const auto kind = static_cast<size_t>(record.head.kind);
  if (kind >= Readers::kKinds) return invalid(), 1;
  return Readers::by_kind[kind](*this, lane, index, limit);
}

void ProcessDrain::read_op(Lane& lane, size_t index) {
  const auto op = as<ring::OpRecord>(lane.pending[index]);
  if ((op.flags & ring::kVirtualTime) != 0 && op.end_ns > 0)
    see(static_cast<uint64_t>(op.end_ns), op.flags);
  work_.describe(op);
}

void ProcessDrain::read_thread(Lane& lane, size_t index) {
  const auto record = as<ring::ThreadRecord>(lane.pending[index]);
  objects_.describe(record);
  host_samples_.describe(record);
  lane.tid = record.tid;
  lane.thread = objects_.thread(record.tid);
}

// The chunks are consecutive. They are read once all of them have arrived, so that they are either
// stored or still in the ring whenever its writer is killed.
template <class Record, class Take, class Whole>
size_t ProcessDrain::read_chunks(Lane& lane, size_t index, size_t limit, size_t chunks, Take take,
                                 Whole whole) {
  const auto first = as<Record>(lane.pending[index]);
  const size_t most_chunks = std::min<uint64_t>(lane.ring.most_records(), kPiece) / 2;
  for (size_t i = 0; i < chunks; ++i) {
    if (index + i >= limit) {
      // The rest will follow, unless it exceeds the maximum that is ever pending at once.
      if (chunks < most_chunks && watermark_ != kNoLimit) return 0;
      return invalid(), std::max<size_t>(i, 1);
    }
    const auto chunk = as<Record>(lane.pending[index + i]);
    if (chunk.kind != first.kind || chunk.hash != first.hash || !take(chunk))
      return invalid(), std::max<size_t>(i, 1);
  }
  whole();
  return chunks;
}

size_t ProcessDrain::read_text(Lane& lane, size_t index, size_t limit) {
  const auto first = as<ring::TextRecord>(lane.pending[index]);
  constexpr size_t kChunk = sizeof first.bytes;
  const size_t chunks = std::max<size_t>((size_t{first.total_bytes} + kChunk - 1) / kChunk, 1);
  if (first.offset != 0) return invalid(), 1;
  std::string text;
  const auto take = [&](const ring::TextRecord& chunk) {
    if (chunk.offset != text.size() || chunk.chunk_bytes > kChunk) return false;
    text.append(chunk.bytes, chunk.chunk_bytes);
    return true;
  };
  return read_chunks<ring::TextRecord>(lane, index, limit, chunks, take, [&] {
    if (text.size() != first.total_bytes || !run_.texts.add(first.hash, std::move(text))) invalid();
  });
}

size_t ProcessDrain::read_stack(Lane& lane, size_t index, size_t limit) {
  const auto first = as<ring::StackRecord>(lane.pending[index]);
  constexpr size_t kChunk = std::size(decltype(first.frames){});
  const size_t chunks = std::max<size_t>((size_t{first.total_frames} + kChunk - 1) / kChunk, 1);
  const bool is_named = static_cast<uint32_t>(first.hash) != 0;
  if (first.first_frame != 0 || !is_named) return invalid(), 1;
  std::vector<Stacks::Frame> frames;
  const auto take = [&](const ring::StackRecord& chunk) {
    if (chunk.first_frame != frames.size() || chunk.frame_count > kChunk) return false;
    for (uint32_t frame = 0; frame < chunk.frame_count; ++frame)
      frames.push_back({chunk.frames[frame], (chunk.texts >> frame & 1) != 0});
    return true;
  };
  return read_chunks<ring::StackRecord>(lane, index, limit, chunks, take,
                                        [&] { stacks_.describe(first.hash, frames); });
}

}  // namespace streamscope::record
