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
  explicit Details(const Document& document) : document_(document) {}

  Details& add(std::string_view text) {
    if (!text.empty()) text_ += (text_.empty() ? "" : ", ") + std::string(text);
    return *this;
  }
  Details& stream(Id stream) {
    return stream == kNoId ? *this : add("on " + document_.stream_name(stream));
  }
  Details& operation(Id id) {
    const auto& operation = document_.trace().operation;
    if (id >= operation.size()) return *this;
    add("for " + document_.label({ItemKind::kOperation, id}));
    return registered_at(id);
  }
  // File and line, without folder and function.
  Details& registered_at(Id operation) {
    const std::string site = document_.text(document_.trace().operation.call_site_id[operation]);
    const auto source = analysis::source_line(site);
    if (!source) return add(site);
    return add(std::string(source->file.substr(source->file.rfind('/') + 1)) + ":" +
               std::to_string(source->line));
  }
  // The call that made it, and for which operation.
  Details& made_by(Id id) {
    const auto& call = document_.trace().api_call;
    if (id >= call.size()) return *this;
    operation(call.operation_id[id]);
    const std::vector<std::string>& sites = document_.insights().call_sites;
    const Id stack = call.stack_id[id];
    if (stack < sites.size() && !sites[stack].empty()) return add(sites[stack]);
    return add(document_.label({ItemKind::kApiCall, id}) + " by " +
               document_.thread_name(call.thread_id[id]));
  }
  std::string take() { return std::move(text_); }

 private:
  const Document& document_;
  std::string text_;
};

Id at_or_none(const std::vector<Id>& ids, Id row) { return row < ids.size() ? ids[row] : kNoId; }

// The op of a stream that is the next to end after an instant; kNoId if there is none.
Id unfinished_op(const Document& document, Id stream, Ns at) {
  for (const Lane& lane : document.lanes()) {
    if (lane.kind != LaneKind::kStream || lane.object != stream || lane.bands.empty()) continue;
    const Row& row = lane.bands[0].row;
    const auto next = std::upper_bound(row.end_ns.begin(), row.end_ns.end(), at);
    return next == row.end_ns.end()
               ? kNoId
               : unpack(row.item[static_cast<size_t>(next - row.end_ns.begin())]).id;
  }
  return kNoId;
}

Holder describe_event(const Document& document, Id event, Ns at) {
  Details details(document);
  const auto& record = document.trace().event_record;
  if (const Id row = document.last_record(event, at); row != kNoId) {
    details.add("recorded on " + document.stream_name(record.stream_id[row]));
    details.operation(record.operation_id[row]);
  }
  details.made_by(at_or_none(document.insights().creators.of_event, event));
  return {document.event_name(event), details.take()};
}

Holder describe_stream(const Document& document, Id stream, Ns at, bool is_lent) {
  Details details(document);
  if (const Id op = is_lent ? unfinished_op(document, stream, at) : kNoId; op != kNoId) {
    details.add("with " + document.label({ItemKind::kOp, op}));
    details.operation(document.operation_of(op));
    if (const Item call = document.call_of(op)) details.made_by(call.id);
  } else {
    details.made_by(at_or_none(document.insights().creators.of_stream, stream));
  }
  return {document.stream_name(stream), details.take()};
}

Holder describe_allocation(const Document& document, Id id) {
  const auto& allocation = document.trace().allocation;
  Details details(document);
  details.stream(allocation.alloc_stream_id[id]).made_by(allocation.alloc_call_id[id]);
  return {format_bytes(allocation.bytes[id]), details.take()};
}

Holder describe_operation(const Document& document, Id id) {
  const auto& operation = document.trace().operation;
  Details details(document);
  details.stream(operation.stream_id[id]).registered_at(id);
  return {document.label({ItemKind::kOperation, id}), details.take()};
}

Holders describe(const Document& document, const PoolUsage& pool, size_t count,
                 const std::vector<Lifetimes::Life>& lives, Ns at) {
  Holders holders{.count = count};
  for (const Lifetimes::Life& life : lives) {
    const analysis::HeldBy by = analysis::held_by(pool);
    Holder holder = by == analysis::HeldBy::kOperation ? describe_operation(document, life.id)
                    : pool.kind == trace::kStreamPool
                        ? describe_stream(document, life.id, at, by == analysis::HeldBy::kStream)
                    : pool.kind == trace::kEventPool ? describe_event(document, life.id, at)
                                                     : describe_allocation(document, life.id);
    holder.since_ns = life.from_ns;
    holders.oldest.push_back(std::move(holder));
  }
  return holders;
}

}  // namespace

Holders holders_at(const Document& document, const PoolUsage& pool, Ns at, size_t most) {
  if (!pool.holders) return {};
  return describe(document, pool, pool.holders->count_at(at), pool.holders->oldest_at(at, most),
                  at);
}

Holders endless_holders(const Document& document, const PoolUsage& pool, size_t most) {
  if (!pool.holders) return {};
  return describe(document, pool, pool.holders->endless_count(), pool.holders->oldest_endless(most),
                  document.extent().end_ns);
}

}  // namespace streamscope::viewer
