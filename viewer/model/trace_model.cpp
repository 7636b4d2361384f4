// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace_model.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "analysis/call_sites.h"
#include "analysis/derive.h"
#include "analysis/labels.h"
#include "labels.h"
#include "trace/function_name.h"
#include "trace/ns_math.h"

namespace streamscope::viewer {
namespace {

using trace::kUnknownNs;

template <class Columns>
void widen(TimeRange& extent, const Columns& table) {
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.start_ns[i] == kUnknownNs) continue;
    extent.begin_ns = std::min(extent.begin_ns, table.start_ns[i]);
    extent.end_ns = std::max(extent.end_ns, std::max(table.start_ns[i], table.end_ns[i]));
  }
}

}  // namespace

TraceModel::TraceModel(trace::Trace trace, bool is_sketch, size_t derive_up_to)
    : trace_(std::move(trace)), is_sketch_(is_sketch) {
  trace_.pack();
  if (!is_sketch) analyze(derive_up_to);
  build();
}

void TraceModel::build() {
  static std::atomic<uint64_t> models = 0;
  serial_ = ++models;
  insights_.on_path.resize(trace().op.size());
  info_ = report::info_of(trace());
  find_extent();
  short_names_.resize(trace().strings.size());
  for (size_t i = 0; i < trace().strings.size(); ++i)
    short_names_[i] = analysis::printable(trace::short_name(trace().strings[i]).text);
  link_ops();
  find_groups();
  link_dependencies();
  if (!is_sketch_) find_pool_holders();
  link_tasks();
  measure_pools();
  make_lanes();
  add_waits();
  add_path();
  measure_activity();
}

void TraceModel::find_extent() {
  TimeRange extent{std::numeric_limits<Ns>::max(), std::numeric_limits<Ns>::min()};
  widen(extent, trace().op);
  widen(extent, trace().api_call);
  widen(extent, trace().event_record);
  widen(extent, trace().event_wait);
  widen(extent, trace().host_sync);
  widen(extent, trace().range);
  const auto& operation = trace().operation;
  for (size_t i = 0; i < operation.size(); ++i) {
    for (const Ns at :
         {operation.registered_ns[i], operation.begun_ns[i], operation.completed_ns[i]}) {
      if (at == kUnknownNs) continue;
      extent.begin_ns = std::min(extent.begin_ns, at);
      extent.end_ns = std::max(extent.end_ns, at);
    }
  }
  for (size_t i = 0; i < trace().task.size(); ++i) {  // tasks on a GPU run within an op
    const Ns at = trace().task.start_ns[i];
    if (at == kUnknownNs) continue;
    extent.begin_ns = std::min(extent.begin_ns, at);
    extent.end_ns =
        std::max(extent.end_ns, at + std::max<trace::Int>(trace().task.duration_ns[i], 0));
  }
  if (extent.begin_ns > extent.end_ns) extent = {0, 1'000'000};
  if (extent.begin_ns == extent.end_ns) extent.end_ns = add_ns(extent.end_ns, 1);
  extent_ = extent;
  work_ = {std::numeric_limits<Ns>::max(), std::numeric_limits<Ns>::min()};
  widen(work_, trace().op);
  if (work_.begin_ns >= work_.end_ns) work_ = extent_;
  if (!never_ended_ops().empty()) work_.end_ns = extent_.end_ns;
}

void TraceModel::link_ops() {
  const auto& op = trace().op;
  std::vector<Id> op_of_call(trace().api_call.size(), kNoId), operation_of(op.size(), kNoId);
  for (Id id = 0; id < op.size(); ++id) {
    const Id call = op.api_call_id[id];
    if (call >= op_of_call.size()) continue;
    if (op_of_call[call] == kNoId) op_of_call[call] = id;
    operation_of[id] = trace().api_call.operation_id[call];
  }
  const auto& link = trace().operation_op;
  for (size_t i = 0; i < link.size(); ++i) {
    if (link.op_id[i] < operation_of.size()) operation_of[link.op_id[i]] = link.operation_id[i];
  }
  op_of_call_ = Packed<Id>(op_of_call);
  operation_of_ = Packed<Id>(operation_of);
  operation_span_.assign(trace().operation.size(), {kUnknownNs, kUnknownNs});
  if (operation_span_.empty()) return;
  for (Id id = 0; id < op.size(); ++id) {
    const Id operation = operation_of[id];
    if (operation >= operation_span_.size() || op.start_ns[id] == kUnknownNs ||
        op.end_ns[id] == kUnknownNs) {
      continue;
    }
    TimeRange& span = operation_span_[operation];
    const bool first = span.begin_ns == kUnknownNs;
    span.begin_ns = first ? op.start_ns[id] : std::min(span.begin_ns, op.start_ns[id]);
    span.end_ns = first ? op.end_ns[id] : std::max(span.end_ns, op.end_ns[id]);
  }
}

namespace {

constexpr int kDeepestGroup = 64;  // limits cycles and deep nesting in invalid traces

// Calls `each` with the groups that contain an operation, innermost first, until it returns true.
template <class Each>
bool any_group(const trace::Trace& trace, Id operation, Each each) {
  for (int depth = 0; depth < kDeepestGroup && operation < trace.operation.size(); ++depth) {
    operation = trace.operation.parent_operation_id[operation];
    if (operation != kNoId && each(operation)) return true;
  }
  return false;
}

}  // namespace

void TraceModel::find_groups() {
  std::map<Id, size_t> members;
  for (Id id = 0; id < trace().operation.size(); ++id) {
    any_group(trace(), id, [&](Id group) {
      ++members[group];
      return false;
    });
  }
  for (const auto& [group, count] : members) groups_.push_back({group, count});
}

bool TraceModel::is_in_group(Id op, Id group) const {
  const Id operation = operation_of_[op];
  return operation == group ||
         any_group(trace(), operation, [&](Id each) { return each == group; });
}

void TraceModel::analyze(size_t derive_up_to) {
  analysis::Analyses analyses(trace());
  const bool derived = analysis::has_derived_tables(trace()) && trace().op.size() > derive_up_to;
  if (derived) {
    take_derived();
  } else {
    const analysis::Edges& edges = analyses.edges();
    for (const trace::Edge& edge : edges.rows())
      dependencies_.push_back({static_cast<trace::EdgeKind>(edge.kind), edge.from_op_id,
                               edge.to_op_id, edge.event_record_id, edge.event_wait_id});
    for (const analysis::WaitPart& part : analyses.waits()) why_late_.push(part);
    wait_groups_ = analysis::group_waits(trace(), edges, analyses.waits());
  }
  why_late_.finish();
  insights_ = gain_insights(analyses, derived);
}

void TraceModel::take_derived() {
  const auto& edge = trace().edge;
  dependencies_.reserve(edge.size());
  for (size_t i = 0; i < edge.size(); ++i)
    dependencies_.push_back({static_cast<trace::EdgeKind>(edge.kind[i]), edge.from_op_id[i],
                             edge.to_op_id[i], edge.event_record_id[i], edge.event_wait_id[i]});
  const auto& cause = trace().wait_cause;
  for (size_t i = 0; i < cause.size(); ++i)
    why_late_.push({.duration_ns = cause.duration_ns[i],
                    .op = cause.op_id[i],
                    .cause = static_cast<streamscope::WaitCause>(cause.cause[i]),
                    .edge = cause.edge_id[i],
                    // At most one of them is set.
                    .because = std::min(
                        {cause.because_op_id[i], cause.host_sync_id[i], cause.call_name_id[i]})});
  // Their content is stored in the form above.
  trace_.edge = {};
  trace_.wait_cause = {};
  trace_.lod = {};
}

template <class KeyOf>
TraceModel::Index TraceModel::index_by(size_t keys, size_t rows, KeyOf key_of) {
  std::vector<uint32_t> offsets(keys + 1);
  for (uint32_t row = 0; row < rows; ++row) {
    if (const Id key = key_of(row); key < keys) ++offsets[key + 1];
  }
  for (size_t i = 0; i < keys; ++i) offsets[i + 1] += offsets[i];
  Index result{Packed<uint32_t>(offsets), std::vector<uint32_t>(offsets.back())};
  for (uint32_t row = 0; row < rows; ++row) {
    if (const Id key = key_of(row); key < keys) result.rows[offsets[key]++] = row;
  }
  return result;
}

void TraceModel::link_dependencies() {
  const auto index = [&](size_t keys, Id Dependency::*key) {
    return index_by(keys, dependencies_.size(),
                    [&](uint32_t row) { return dependencies_[row].*key; });
  };
  incoming_ = index(trace().op.size(), &Dependency::to_op);
  outgoing_ = index(trace().op.size(), &Dependency::from_op);
  by_record_ = index(trace().event_record.size(), &Dependency::record);
  by_wait_ = index(trace().event_wait.size(), &Dependency::wait);
  waited_ns_.assign(dependencies_.size(), 0);
  for (size_t i = 0; i < why_late_.size(); ++i) {
    const analysis::WaitPart part = why_late_[i];
    if (part.edge < waited_ns_.size()) trace::add_to(waited_ns_[part.edge], part.duration_ns);
  }
}

std::span<const uint32_t> TraceModel::Index::of(Id key) const {
  if (size_t{key} + 1 >= offsets.size()) return {};
  return std::span(rows).subspan(offsets[key], offsets[key + 1] - offsets[key]);
}

void TraceModel::find_pool_holders() {
  analysis::find_holders(trace(), insights_.pools);
  const bool counts_events = std::ranges::any_of(insights_.pools, [](const auto& pool) {
    return pool.derived && pool.kind == trace::kEventPool;
  });
  if (insights_.pools.empty()) return;
  insights_.creators = analysis::find_creators(trace());
  insights_.call_sites = analysis::call_sites(trace());
  if (!counts_events) return;
  const auto& record = trace().event_record;
  records_of_event_ = index_by(trace().event.size(), record.size(),
                               [&](uint32_t row) { return record.event_id[row]; });
  for (Id event = 0; event < trace().event.size(); ++event) {
    const auto& offsets = records_of_event_.offsets;
    std::ranges::sort(std::span(records_of_event_.rows)
                          .subspan(offsets[event], offsets[event + 1] - offsets[event]),
                      {}, [&](uint32_t row) -> Ns { return record.start_ns[row]; });
  }
}

Id TraceModel::last_record(Id event, Ns at) const {
  const auto rows = records_of_event_.of(event);
  const auto after = std::ranges::upper_bound(
      rows, at, {}, [&](uint32_t row) -> Ns { return trace().event_record.start_ns[row]; });
  return after == rows.begin() ? kNoId : *(after - 1);
}

std::span<const uint32_t> TraceModel::incoming(Id op) const { return incoming_.of(op); }

std::span<const uint32_t> TraceModel::outgoing(Id op) const { return outgoing_.of(op); }

std::vector<uint32_t> TraceModel::dependencies_of(Item item) const {
  std::vector<uint32_t> result;
  const auto collect = [&](std::span<const uint32_t> some) {
    result.insert(result.end(), some.begin(), some.end());
  };
  if (item.kind == ItemKind::kOp) {
    collect(incoming(item.id));
    collect(outgoing(item.id));
  } else if (item.kind == ItemKind::kEventRecord) {
    collect(by_record_.of(item.id));
  } else if (item.kind == ItemKind::kEventWait) {
    collect(by_wait_.of(item.id));
  }
  return result;
}

std::vector<analysis::WaitPart> TraceModel::longest_waits(size_t count,
                                                          std::optional<TimeRange> range) const {
  std::vector<std::pair<Ns, size_t>> waits;
  for (size_t i = 0; i < why_late_.size(); ++i) {
    const analysis::WaitPart part = why_late_[i];
    if (!analysis::is_wait(part) || part.duration_ns <= 0) continue;
    const Ns start = trace().op.start_ns[part.op];
    if (!range || (start >= range->begin_ns && start < range->end_ns))
      waits.emplace_back(part.duration_ns, i);
  }
  count = std::min(count, waits.size());
  const auto longer = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  std::partial_sort(waits.begin(), waits.begin() + static_cast<ptrdiff_t>(count), waits.end(),
                    longer);
  std::vector<analysis::WaitPart> result;
  for (size_t i = 0; i < count; ++i) result.push_back(why_late_[waits[i].second]);
  return result;
}

Sums TraceModel::sums(TimeRange range) const {
  Sums result;
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    Sums::Entry in_lane;
    for (const Band& band : lanes_[lane].bands) {
      if (is_repeated(band.kind)) continue;
      const auto [first, last] = visible(band.row, range);
      for (size_t i = first; i < last; ++i) {
        const Ns from = std::max(band.row.start_ns[i], range.begin_ns),
                 to = std::min(band.row.end_ns[i], range.end_ns);
        if (to < from || (to == from && band.row.end_ns[i] != band.row.start_ns[i])) continue;
        Sums::Entry& entry =
            result.by_category[static_cast<size_t>(category(unpack(band.row.item[i])))];
        ++entry.count;
        trace::add_to(entry.busy_ns, to - from);
        if (band.kind != BandKind::kOps) continue;
        ++in_lane.count;
        trace::add_to(in_lane.busy_ns, to - from);
      }
    }
    if (lanes_[lane].kind == LaneKind::kStream) result.by_stream.emplace_back(lane, in_lane);
  }
  return result;
}

std::vector<bool> TraceModel::names_with(std::string_view text) const {
  if (text.empty()) return {};
  std::vector<bool> names(trace().strings.size());
  for (size_t i = 0; i < names.size(); ++i) names[i] = contains_text(trace().strings[i], text);
  return names;
}

bool TraceModel::has_name(Item item, const std::vector<bool>& names) const {
  const Id name = name_id(item);
  return name < names.size() && names[name];
}

std::vector<Item> TraceModel::items_with(const std::vector<bool>& names, size_t limit) const {
  std::vector<std::pair<Ns, uint32_t>> found;
  for (const Lane& lane : lanes_) {
    for (const Band& band : lane.bands) {
      if (is_repeated(band.kind)) continue;
      size_t in_band = 0;
      for (size_t i = 0; i < band.row.size() && in_band < limit; ++i) {
        if (!has_name(unpack(band.row.item[i]), names)) continue;
        found.emplace_back(band.row.start_ns[i], band.row.item[i]);
        ++in_band;
      }
    }
  }
  std::ranges::sort(found);
  if (found.size() > limit) found.resize(limit);
  std::vector<Item> items;
  for (const auto& [at, item] : found) items.push_back(unpack(item));
  return items;
}

void TraceModel::measure_activity() {
  activity_ = {std::vector<float>(kActivityBuckets, 0), std::vector<float>(kActivityBuckets, 0)};
  const double width = extent_.span_ns() / kActivityBuckets;
  for (Id id = 0; id < trace().op.size(); ++id) {
    const auto range = time({ItemKind::kOp, id});
    if (!range) continue;
    const Category kind = category({ItemKind::kOp, id});
    const bool copy = kind == Category::kCopyToDevice || kind == Category::kCopyToHost ||
                      kind == Category::kCopyOnDevice || kind == Category::kMemset;
    std::vector<float>& into = copy ? activity_.copies : activity_.kernels;
    const double from = TimeRange{extent_.begin_ns, range->begin_ns}.span_ns() / width;
    const double to = TimeRange{extent_.begin_ns, range->end_ns}.span_ns() / width;
    for (auto bucket = static_cast<size_t>(from);
         bucket < kActivityBuckets && static_cast<double>(bucket) < to; ++bucket) {
      into[bucket] += static_cast<float>(std::min(to, static_cast<double>(bucket + 1)) -
                                         std::max(from, static_cast<double>(bucket)));
    }
  }
}

}  // namespace streamscope::viewer
