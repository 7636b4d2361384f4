// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "ordering.h"
#include "vocabulary/call_kind.h"
#include "vocabulary/copy_kind.h"
#include "vocabulary/memory_kind.h"

namespace streamscope::analysis {

StreamRole role_of(const Trace& trace, Id stream) {
  StreamRole role;
  if (trace.stream.context_id[stream] >= trace.context.size()) return role;
  role.context = trace.stream.context_id[stream];
  const trace::Small kind = trace.stream.kind[stream];
  role.legacy = kind == trace::kLegacyStream;
  role.blocking = kind == trace::kBlockingStream || kind == trace::kPerThreadStream;
  return role;
}

Awaited awaited_by(const Trace& trace, Id host_sync) {
  using What = Awaited::What;
  const auto& rows = trace.host_sync;
  const auto known = [](What what, Id id, size_t count) {
    return id < count ? Awaited{what, id} : Awaited{};
  };
  switch (rows.kind[host_sync]) {
    case trace::kDeviceSynchronize:
      return known(What::kContext, rows.context_id[host_sync], trace.context.size());
    case trace::kStreamSynchronize:
    case trace::kStreamQuery:
    case trace::kSynchronousCopy:
      return known(What::kStream, rows.stream_id[host_sync], trace.stream.size());
    case trace::kEventSynchronize:
    case trace::kEventQuery:
      if (rows.binding[host_sync] != trace::kBindingExact) return {};
      return known(What::kRecord, rows.record_id[host_sync], trace.event_record.size());
    default:
      return {};
  }
}

CopyPromise promise_of_copy(const IssueOrder& order, Id op) {
  const Trace& trace = order.trace();
  const Id call = trace.op.api_call_id[op];
  const trace::Small call_kind =
      call < trace.api_call.size() ? trace.api_call.kind[call] : trace::kNoSmall;
  const trace::Small detail = trace.op.detail[op];
  if (trace.op.kind[op] == trace::kMemset) {
    const bool in_host_memory = detail == MemoryKind::kPinned || detail == MemoryKind::kManaged ||
                                detail == MemoryKind::kManagedStatic;
    return call_kind == CallKind::kMemset && in_host_memory ? CopyPromise::kItself
                                                            : CopyPromise::kNothing;
  }
  if (call_kind != CallKind::kMemcpy && order.copy_sync(op) == kNoId) return CopyPromise::kNothing;
  if (detail == CopyKind::kDeviceToHost || detail == CopyKind::kArrayToHost ||
      detail == CopyKind::kHostToHost)
    return CopyPromise::kItself;
  if (detail != CopyKind::kHostToDevice && detail != CopyKind::kHostToArray)
    return CopyPromise::kNothing;
  const trace::Small memory = trace.op.memory_kinds[op];
  const trace::Small source = memory == trace::kNoSmall ? 0 : source_of(memory);
  if (source == MemoryKind::kPinned) return CopyPromise::kItself;
  // The copy itself may still be running after the driver has staged the data.
  return source == MemoryKind::kPageable ? CopyPromise::kWorkBefore : CopyPromise::kNothing;
}

}  // namespace streamscope::analysis
