// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "device_work.h"

#include <algorithm>
#include <utility>

namespace streamscope::record {
namespace {

trace::Op op_of(const Issue& issue) {
  return {.kind = issue.kind,
          .stream_id = issue.stream,
          .name_id = issue.name,
          .call_number = issue.call_number,
          .correlation_id = issue.virtual_time || issue.own_number ? trace::kNoInt
                                                                   : trace::Int{issue.call_number},
          .api_call_id = issue.call,
          .detail = issue.detail,
          .memory_kinds = issue.memory_kinds,
          .bytes = issue.bytes};
}

/// The report of a whole launch has its executable graph in place of a node.
bool is_node(const ring::OpRecord& record) {
  return record.graph_node != 0 && record.kind != ring::RecordKind::kGraphLaunch;
}

}  // namespace

bool DeviceWork::expects_report(const Issue& issue) const {
  if (issue.virtual_time) return true;
  if (run_.options.tier == Tier::kStructure) return false;
  return is_measurable(issue.kind);
}

void DeviceWork::issue(const Issue& issue) {
  if (expects_report(issue)) {
    pending_.get(issue.call_number) = {issue, false};
    if (issue.silent) forget_later(recent_, issue.call_number);
    if (!issue.own_number) take_early(issue.call_number);
  } else if (issue.bytes != 0) {  // the device never reports a copy of 0 bytes
    run_.ops.store_now(op_of(issue), issue.operation);
  }
}

void DeviceWork::correlate(uint32_t correlation_id, uint32_t call_number) {
  Pending* const pending = pending_.find(call_number);
  if (pending == nullptr) return;
  pending->correlation_id = correlation_id;
  numbers_.insert_or_assign(correlation_id, call_number);
  take_early(correlation_id);
}

void DeviceWork::lacks_call(uint32_t correlation_id, Span call) {
  unissued_.insert_or_assign(correlation_id, call);
  oldest_unissued_.push_back(correlation_id);
  if (oldest_unissued_.size() <= kMostUnissued) return;
  unissued_.erase(oldest_unissued_.front());
  oldest_unissued_.pop_front();
}

void DeviceWork::take_early(uint32_t correlation_id) {
  std::vector<ring::OpRecord>* const early = early_.find(correlation_id);
  if (early == nullptr) return;
  const std::vector<ring::OpRecord> records = std::move(*early);
  early_.erase(correlation_id);
  for (const ring::OpRecord& record : records) match(record);
}

trace::Id DeviceWork::shape(uint32_t shape) {
  if (shape == ring::kNone32) return trace::kNoId;
  return shapes_.get_or_add(shape, [&] {
    const trace::Id id = run_.writer.append(trace::LaunchShape{});
    run_.journal.add(IdJournal::Kind::kLaunchShape, process_, shape, id);
    return id;
  });
}

bool DeviceWork::describe(const ring::LaunchShapeRecord& record) {
  const trace::Id id = shape(record.shape);
  if (id == trace::kNoId) return false;
  run_.writer.update(id, trace::LaunchShape{.grid_x = static_cast<trace::Small>(record.grid[0]),
                                            .grid_y = static_cast<trace::Small>(record.grid[1]),
                                            .grid_z = static_cast<trace::Small>(record.grid[2]),
                                            .block_x = static_cast<trace::Small>(record.block[0]),
                                            .block_y = static_cast<trace::Small>(record.block[1]),
                                            .block_z = static_cast<trace::Small>(record.block[2]),
                                            .registers = record.registers,
                                            .static_shared_bytes = record.static_shared_bytes,
                                            .dynamic_shared_bytes = record.dynamic_shared_bytes});
  return true;
}

void DeviceWork::store(const ring::OpRecord& record, Issue* issue) {
  trace::Op op;
  switch (record.kind) {
    case ring::RecordKind::kKernel:
      op.kind = trace::kKernel;
      op.launch_shape_id = shape(record.shape);
      break;
    case ring::RecordKind::kMemcpy:
      op.kind = trace::kMemcpy;
      op.detail = record.detail;
      op.memory_kinds = record.memory_kinds;
      op.bytes = static_cast<trace::Int>(record.bytes);
      break;
    case ring::RecordKind::kMemset:
      op.kind = trace::kMemset;
      op.detail = record.detail;
      op.bytes = static_cast<trace::Int>(record.bytes);
      break;
    case ring::RecordKind::kGraphLaunch:
      op.kind = trace::kGraphLaunch;
      break;
    default:
      op.kind = record.detail <= trace::kGraphLaunch ? record.detail : trace::kNoSmall;
      break;
  }
  const bool of_node = is_node(record);
  if (issue != nullptr && !of_node)
    objects_.learn_native(issue->stream, record.context, record.stream);
  op.stream_id = objects_.native_stream(record.context, record.stream, of_node);
  op.name_id = run_.texts.id(record.name);
  if (op.name_id == trace::kNoId && issue != nullptr && !of_node) op.name_id = issue->name;
  const bool unfinished = (record.flags & ring::kUnfinished) != 0;
  if (!unfinished || record.begin_ns != 0)
    op.start_ns = run_.device_ns(record.begin_ns, record.flags);
  if (!unfinished || record.end_ns != 0) {
    op.end_ns = run_.device_ns(record.end_ns, record.flags);
  } else {
    ++not_ended_;
  }
  if (issue != nullptr) {
    op.call_number = issue->call_number;
  } else if ((record.flags & ring::kOwnNumber) == 0) {
    op.call_number = record.correlation_id;
  }
  if ((record.flags & ring::kVirtualTime) == 0) op.correlation_id = record.correlation_id;
  if (of_node) op.graph_node = static_cast<trace::Int>(record.graph_node);
  if (record.channel != 0xffff) op.channel = record.channel;
  if (issue != nullptr) op.api_call_id = issue->call;
  const trace::Id operation = issue != nullptr ? issue->operation : trace::kNoId;
  if (issue != nullptr && issue->row != trace::kNoId) {
    run_.writer.update(std::exchange(issue->row, trace::kNoId), op);
  } else if (op.start_ns == trace::kUnknownNs) {
    run_.ops.store_now(op, operation);
  } else {
    run_.ops.add(op, operation);
  }
}

bool DeviceWork::match(const ring::OpRecord& record) {
  uint32_t number = record.correlation_id;
  if ((record.flags & ring::kOwnNumber) != 0) {
    const uint32_t* const known = numbers_.find(record.correlation_id);
    if (known == nullptr) return false;
    number = *known;
  }
  Pending* pending = pending_.find(number);
  if (pending == nullptr) return false;
  const bool first = !pending->reported;
  pending->reported = true;
  store(record, &pending->issue);
  if (first) forget_later(is_node(record) ? recent_graphs_ : recent_, number);
  return true;
}

void DeviceWork::erase(uint32_t call_number) {
  if (const Pending* old = pending_.find(call_number); old->correlation_id != ring::kNone32)
    numbers_.erase(old->correlation_id);
  pending_.erase(call_number);
}

void DeviceWork::forget_later(Recent& recent, uint32_t call_number) {
  uint32_t& oldest = recent.ids[recent.next++ % kRecent];
  if (const Pending* old = pending_.find(oldest);
      old != nullptr && (old->reported || old->issue.silent))
    erase(oldest);
  oldest = call_number;
}

void DeviceWork::describe(const ring::OpRecord& record) {
  if (match(record)) return;
  std::vector<ring::OpRecord>& early = early_.get(record.correlation_id);
  if (early.empty()) {
    unmatched_.push_back({record.correlation_id, trace::kUnknownNs});
    ++newly_unmatched_;
  }
  early.push_back(record);
}

void DeviceWork::give_up_unmatched(trace::Ns read) {
  for (; newly_unmatched_ > 0; --newly_unmatched_)
    unmatched_[unmatched_.size() - newly_unmatched_].since = read;
  while (!unmatched_.empty() && read - unmatched_.front().since >= kPatienceNs) {
    store_unmatched(unmatched_.front().correlation_id);
    unmatched_.pop_front();
  }
}

void DeviceWork::store_unmatched(uint32_t correlation_id) {
  const std::vector<ring::OpRecord>* early = early_.find(correlation_id);
  if (early == nullptr) return;  // its call has arrived
  const Span* const call = unissued_.find(correlation_id);
  if (call == nullptr || is_missed(*call)) {
    missed_ += call != nullptr;
    for (const ring::OpRecord& record : *early) store(record, nullptr);
  }
  early_.erase(correlation_id);
}

bool DeviceWork::is_missed(Span call) const {
  // Nor is a call recorded that was in progress when a pause began or ended. The collector's call
  // around the driver's begins earlier and ends later.
  constexpr trace::Ns kAroundNs = 1'000'000;
  const auto after = std::ranges::upper_bound(pauses_, call.end + kAroundNs, {}, &Span::begin);
  return after == pauses_.begin() || std::prev(after)->end < call.begin - kAroundNs;
}

void DeviceWork::finish() {
  for (const Unmatched& unmatched : unmatched_) store_unmatched(unmatched.correlation_id);
  unmatched_.clear();
  newly_unmatched_ = 0;
  const std::vector<Issue*> missing = unreported();
  show();
  const auto lost =
      std::ranges::count_if(missing, [](const Issue* issue) { return !issue->unseen; });
  if (lost != 0) run_.losses.add(process_, "times-not-delivered", lost);
  // A flight recorder has forgotten the calls before its oldest records.
  if (missed_ != 0 && !run_.options.newest_only)
    run_.losses.add(process_, "calls-missing", missed_);
  if (not_ended_ != 0) run_.losses.add(process_, "work-not-ended", not_ended_);
  pending_.clear();
  numbers_.clear();
}

std::vector<Issue*> DeviceWork::unreported() {
  std::vector<Issue*> found;
  pending_.for_each([&](uint32_t, Pending& pending) {
    if (!pending.reported && !pending.issue.silent) found.push_back(&pending.issue);
  });
  std::ranges::sort(found, {}, &Issue::call_number);
  return found;
}

void DeviceWork::show() {
  for (Issue* issue : unreported()) {
    if (issue->row == trace::kNoId)
      issue->row = run_.ops.store_now(op_of(*issue), issue->operation);
  }
}

}  // namespace streamscope::record
