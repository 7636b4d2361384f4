// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "call_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include "vocabulary/call_place.h"
#include "vocabulary/call_row.h"
#include "vocabulary/copy_kind.h"
#include "vocabulary/memory_kind.h"

namespace streamscope::record {
namespace {

constexpr int32_t kSuccess = 0;
constexpr uint64_t kExternalFlag = 1;  // cudaEventRecordExternal, cudaEventWaitExternal
constexpr uint64_t kHostToHost = 0;    // cudaMemcpyKind

CallSpan span_of(const ring::CallRecord& call, const CallPlace& place) {
  // A simulated device numbers its calls in the order in which they take effect, one at a time.
  if ((call.flags & ring::kVirtualTime) != 0)
    return {call.call_number, call.call_number, place.lane, place.order};
  return {call.begin, call.end, place.lane, place.order};
}

/// CUPTI's number of a call; kNoInt if CUPTI did not see it.
trace::Int correlation_of(const ring::CallRecord& call) {
  return (call.flags & (ring::kVirtualTime | ring::kOwnNumber)) != 0 ? trace::kNoInt
                                                                     : trace::Int{call.call_number};
}

/// The common columns of all tables of calls.
template <class Row>
void fill(Row& row, RunState& run, Operations& operations, const ring::CallRecord& call,
          const CallPlace& place, bool finished) {
  row.thread_id = place.thread;
  row.name_id = run.call_name(call.call);
  row.start_ns = run.to_ns(call.begin, call.flags);
  if (finished) {
    row.end_ns = run.to_ns(ring::last_end(call), call.flags);
    row.result = call.result;
  }
  row.call_number = call.call_number;
  row.correlation_id = correlation_of(call);
  row.operation_id = operations.id(call.operation);
}

/// Converts CUDA's copy kind to CUPTI's (Op::detail).
trace::Small copy_detail(uint64_t runtime_kind) {
  constexpr CopyKind kKinds[] = {CopyKind::kHostToHost, CopyKind::kHostToDevice,
                                 CopyKind::kDeviceToHost, CopyKind::kDeviceToDevice};
  return runtime_kind < std::size(kKinds) ? static_cast<trace::Small>(kKinds[runtime_kind])
                                          : trace::kNoSmall;
}

/// The direction of a copy whose call leaves it to the driver.
trace::Small direction_between(trace::Small memory_kinds) {
  const auto host = [](trace::Small kind) {
    return kind == MemoryKind::kPageable || kind == MemoryKind::kPinned;
  };
  const trace::Small source = source_of(memory_kinds), destination = destination_of(memory_kinds);
  if ((!host(source) && source != MemoryKind::kDevice) ||
      (!host(destination) && destination != MemoryKind::kDevice))
    return trace::kNoSmall;
  return copy_detail((host(source) ? 0u : 2u) + (host(destination) ? 0u : 1u));
}

/// `memory` as in op.memory_kinds; 0 is not known.
void describe_memory(trace::OpKind work, uint64_t copy_kind, uint32_t memory, Issue& issue) {
  const auto kinds = static_cast<trace::Small>(memory);
  if (work == trace::kMemcpy) {
    issue.detail = copy_detail(copy_kind);
    if (issue.detail == trace::kNoSmall) issue.detail = direction_between(kinds);
    if (kinds != 0) issue.memory_kinds = kinds;
  } else if (destination_of(kinds) != 0) {
    issue.detail = destination_of(kinds);
  }
}

trace::AllocationKind allocation_kind(std::string_view call, CallKind kind) {
  if (kind == CallKind::kMallocAsync) return trace::kStreamOrderedAllocation;
  if (call.find("Managed") != call.npos) return trace::kManagedAllocation;
  return call.find("Host") != call.npos ? trace::kPinnedHostAllocation : trace::kDeviceAllocation;
}

/// The device work of a call in table api_call.
std::optional<trace::OpKind> work_of(CallKind kind) {
  constexpr std::pair<CallKind, trace::OpKind> kWork[] = {
      {CallKind::kLaunch, trace::kKernel},
      {CallKind::kMemcpyAsync, trace::kMemcpy},
      {CallKind::kMemset, trace::kMemset},
      {CallKind::kMemsetAsync, trace::kMemset},
      {CallKind::kGraphLaunch, trace::kGraphLaunch},
      {CallKind::kHostFunction, trace::kHostFunction},
      {CallKind::kMemoryWait, trace::kMemoryWait},
      {CallKind::kMemoryWrite, trace::kMemoryWrite},
  };
  for (const auto& [call, work] : kWork) {
    if (call == kind) return work;
  }
  return std::nullopt;
}

}  // namespace

void CallRows::change_identity(const ring::CallRecord& call, const CallPlace& place) {
  trace::Id stream = trace::kNoId;
  const bool succeeded = call.result == kSuccess;
  switch (ring::call_info(call.call).kind) {
    case CallKind::kEventRecord:
    case CallKind::kContextRecord:
      return record_event(call, place);
    case CallKind::kEventCreate:
      if (succeeded) objects_.create_event(call);
      break;
    case CallKind::kEventDestroy:
      if (succeeded) objects_.destroy_event(call);
      questions_.event_destroyed(call.object);
      break;
    case CallKind::kStreamCreate:
      if (succeeded) stream = objects_.create_stream(call);
      break;
    case CallKind::kStreamDestroy:
      if (succeeded) stream = objects_.destroy_stream(call);
      questions_.stream_destroyed(stream);
      break;
    case CallKind::kDeviceReset:
      if (succeeded) objects_.reset(call);
      questions_.device_reset();
      break;
    default:
      break;
  }
  add_api_call(call, place, stream, true);
}

trace::EventRecord CallRows::record_row(const ring::CallRecord& call, const CallPlace& place,
                                        bool finished) {
  trace::EventRecord row;
  fill(row, run_, operations_, call, place, finished);
  if (ring::call_info(call.call).kind == CallKind::kEventRecord)
    row.stream_id = stream_of(call, place);
  row.event_id = objects_[objects_.event(call.object, call.context, call.begin)].id;
  const trace::Small flags = ((call.flags & ring::kCapturing) != 0 ? trace::kCapturedRecord : 0) |
                             ((call.value & kExternalFlag) != 0 ? trace::kExternalRecord : 0);
  if (flags != 0) row.flags = flags;
  return row;
}

void CallRows::record_event(const ring::CallRecord& call, const CallPlace& place) {
  trace::EventRecord row = record_row(call, place, true);
  const uint32_t index = objects_.event(call.object, call.context, call.begin);
  Objects::Event& event = objects_[index];
  if (call.result != kSuccess) {
    run_.writer.append(row);
    return;
  }
  row.version = ++event.version;
  const bool captured = (call.flags & ring::kCapturing) != 0;
  if (captured && (call.value & kExternalFlag) != 0) event.recorded_by_graphs = true;
  const trace::Id id = run_.writer.append(row);
  correlate(call, place, Stored<trace::EventRecord>{row, id});
  event.history.add({span_of(call, place), id, captured});
  if (!captured) questions_.recorded(row.stream_id, call.object, id, call.begin);
  if ((call.flags & ring::kVirtualTime) == 0) event.history.forget_before(horizon_);
}

trace::Id CallRows::open_record(const ring::CallRecord& call, const CallPlace& place) {
  const Stored<trace::EventRecord> record = run_.add(record_row(call, place, false));
  const uint32_t index = objects_.event(call.object, call.context, call.begin);
  CallSpan span = span_of(call, place);
  span.end = CallSpan::kStillOpen;
  objects_[index].history.add({span, record.id, (call.flags & ring::kCapturing) != 0});
  open_records_.push_back({record, index});
  return record.id;
}

void CallRows::close_record(trace::Id row, const ring::CallRecord& call, const CallPlace& place) {
  const auto open = std::ranges::find(open_records_, row, &OpenRecord::id);
  if (open == open_records_.end()) return;
  fill(open->row, run_, operations_, call, place, true);
  Objects::Event& event = objects_[open->event];
  if (call.result == kSuccess) {
    open->row.version = ++event.version;
    event.history.close(row, call.end);
  } else {
    event.history.remove(row);
  }
  run_.update(*open);
  open_records_.erase(open);
}

trace::Id CallRows::store(const ring::CallRecord& call, const CallPlace& place, bool finished) {
  switch (row_of(ring::call_info(call.call).kind)) {
    case CallRow::kEventRecord:
      return open_record(call, place);  // ends as close_record()
    case CallRow::kEventWait:
      return add_wait(call, place, finished);
    case CallRow::kHostSync:
      return add_sync(call, place, finished);
    case CallRow::kApiCall:
      break;
  }
  return add_api_call(call, place, trace::kNoId, finished);
}

template <class Row>
trace::Id CallRows::put(const Row& row, const CallPlace& place) {
  if (place.row == trace::kNoId) return run_.writer.append(row);
  run_.writer.update(place.row, row);
  return place.row;
}

trace::Id CallRows::add_api_call(const ring::CallRecord& call, const CallPlace& place,
                                 trace::Id stream, bool finished) {
  trace::ApiCall row;
  fill(row, run_, operations_, call, place, finished);
  const CallKind kind = ring::call_info(call.call).kind;
  row.kind = static_cast<trace::Small>(kind);
  row.stack_id = stacks_.id(call.stack);
  const uint64_t object =
      kind == CallKind::kMemset ? ring::without_memory_kinds(call.object) : call.object;
  bool on_stream = true;
  bool has_object = true, has_value = true;
  switch (kind) {
    case CallKind::kLaunch:
      has_object = has_value = false;
      break;
    case CallKind::kMemsetAsync:
    case CallKind::kMemcpyAsync:
    case CallKind::kMallocAsync:
    case CallKind::kMemoryWait:
    case CallKind::kMemoryWrite:
      break;
    case CallKind::kHostFunction:
    case CallKind::kFreeAsync:
    case CallKind::kGraphLaunch:
    case CallKind::kCaptureBegin:
    case CallKind::kCaptureEnd:
      has_value = false;
      break;
    case CallKind::kMemoryBatch:
      has_object = false;
      break;
    default:
      on_stream = call.stream != 0 && !ring::changes_identity(kind);
      has_object = object != 0;
      has_value = call.value != 0;
      break;
  }
  if (on_stream) stream = stream_of(call, place);
  row.stream_id = stream;
  if (has_object) row.object = static_cast<trace::Int>(object);
  if (has_value) row.value = static_cast<trace::Int>(call.value);
  const trace::Id id = put(row, place);

  if (!finished) return id;
  if (call.result == kSuccess) follow(call, place, kind, id, stream);
  correlate(call, place, Stored<trace::ApiCall>{row, id});
  return id;
}

void CallRows::follow(const ring::CallRecord& call, const CallPlace& place, CallKind kind,
                      trace::Id id, trace::Id stream) {
  switch (kind) {
    case CallKind::kMemset:
      stream = stream_of(call, place);
      break;
    case CallKind::kMemoryWait:
      questions_.waits(
          stream, call.object,
          ring::call_info(call.call).name.find("64") != std::string_view::npos ? 8 : 4);
      break;
    case CallKind::kGraphLaunch:
      launched_graph(call.end);
      break;
    case CallKind::kMalloc:
    case CallKind::kMallocAsync:
    case CallKind::kFree:
    case CallKind::kFreeAsync:
      track_allocation(call, kind, id, stream);
      break;
    default:
      break;
  }
  if (const auto work = work_of(kind)) issue(call, *work, id, stream);
}

template <class Row>
void CallRows::correlate(const ring::CallRecord& call, const CallPlace& place,
                         const Stored<Row>& stored) {
  if (!is_correlated(call)) return;
  if constexpr (requires { correlations_.keep_row(call.call_number, stored); }) {
    if (stored.row.operation_id != trace::kNoId) correlations_.keep_row(call.call_number, stored);
  }
  correlations_.add(place.tid, ring::changes_identity(ring::call_info(call.call).kind),
                    {stored.row.start_ns, stored.row.end_ns, call.call_number});
}

void CallRows::issue(const ring::CallRecord& call, trace::OpKind kind, trace::Id call_row,
                     trace::Id stream) {
  if ((call.flags & ring::kCapturing) != 0)
    return;  // becomes a node of a graph and runs at its launches
  questions_.issued(stream, call.stream, (call.flags & ring::kPerThread) != 0, call.begin);
  Issue issue{.kind = kind,
              .virtual_time = (call.flags & ring::kVirtualTime) != 0,
              .unseen = may_run_unseen(kind, call.object),
              .own_number = (call.flags & ring::kOwnNumber) != 0,
              .call_number = call.call_number,
              .call = call_row,
              .stream = stream,
              .operation = operations_.id(call.operation)};
  if (kind == trace::kKernel) issue.name = run_.texts.id(call.object);
  if (is_memory_operation(kind)) {
    issue.bytes = static_cast<trace::Int>(call.value);
    const uint64_t copy_kind = ring::without_memory_kinds(call.object);
    describe_memory(kind, copy_kind, ring::memory_kinds_of(call.object), issue);
    issue.silent = call.value == 0 || (kind == trace::kMemcpy && copy_kind == kHostToHost);
  }
  work_.issue(issue);
}

void CallRows::track_allocation(const ring::CallRecord& call, CallKind kind, trace::Id call_row,
                                trace::Id stream) {
  if ((run_.options.with & ring::kWithAlloc) == 0 && (call.flags & ring::kVirtualTime) == 0) return;
  if (call.object == 0) return;
  const bool allocates = allocates_memory(kind);
  const uint32_t life = allocates ? allocation_lives_.create(call.object, call.end)
                                  : allocation_lives_.destroy(call.object, call.begin, call.end);
  if (life >= allocations_.size())
    allocations_.push_back(run_.add(trace::Allocation{
        .process_id = process_, .address = static_cast<trace::Int>(call.object)}));
  trace::Allocation& row = allocations_[life].row;
  const trace::Ns at = run_.to_ns(call.end, call.flags);
  if (allocates) {
    row.kind = allocation_kind(ring::call_info(call.call).name, kind);
    row.bytes = static_cast<trace::Int>(call.value);
    if (kind == CallKind::kMallocAsync) row.alloc_stream_id = stream;
    row.alloc_call_id = call_row;
    row.allocated_ns = at;
  } else {
    if (kind == CallKind::kFreeAsync) row.free_stream_id = stream;
    row.free_call_id = call_row;
    row.freed_ns = at;
  }
  run_.update(allocations_[life]);
}

Bound CallRows::bind(uint32_t event, const CallSpan& span) {
  Objects::Event& known = objects_[event];
  const uint64_t lost = lost_.before(span.end);
  const uint64_t lost_until =
      known.recorded_by_graphs ? std::max(lost, graphs_launched_until_) : lost;
  Bound bound = known.history.bind(span, objects_.complete_since(event, lost_until));
  if (bound.binding == trace::kAmbiguous) run_.losses.add(process_, "ambiguous-binding", 1);
  if (bound.binding == trace::kUnknownHistory)
    run_.losses.add(process_, lost > 0 ? "history-lost" : "unknown-history", 1);
  return bound;
}

template <class Row>
void CallRows::bind_row(Look<Row>& look) {
  const Bound bound = bind(look.event, look.span);
  look.row.binding = bound.binding;
  look.row.record_id = bound.record;
  if constexpr (std::is_same_v<Row, trace::EventWait>) {
    for (const trace::Id candidate : bound.candidates)
      run_.writer.append(trace::EventWaitCandidate{look.id, candidate});
  }
}

template <class Row>
trace::Id CallRows::put_look(const Row& row, const ring::CallRecord& call, const CallPlace& place,
                             uint32_t event, bool now, std::vector<Look<Row>>& deferred) {
  const trace::Id id = place.row != trace::kNoId ? place.row : run_.writer.count<Row>();
  Look<Row> look{{row, id}, span_of(call, place), event};
  if (now) {
    bind_row(look);
  } else {
    look.row.binding = trace::kUnknownHistory;
    deferred.push_back(look);
  }
  return put(look.row, place);
}

trace::Id CallRows::add_wait(const ring::CallRecord& call, const CallPlace& place, bool finished) {
  trace::EventWait row;
  fill(row, run_, operations_, call, place, finished);
  if (ring::call_info(call.call).kind == CallKind::kStreamWait)
    row.stream_id = stream_of(call, place);
  const uint32_t event = objects_.event(call.object, call.context, call.begin);
  row.event_id = objects_[event].id;
  if (call.value != 0) row.flags = static_cast<trace::Small>(call.value);
  if (!finished || call.result != kSuccess) return put(row, place);
  if ((call.flags & ring::kCapturing) != 0) {
    row.binding = trace::kCaptured;
    return put(row, place);
  }
  return put_look(row, call, place, event, can_bind(call), deferred_waits_);
}

trace::Id CallRows::add_sync(const ring::CallRecord& call, const CallPlace& place, bool finished) {
  trace::HostSync row;
  fill(row, run_, operations_, call, place, finished);
  row.context_id = objects_.context(call.context);
  row.stack_id = stacks_.id(call.stack);
  if (const ring::PollWord polls{(call.flags & ring::kPolls) != 0 ? call.value : 0};
      polls.more() != 0)
    row.polls = static_cast<trace::Small>(polls.more() + 1);
  const CallKind kind = ring::call_info(call.call).kind;
  bool on_event = false;
  switch (kind) {
    case CallKind::kEventQuery:
    case CallKind::kEventSynchronize:
      row.kind = kind == CallKind::kEventQuery ? trace::kEventQuery : trace::kEventSynchronize;
      on_event = true;
      break;
    case CallKind::kDeviceSynchronize:
      row.kind = trace::kDeviceSynchronize;
      break;
    default:
      row.kind = kind == CallKind::kStreamQuery         ? trace::kStreamQuery
                 : kind == CallKind::kStreamSynchronize ? trace::kStreamSynchronize
                                                        : trace::kSynchronousCopy;
      row.stream_id = stream_of(call, place);
      break;
  }
  if (kind == CallKind::kMemcpy && finished && call.result == kSuccess)
    issue(call, trace::kMemcpy, trace::kNoId, row.stream_id);
  if (finished) correlate(call, place, Stored<trace::HostSync>{row});
  if (!on_event) return put(row, place);
  const uint32_t event = objects_.event(call.object, call.context, call.begin);
  row.event_id = objects_[event].id;
  if (finished && call.result != kSuccess && call.result != trace::kResultNotReady)
    return put(row, place);
  // A call that has not ended waits for something recorded before it began.
  return put_look(row, call, place, event, !finished || can_bind(call), deferred_syncs_);
}

uint64_t CallRows::earliest_deferred() const {
  uint64_t earliest = kNoLimit;
  for (const auto& wait : deferred_waits_) earliest = std::min(earliest, wait.span.begin);
  for (const auto& sync : deferred_syncs_) earliest = std::min(earliest, sync.span.begin);
  return earliest;
}

void CallRows::bind_deferred() {
  const auto bind_all = [&](auto& deferred) {
    std::erase_if(deferred, [&](auto& call) {
      if (call.span.end > watermark_) return false;
      bind_row(call);
      run_.update(call);
      return true;
    });
  };
  bind_all(deferred_waits_);
  bind_all(deferred_syncs_);
}

void CallRows::restore(EarlierRows& rows) {
  rows.each<trace::Allocation>(process_, [&](trace::Id id, const trace::Allocation& row) {
    if (row.kind == trace::kTensorAllocation) return;
    allocation_lives_.restore(rows.life(process_, row.address, row.allocated_ns, row.freed_ns));
    allocations_.push_back({row, id});
  });
  restore_issues(rows);
}

// Calls whose device work is not in the trace yet. Captured calls have none.
void CallRows::restore_issues(EarlierRows& rows) {
  std::set<trace::Int> reported;         // call numbers
  std::map<trace::Id, trace::Id> shown;  // call -> op that has its row, but no times yet
  rows.each<trace::Op>(process_, [&](trace::Id id, const trace::Op& op) {
    if (op.start_ns == trace::kUnknownNs) {
      shown[op.api_call_id] = id;
    } else {
      reported.insert(op.call_number);
    }
  });
  for (const OpOrder::Held& held : run_.ops.held()) {
    if (rows.process_of(rows.trace().api_call, held.op.api_call_id) == process_)
      reported.insert(held.op.call_number);
  }
  int capturing = 0;
  rows.each<trace::ApiCall>(process_, [&](trace::Id id, const trace::ApiCall& call) {
    if (call.result != kSuccess) return;
    const auto kind = static_cast<CallKind>(call.kind);
    if (kind == CallKind::kCaptureBegin) ++capturing;
    if (kind == CallKind::kCaptureEnd) --capturing;
    const auto work = work_of(kind);
    if (!work || capturing > 0 || reported.contains(call.call_number)) return;
    Issue issue{.kind = *work,
                .virtual_time = rows.is_virtual(process_),
                .unseen = may_run_unseen(*work, static_cast<uint64_t>(call.object)),
                .own_number = !rows.is_virtual(process_) && call.correlation_id != call.call_number,
                .call_number = static_cast<uint32_t>(call.call_number),
                .call = id,
                .stream = call.stream_id,
                .operation = call.operation_id};
    if (is_memory_operation(issue.kind)) issue.bytes = call.value;
    issue.silent = issue.bytes == 0 || (issue.kind == trace::kMemcpy && call.object == 0);
    if (const auto row = shown.find(id); row != shown.end()) issue.row = row->second;
    work_.restore(issue);
    if (issue.own_number && run_.options.tier != Tier::kStructure)
      correlations_.add(static_cast<uint32_t>(rows.trace().thread.os_tid[call.thread_id]), false,
                        {call.start_ns, call.end_ns, issue.call_number});
  });
}

}  // namespace streamscope::record
