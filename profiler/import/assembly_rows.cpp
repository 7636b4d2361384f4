// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The rows that Assembly writes once everything is known.

#include <limits>

#include "assembly.h"
#include "vocabulary/call_row.h"
#include "vocabulary/tier.h"

namespace streamscope::import {
namespace {

// Rows are stored while they are still in the CPU cache.
constexpr size_t kFlushBytes = 2 << 20;

Ns end_of(const trace::Range& range) {
  return range.end_ns == kUnknownNs ? std::numeric_limits<Ns>::max() : range.end_ns;
}

/// The columns of all tables of calls.
template <class Row>
Row row_of_call(const Call& call) {
  Row row;
  row.thread_id = call.thread;
  row.name_id = call.name;
  row.start_ns = call.start_ns;
  row.end_ns = call.end_ns;
  row.result = call.result;
  row.call_number = row.correlation_id = call.correlation;
  return row;
}

}  // namespace

void Assembly::append_records() {
  std::unordered_map<Id, Small> versions;
  uint64_t unknown = 0;
  for (size_t i = 0; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    const CallKind kind = kind_of(call);
    if (row_of(kind) != CallRow::kEventRecord) continue;
    auto row = row_of_call<trace::EventRecord>(call);
    RecordCall record{.process = process_of(call),
                      .thread = call.thread,
                      .start_ns = call.start_ns,
                      .end_ns = call.end_ns,
                      .correlation = call.correlation};
    if (!call_record_.empty() && call_record_[i] != kNoId) {
      const Act& act = records_[call_record_[i]];
      if (kind == CallKind::kEventRecord) row.stream_id = act.stream;
      if (act.event != kNoInt) row.event_id = event(act.process, act.context, act.event);
      record.event = row.event_id;
      record.instance = act.instance;
    }
    if (row.event_id != kNoId) row.version = ++versions[row.event_id];
    unknown += row.event_id == kNoId;
    writer_.append(row);
    record_calls_.push_back(record);
  }
  losses_.add("import-unknown-object", unknown, kNoId, "records of events");
}

void Assembly::append_sync(const Call& call, size_t index, CallKind kind, const Pairing& pairing) {
  const Act* act =
      call_look_.empty() || call_look_[index] == kNoId ? nullptr : &looks_[call_look_[index]];
  const Id process = process_of(call);
  Id event_id = kNoId;
  Bound bound;
  const bool waits = row_of(kind) == CallRow::kEventWait;
  const bool on_event =
      waits || kind == CallKind::kEventQuery || kind == CallKind::kEventSynchronize;
  if (act && on_event) {
    LookCall look{.process = process,
                  .thread = call.thread,
                  .start_ns = call.start_ns,
                  .end_ns = call.end_ns,
                  .instance = act->instance,
                  .record_correlation = act->record_correlation};
    if (act->event != kNoInt) {
      // The record names the context of the event; a wait may be in another one.
      const auto own = events_.find({process, act->context, act->event});
      if (own != events_.end()) look.event = own->second;
    }
    bound = pairing.bind(look);
    const Id record = bound.candidates.empty() ? bound.record : bound.candidates.front();
    if (record != kNoId) event_id = record_calls_[record].event;
    if (event_id == kNoId) event_id = look.event;
    if (event_id == kNoId && act->event != kNoInt)
      event_id = event(process, act->context, act->event);
  }
  if (on_event && bound.binding == trace::kAmbiguous) losses_.add("ambiguous-binding", 1, process);
  if (on_event && bound.binding == trace::kUnknownHistory)
    losses_.add("import-unknown-object", 1, process, "records that were waited for");
  if (waits) {
    auto row = row_of_call<trace::EventWait>(call);
    if (act && kind == CallKind::kStreamWait) row.stream_id = act->stream;
    row.event_id = event_id;
    row.binding = bound.binding;
    row.record_id = bound.record;
    const Id wait = writer_.append(row);
    for (const Id candidate : bound.candidates)
      writer_.append(trace::EventWaitCandidate{wait, candidate});
    return;
  }
  auto row = row_of_call<trace::HostSync>(call);
  if (act) row.context_id = act->context;
  switch (kind) {
    case CallKind::kDeviceSynchronize:
      row.kind = trace::kDeviceSynchronize;
      if (row.context_id == kNoId) row.context_id = sole_context(process);
      break;
    case CallKind::kStreamSynchronize:
    case CallKind::kStreamQuery:
      row.kind = kind == CallKind::kStreamQuery ? trace::kStreamQuery : trace::kStreamSynchronize;
      row.stream_id = act && act->stream != kNoId ? act->stream : call_stream_[index];
      break;
    case CallKind::kMemcpy:
      row.kind = trace::kSynchronousCopy;
      row.stream_id = call_stream_[index];
      break;
    default:
      row.kind = kind == CallKind::kEventQuery ? trace::kEventQuery : trace::kEventSynchronize;
      row.event_id = event_id;
      row.binding = bound.binding;
      row.record_id = bound.record;
      break;
  }
  if (row.context_id == kNoId && row.stream_id < streams_.size())
    row.context_id = streams_[row.stream_id].context_id;
  row.stack_id = stacks_.row(process, call.stack);
  writer_.append(row);
}

void Assembly::append_calls() {
  const Pairing pairing(record_calls_);
  call_row_.assign(calls_.size(), kNoId);
  for (size_t i = 0; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    const CallKind kind =
        waiting_copies_.contains(static_cast<Id>(i)) ? CallKind::kMemcpy : kind_of(call);
    switch (row_of(kind)) {
      case CallRow::kEventRecord:
        break;
      case CallRow::kEventWait:
      case CallRow::kHostSync:
        append_sync(call, i, kind, pairing);
        break;
      case CallRow::kApiCall: {
        auto row = row_of_call<trace::ApiCall>(call);
        row.kind = number_of(kind);
        row.stream_id = call_stream_[i];
        row.stack_id = stacks_.row(process_of(call), call.stack);
        if (kind == CallKind::kGraphLaunch) {
          const auto launch = graph_launches_.find({process_of(call), call.correlation});
          if (launch != graph_launches_.end()) row.object = launch->second;
        }
        call_row_[i] = writer_.append(row);
        break;
      }
    }
    if (i % 4096 == 0) flush_if_large();
  }
}

void Assembly::append_ops() {
  for (size_t i = 0; i < ops_.size(); ++i) {
    trace::Op& op = ops_[i];
    if (op.api_call_id != kNoId) op.api_call_id = call_row_[op.api_call_id];
    writer_.append(op);
    if (i % 4096 == 0) flush_if_large();
  }
}

// Ranges in order of start; the depth of each among those of its thread and domain.
void Assembly::sort_ranges() {
  sort_stably(ranges_, [](const trace::Range& a, const trace::Range& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : end_of(a) > end_of(b);
  });
}

void Assembly::append_annotations() {
  sort_ranges();
  std::map<std::pair<Id, Id>, std::vector<Ns>> open;  // ends, by thread and domain
  for (size_t i = 0; i < ranges_.size(); ++i) {
    trace::Range& range = ranges_[i];
    if (range.kind == trace::kPushPop) {
      std::vector<Ns>& ends = open[{range.thread_id, range.domain_id}];
      while (!ends.empty() && ends.back() <= range.start_ns) ends.pop_back();
      range.depth = static_cast<Small>(ends.size());
      ends.push_back(end_of(range));
    }
    writer_.append(range);
    if (i % 4096 == 0) flush_if_large();
  }
  for (const trace::Mark& mark : marks_) writer_.append(mark);
  for (const trace::Overhead& overhead : overheads_) writer_.append(overhead);
}

void Assembly::append_collectives() {
  std::vector<trace::CollectiveCall> rows;
  for (const CollectiveOf& each : collectives_) {
    trace::CollectiveCall row = each.call;
    if (each.process != kNoId) {
      const Id launch = find_call(each.process, each.correlation);
      if (launch == kNoId) continue;
      row.thread_id = calls_[launch].thread;
      row.start_ns = calls_[launch].start_ns;
      row.end_ns = calls_[launch].end_ns;
    }
    rows.push_back(row);
  }
  sort_stably(rows, {}, &trace::CollectiveCall::start_ns);
  for (const trace::CollectiveCall& row : rows) writer_.append(row);
}

void Assembly::append_samples() {
  sort_stably(samples_, {}, &trace::HostSample::at_ns);
  for (trace::HostSample& sample : samples_) {
    sample.stack_id = stacks_.row(threads_[sample.thread_id].process_id, sample.stack_id);
    writer_.append(sample);
  }
}

void Assembly::append_objects() {
  const auto number = [](int32_t value) { return value < 0 ? kNoSmall : value; };
  for (auto& row : processes_) {
    row.rank = number(rank_.rank);
    row.world_size = number(rank_.world_size);
    row.local_rank = number(rank_.local_rank);
    if (rank_.is_known()) row.rank_source_id = writer_.intern(rank_.source);
    writer_.append(row);
  }
  for (const auto& row : threads_) writer_.append(row);
  for (const auto& row : devices_) writer_.append(row);
  for (const auto& row : contexts_) writer_.append(row);
  for (const auto& row : streams_) writer_.append(row);
}

void Assembly::flush_if_large() {
  if (writer_.buffered_bytes() > kFlushBytes) writer_.flush();
}

void Assembly::finish() {
  shift_times();
  index_calls();
  join_work();
  join_functions();
  take_samples();
  call_record_ = join_acts(records_);
  call_look_ = join_acts(looks_);
  name_records();
  find_awaited_streams();
  append_records();
  append_calls();
  append_ops();
  if (calls_.empty() && ops_.empty()) losses_.add("import-no-cuda");
  append_annotations();
  append_collectives();
  append_samples();
  append_objects();
  losses_.write(writer_);
  writer_.set_meta("tier", to_string(ops_.empty() ? Tier::kStructure : Tier::kTimes));
}

}  // namespace streamscope::import
