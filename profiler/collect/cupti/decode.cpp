// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/cupti/decode.h"
#include "vocabulary/event_binding.h"

#include <cstddef>
#include <cstring>

namespace streamscope::collect {
namespace {

using ring::OpRecord;
using ring::RecordKind;

static_assert(offsetof(KernelActivity, start) == 16 &&
              offsetof(KernelActivity, correlation_id) == 92 &&
              offsetof(KernelActivity, name) == 104 &&
              offsetof(KernelActivity, graph_node) == 144 &&
              offsetof(KernelActivity, channel) == 168);
static_assert(offsetof(MemcpyActivity, correlation_id) == 44 &&
              offsetof(MemcpyActivity, graph_node) == 64);
static_assert(offsetof(SynchronizationActivity, sync_id) == 40 &&
              sizeof(SynchronizationActivity) == 56);
static_assert(offsetof(CudaEventActivity, device_timestamp) == 40 &&
              sizeof(CudaEventActivity) == 56);
static_assert(offsetof(CallActivity, thread) == 28 && sizeof(CallActivity) == 40);
static_assert(offsetof(OverheadActivity, start) == 24 && sizeof(GraphTraceActivity) == 40);

enum SynchronizationType : uint32_t { kEventSynchronize = 1, kStreamWaitEvent = 2 };

template <class Activity>
OpRecord op_of(RecordKind kind, const Activity& activity) {
  OpRecord op{};
  op.kind = kind;
  op.begin_ns = static_cast<int64_t>(activity.start);
  op.end_ns = static_cast<int64_t>(activity.end);
  // A forced flush delivers unfinished work with end 0 (and start 0 or the same stamp twice), and a
  // kernel without device memory for its stamps has none either.
  if (activity.start == 0 || activity.end == 0) {
    op.begin_ns = op.end_ns = 0;
    op.flags = ring::kUnfinished;
  }
  op.correlation_id = activity.correlation_id;
  op.context = activity.context;
  op.stream = activity.stream;
  op.shape = ring::kNone32;
  op.channel = 0xffff;
  return op;
}

uint16_t channel_of(uint32_t channel) {
  return channel < 0xffff ? static_cast<uint16_t>(channel) : 0xffff;
}

void decode_kernel(const KernelActivity& activity, DecodeSink& sink) {
  OpRecord op = op_of(RecordKind::kKernel, activity);
  if (activity.name != nullptr) op.name = sink.text(activity.name);
  op.graph_node = activity.graph_node;
  op.channel = channel_of(activity.channel);

  ring::LaunchShapeRecord shape{};
  shape.kind = RecordKind::kLaunchShape;
  shape.registers = activity.registers_per_thread;
  for (int i = 0; i < 3; ++i) {
    shape.grid[i] = static_cast<uint32_t>(activity.grid[i]);
    shape.block[i] = static_cast<uint32_t>(activity.block[i]);
  }
  shape.static_shared_bytes = static_cast<uint32_t>(activity.static_shared_bytes);
  shape.dynamic_shared_bytes = static_cast<uint32_t>(activity.dynamic_shared_bytes);
  op.shape = shape.shape = ring::shape_number(shape);
  sink.shape(shape);
  sink.op(op);
}

template <class Activity>
void decode_copy(const Activity& activity, DecodeSink& sink) {
  OpRecord op = op_of(RecordKind::kMemcpy, activity);
  op.detail = activity.copy_kind;
  op.memory_kinds =
      static_cast<uint8_t>(activity.source_kind << 4 | (activity.destination_kind & 15));
  op.bytes = activity.bytes;
  op.graph_node = activity.graph_node;
  op.channel = channel_of(activity.channel);
  sink.op(op);
}

void decode_memset(const MemsetActivity& activity, DecodeSink& sink) {
  OpRecord op = op_of(RecordKind::kMemset, activity);
  op.detail = static_cast<uint8_t>(activity.memory_kind);
  op.bytes = activity.bytes;
  op.graph_node = activity.graph_node;
  op.channel = channel_of(activity.channel);
  sink.op(op);
}

void decode_graph(const GraphTraceActivity& activity, DecodeSink& sink) {
  OpRecord op = op_of(RecordKind::kGraphLaunch, activity);
  op.graph_node = uint64_t{activity.graph}
                  << 32;  // node ids carry their executable graph in the upper half
  sink.op(op);
}

// Before 12.8 these records do not say which record a wait binds to, so they prove nothing.
void decode_synchronization(const SynchronizationActivity& activity, CuptiVersion version,
                            DecodeSink& sink) {
  if (version < kCupti12_8) return;
  if (activity.type != kEventSynchronize && activity.type != kStreamWaitEvent) return;
  ring::SyncWitnessRecord record{};
  record.kind = RecordKind::kSyncWitness;
  record.act =
      activity.type == kStreamWaitEvent ? kWaitAct : kSynchronizeAct;  // also a query: see its call
  record.correlation_id = activity.correlation_id;
  record.sync_id = activity.sync_id;
  record.event = activity.event;
  record.context = activity.context;
  record.stream = activity.stream;
  sink.witness(record);
}

void decode_event(const CudaEventActivity& activity, CuptiVersion version, DecodeSink& sink) {
  if (version < kCupti12_8) return;
  ring::SyncWitnessRecord record{};
  record.kind = RecordKind::kSyncWitness;
  record.act = kRecordAct;
  record.correlation_id = activity.correlation_id;
  record.sync_id = activity.sync_id;
  record.event = activity.event;
  record.context = activity.context;
  record.stream = activity.stream;
  record.device_ns = static_cast<int64_t>(activity.device_timestamp);
  sink.witness(record);
}

void decode_call(const CallActivity& activity, DecodeSink& sink) {
  ring::CorrelationRecord record{};
  record.kind = RecordKind::kCorrelation;
  record.correlation_id = activity.correlation_id;
  record.begin_ns = static_cast<int64_t>(activity.start);
  record.end_ns = static_cast<int64_t>(activity.end);
  record.tid = activity.thread;
  sink.correlation(record, activity.callback_id);
}

void decode_overhead(const OverheadActivity& activity, DecodeSink& sink) {
  ring::OverheadRecord record{};
  record.kind = RecordKind::kOverhead;
  record.overhead_kind = static_cast<uint16_t>(activity.overhead_kind < 1u << 16
                                                   ? activity.overhead_kind
                                                   : activity.overhead_kind >> 16 | 1u << 15);
  record.tid = activity.object_kind == 2 ? activity.thread : ring::kNone32;
  record.begin_ns = static_cast<int64_t>(activity.start);
  record.end_ns = static_cast<int64_t>(activity.end);
  sink.overhead(record);
}

}  // namespace

void decode(const void* record, CuptiVersion version, DecodeSink& sink) {
  uint32_t kind;
  std::memcpy(&kind, record, sizeof kind);
  switch (kind) {
    case kActivityConcurrentKernel:
      return decode_kernel(*static_cast<const KernelActivity*>(record), sink);
    case kActivityMemcpy:
      return decode_copy(*static_cast<const MemcpyActivity*>(record), sink);
    case kActivityMemcpy2:
      return decode_copy(*static_cast<const MemcpyPeerActivity*>(record), sink);
    case kActivityMemset:
      return decode_memset(*static_cast<const MemsetActivity*>(record), sink);
    case kActivityGraphTrace:
      return decode_graph(*static_cast<const GraphTraceActivity*>(record), sink);
    case kActivitySynchronization:
      return decode_synchronization(*static_cast<const SynchronizationActivity*>(record), version,
                                    sink);
    case kActivityCudaEvent:
      return decode_event(*static_cast<const CudaEventActivity*>(record), version, sink);
    case kActivityDriver:
      return decode_call(*static_cast<const CallActivity*>(record), sink);
    case kActivityOverhead:
      return decode_overhead(*static_cast<const OverheadActivity*>(record), sink);
    default:
      return sink.unknown(kind);
  }
}

}  // namespace streamscope::collect
