// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "annotations.h"

#include <cinttypes>
#include <cstdio>
#include <string>

namespace streamscope::record {
namespace {

std::string name_of_communicator(uint64_t hash) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, hash);
  return text;
}

}  // namespace

template <class Row>
Row Annotations::row_of(const ring::RangeRecord& record, trace::Id thread) {
  Row row;
  row.thread_id = thread;
  row.domain_id = run_.texts.id(record.domain);
  row.name_id = run_.texts.id(record.name);
  if (record.category != 0) row.category = record.category;
  if (record.color != 0) row.color = record.color;
  row.start_ns = run_.to_ns(record.begin, record.flags);
  return row;
}

Annotations::Open Annotations::open(const ring::RangeRecord& record, trace::Id thread,
                                    trace::RangeKind kind, trace::Small depth) {
  auto row = row_of<trace::Range>(record, thread);
  row.kind = kind;
  if (record.payload != 0) row.payload = static_cast<trace::Int>(record.payload);
  row.depth = depth;
  row.operation_id = operations_.id(record.operation);
  Open range{run_.add(row)};
  if ((record.flags & ring::kCollective) != 0) {
    trace::CollectiveCall call{
        .thread_id = thread, .name_id = row.name_id, .start_ns = row.start_ns};
    if (record.payload != 0)
      call.communicator_id = run_.writer.intern(name_of_communicator(record.payload));
    if (const auto known = communicators_.find(call.communicator_id);
        known != communicators_.end()) {
      call.rank_count = known->second.rank_count;
      call.rank = known->second.rank;
    }
    if (record.bytes != 0) call.bytes = static_cast<trace::Int>(record.bytes);
    call.peer = trace::small_or_none(record.id);
    range.call = run_.add(call);
  }
  return range;
}

void Annotations::close(Open& range, const ring::RangeRecord& record) {
  range.row.end_ns = run_.to_ns(record.begin, record.flags);
  run_.update(range);
  if (range.call.id == trace::kNoId) return;
  range.call.row.end_ns = range.row.end_ns;
  run_.update(range.call);
}

void Annotations::describe(const ring::RangeRecord& record, uint32_t tid) {
  const trace::Id thread =
      objects_.thread(record.tid == 0 || record.tid == ring::kNone32 ? tid : record.tid);
  const auto stack = [&]() -> std::vector<Open>& {
    return pushed_[pair_key(thread, run_.texts.id(record.domain))];
  };
  switch (record.kind) {
    case ring::RecordKind::kRangePush: {
      std::vector<Open>& pushed = stack();
      const auto depth = static_cast<trace::Small>(pushed.size());
      pushed.push_back(open(record, thread, trace::kPushPop, depth));
      break;
    }
    case ring::RecordKind::kRangePop: {
      std::vector<Open>& pushed = stack();
      if (pushed.empty()) break;  // pushed before recording began
      close(pushed.back(), record);
      pushed.pop_back();
      break;
    }
    case ring::RecordKind::kRangeStart: {
      Open range = open(record, thread, trace::kStartEnd, trace::kNoSmall);
      if (const auto ended = ended_early_.extract(record.id)) {
        close(range, ended.mapped());
      } else {
        started_.insert_or_assign(record.id, range);
      }
      break;
    }
    case ring::RecordKind::kRangeEnd:
      if (auto started = started_.extract(record.id)) {
        close(started.mapped(), record);
      } else {
        ended_early_.insert_or_assign(record.id, record);
      }
      break;
    default:
      run_.writer.append(row_of<trace::Mark>(record, thread));
      break;
  }
}

void Annotations::describe(const ring::CommunicatorRecord& record) {
  communicators_[run_.writer.intern(name_of_communicator(record.communicator))] = {
      trace::small_or_none(record.rank_count), trace::small_or_none(record.rank)};
}

void Annotations::restore(EarlierRows& rows, trace::Id process) {
  rows.each<trace::Range>(process, [&](trace::Id id, const trace::Range& row) {
    // The NVTX id of a start-end range is not in the trace; such a range stays open.
    if (row.end_ns == trace::kUnknownNs && row.kind == trace::kPushPop)
      pushed_[pair_key(row.thread_id, row.domain_id)].push_back({{row, id}, {}});
  });
  rows.each<trace::CollectiveCall>(process, [&](trace::Id id, const trace::CollectiveCall& row) {
    if (row.rank_count != trace::kNoSmall)
      communicators_[row.communicator_id] = {row.rank_count, row.rank};
    for (auto& [where, ranges] : pushed_) {
      for (Open& range : ranges) {
        if (range.row.thread_id == row.thread_id && range.row.start_ns == row.start_ns)
          range.call = {row, id};
      }
    }
  });
}

}  // namespace streamscope::record
