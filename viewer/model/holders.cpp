// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "holders.h"

#include <algorithm>

#include "analysis/call_sites.h"
#include "labels.h"

namespace streamscope::viewer {
namespace {

using analysis::Lifetimes;
using analysis::PoolUsage;

// What is known about a holder; unknown parts are omitted.
class Details {
 public:
  explicit Details(const TraceModel& model) : model_(model) {}

  Details& add(std::string_view text) {
    if (!text.empty()) text_ += (text_.empty() ? "" : ", ") + std::string(text);
    return *this;
  }
  Details& stream(Id stream) {
    return stream == kNoId ? *this : add("on " + model_.items().stream_name(stream));
  }
  Details& operation(Id id) {
    const auto& operation = model_.trace().operation;
    if (id >= operation.size()) return *this;
    add("for " + model_.items().label({ItemKind::kOperation, id}));
    return registered_at(id);
  }
  // File and line, without folder and function.
  Details& registered_at(Id operation) {
    const std::string site = model_.items().text(model_.trace().operation.call_site_id[operation]);
    const auto source = analysis::source_line(site);
    if (!source) return add(site);
    return add(std::string(source->file.substr(source->file.rfind('/') + 1)) + ":" +
               std::to_string(source->line));
  }
  // The call that made it, and for which operation.
  Details& made_by(Id id) {
    const auto& call = model_.trace().api_call;
    if (id >= call.size()) return *this;
    operation(call.operation_id[id]);
    const std::vector<std::string>& sites = model_.pools().call_sites();
    const Id stack = call.stack_id[id];
    if (stack < sites.size() && !sites[stack].empty()) return add(sites[stack]);
    return add(model_.items().label({ItemKind::kApiCall, id}) + " by " +
               model_.items().thread_name(call.thread_id[id]));
  }
  std::string take() { return std::move(text_); }

 private:
  const TraceModel& model_;
  std::string text_;
};

Id at_or_none(const std::vector<Id>& ids, Id row) { return row < ids.size() ? ids[row] : kNoId; }

// The op of a stream that is the next to end after an instant; kNoId if there is none.
Id unfinished_op(const TraceModel& model, Id stream, Ns at) {
  for (const Lane& lane : model.lanes()) {
    if (lane.kind != LaneKind::kStream || lane.object != stream || lane.bands.empty()) continue;
    const Row& row = lane.bands[0].row;
    const auto next = std::upper_bound(row.end_ns.begin(), row.end_ns.end(), at);
    return next == row.end_ns.end()
               ? kNoId
               : unpack(row.item[static_cast<size_t>(next - row.end_ns.begin())]).id;
  }
  return kNoId;
}

Holder describe_event(const TraceModel& model, Id event, Ns at) {
  Details details(model);
  const auto& record = model.trace().event_record;
  if (const Id row = model.pools().last_record(event, at); row != kNoId) {
    details.add("recorded on " + model.items().stream_name(record.stream_id[row]));
    details.operation(record.operation_id[row]);
  }
  details.made_by(at_or_none(model.pools().creators().of_event, event));
  return {model.items().event_name(event), details.take()};
}

Holder describe_stream(const TraceModel& model, Id stream, Ns at, bool is_lent) {
  Details details(model);
  if (const Id op = is_lent ? unfinished_op(model, stream, at) : kNoId; op != kNoId) {
    details.add("with " + model.items().label({ItemKind::kOp, op}));
    details.operation(model.items().operation_of(op));
    if (const Item call = model.items().call_of(op)) details.made_by(call.id);
  } else {
    details.made_by(at_or_none(model.pools().creators().of_stream, stream));
  }
  return {model.items().stream_name(stream), details.take()};
}

Holder describe_allocation(const TraceModel& model, Id id) {
  const auto& allocation = model.trace().allocation;
  Details details(model);
  details.stream(allocation.alloc_stream_id[id]).made_by(allocation.alloc_call_id[id]);
  return {format_bytes(allocation.bytes[id]), details.take()};
}

Holder describe_operation(const TraceModel& model, Id id) {
  const auto& operation = model.trace().operation;
  Details details(model);
  details.stream(operation.stream_id[id]).registered_at(id);
  return {model.items().label({ItemKind::kOperation, id}), details.take()};
}

Holders describe(const TraceModel& model, const PoolUsage& pool, size_t count,
                 const std::vector<Lifetimes::Life>& lives, Ns at) {
  Holders holders{.count = count};
  for (const Lifetimes::Life& life : lives) {
    const analysis::HeldBy by = analysis::held_by(pool);
    Holder holder = by == analysis::HeldBy::kOperation ? describe_operation(model, life.id)
                    : pool.kind == trace::kStreamPool
                        ? describe_stream(model, life.id, at, by == analysis::HeldBy::kStream)
                    : pool.kind == trace::kEventPool ? describe_event(model, life.id, at)
                                                     : describe_allocation(model, life.id);
    holder.since_ns = life.from_ns;
    holders.oldest.push_back(std::move(holder));
  }
  return holders;
}

}  // namespace

Holders holders_at(const TraceModel& model, const PoolUsage& pool, Ns at, size_t most) {
  if (!pool.holders) return {};
  return describe(model, pool, pool.holders->count_at(at), pool.holders->oldest_at(at, most), at);
}

Holders endless_holders(const TraceModel& model, const PoolUsage& pool, size_t most) {
  if (!pool.holders) return {};
  return describe(model, pool, pool.holders->endless_count(), pool.holders->oldest_endless(most),
                  model.extent().end_ns);
}

}  // namespace streamscope::viewer
