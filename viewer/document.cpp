// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "document.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <limits>

#include "analysis/derive.h"
#include "labels.h"
#include "trace/loss.h"

namespace streamscope::viewer {
namespace {

using trace::kUnknownNs;

// Numbers of api_call.kind, as schema.sql lists them.
enum CallKind : trace::Small {
  kLaunch = 1,
  kMemcpy = 2,
  kMemsetAsync = 5,
  kMemoryWaitCall = 21,
  kMemoryWriteCall = 22,
  kGraphLaunchCall = 29,
};

// CUPTI's copy kinds, as in op.detail.
enum CopyKind : trace::Small { kHtoD = 1, kDtoH = 2, kHtoA = 3, kAtoH = 4 };

// Offsets and values of "all values of key k", from pairs (key, value) of keys below `keys`.
void index_pairs(size_t keys, const std::vector<std::pair<Id, uint32_t>>& pairs,
                 std::vector<uint32_t>& offsets, std::vector<uint32_t>& values) {
  offsets.assign(keys + 1, 0);
  for (const auto& [key, value] : pairs) ++offsets[key + 1];
  for (size_t i = 0; i < keys; ++i) offsets[i + 1] += offsets[i];
  values.resize(pairs.size());
  std::vector<uint32_t> next(offsets.begin(), offsets.end() - 1);
  for (const auto& [key, value] : pairs) values[next[key]++] = value;
}

std::optional<TimeRange> range_of(Ns start_ns, Ns end_ns, Ns open_end_ns) {
  if (start_ns == kUnknownNs) return std::nullopt;
  // A call that never returned, a range that was never closed: open to the end of the trace.
  if (end_ns == kUnknownNs) end_ns = open_end_ns;
  return TimeRange{start_ns, std::max(start_ns, end_ns)};
}

template <class Columns>
void widen(TimeRange& extent, const Columns& table) {
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.start_ns[i] == kUnknownNs) continue;
    extent.begin_ns = std::min(extent.begin_ns, table.start_ns[i]);
    extent.end_ns = std::max(extent.end_ns, std::max(table.start_ns[i], table.end_ns[i]));
  }
}

}  // namespace

std::string_view to_string(Category category) {
  static constexpr std::array<std::string_view, kCategoryCount> kNames = {
      "kernel",        "copy to device",  "copy to host", "copy on device", "memset",
      "host function", "memory wait",     "memory write", "graph launch",   "launch call",
      "copy call",     "event record",    "stream wait",  "blocking call",  "other call",
      "NVTX range",    "coord operation", "coord barrier"};
  return kNames[static_cast<size_t>(category)];
}

Document::Document(trace::Trace trace, bool is_sketch)
    : trace_(std::move(trace)), is_sketch_(is_sketch) {
  find_extent();
  read_losses();
  short_names_.resize(trace_.strings.size());
  for (size_t i = 0; i < trace_.strings.size(); ++i)
    short_names_[i] = short_name(trace_.strings[i]);
  static std::atomic<uint64_t> documents = 0;
  serial_ = ++documents;
  link_ops();
  analysis::Analyses analyses(trace_);
  if (!is_sketch) link_dependencies(analyses);
  make_lanes();
  add_waits();
  measure_activity();
  if (is_sketch) return;
  insights_ = gain_insights(analyses);
  add_path();
}

void Document::find_extent() {
  TimeRange extent{std::numeric_limits<Ns>::max(), std::numeric_limits<Ns>::min()};
  widen(extent, trace_.op);
  widen(extent, trace_.api_call);
  widen(extent, trace_.event_record);
  widen(extent, trace_.event_wait);
  widen(extent, trace_.host_sync);
  widen(extent, trace_.range);
  const auto& operation = trace_.operation;
  for (size_t i = 0; i < operation.size(); ++i) {
    for (const Ns at :
         {operation.registered_ns[i], operation.begun_ns[i], operation.completed_ns[i]}) {
      if (at == kUnknownNs) continue;
      extent.begin_ns = std::min(extent.begin_ns, at);
      extent.end_ns = std::max(extent.end_ns, at);
    }
  }
  if (extent.begin_ns > extent.end_ns) extent = {0, 1'000'000};
  if (extent.begin_ns == extent.end_ns) extent.end_ns = add_ns(extent.end_ns, 1);
  extent_ = extent;
  work_ = {std::numeric_limits<Ns>::max(), std::numeric_limits<Ns>::min()};
  widen(work_, trace_.op);
  if (work_.begin_ns >= work_.end_ns) work_ = extent_;
  if (!never_ended_ops().empty()) work_.end_ns = extent_.end_ns;
}

void Document::read_losses() {
  if (!trace_.complete()) {
    losses_.push_back({trace::Severity::kDataLoss, "The recording did not end in good order."});
  }
  const auto& loss = trace_.loss;
  for (size_t i = 0; i < loss.size(); ++i) {
    const trace::LossInfo& kind = trace::loss_info(trace_.text(loss.name_id[i]));
    const auto severity = loss.severity[i] == trace::kNoSmall
                              ? kind.severity
                              : static_cast<trace::Severity>(loss.severity[i]);
    if (severity < trace::Severity::kNotice) continue;
    std::string text(kind.meaning);
    if (loss.count[i] != trace::kNoInt && loss.count[i] > 1)
      text += " (" + format_count(loss.count[i]) + ")";
    if (const std::string_view detail = trace_.text(loss.detail_id[i]); !detail.empty()) {
      text += " [" + std::string(detail) + "]";
    }
    if (!kind.advice.empty()) text += " " + std::string(kind.advice);
    losses_.push_back({severity, std::move(text)});
  }
  std::stable_sort(losses_.begin(), losses_.end(),
                   [](const LossLine& a, const LossLine& b) { return a.severity > b.severity; });
}

void Document::link_ops() {
  const auto& op = trace_.op;
  op_of_call_.assign(trace_.api_call.size(), kNoId);
  operation_of_.assign(op.size(), kNoId);
  for (Id id = 0; id < op.size(); ++id) {
    const Id call = op.api_call_id[id];
    if (call < op_of_call_.size()) {
      if (op_of_call_[call] == kNoId) op_of_call_[call] = id;
      operation_of_[id] = trace_.api_call.operation_id[call];
    }
  }
  const auto& link = trace_.operation_op;
  for (size_t i = 0; i < link.size(); ++i) {
    if (link.op_id[i] < operation_of_.size()) operation_of_[link.op_id[i]] = link.operation_id[i];
  }
  operation_span_.assign(trace_.operation.size(), {kUnknownNs, kUnknownNs});
  for (Id id = 0; id < op.size(); ++id) {
    const Id operation = operation_of_[id];
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

void Document::link_dependencies(analysis::Analyses& analyses) {
  const bool derived = trace_.op.size() > kDeriveUpTo && analysis::has_derived_tables(trace_);
  if (derived) {
    take_derived_edges();
  } else {
    const analysis::Edges& edges = analyses.edges();
    for (const trace::Edge& edge : edges.rows())
      dependencies_.push_back({static_cast<trace::EdgeKind>(edge.kind), edge.from_op_id,
                               edge.to_op_id, edge.event_record_id, edge.event_wait_id});
    why_late_ = analyses.waits();
    wait_groups_ = analysis::group_waits(trace_, edges, why_late_);
  }
  std::vector<std::pair<Id, uint32_t>> in, out;
  for (uint32_t index = 0; index < dependencies_.size(); ++index) {
    const Dependency& edge = dependencies_[index];
    in.emplace_back(edge.to_op, index);
    out.emplace_back(edge.from_op, index);
    if (edge.record != kNoId) by_record_.emplace_back(edge.record, index);
    if (edge.wait != kNoId) by_wait_.emplace_back(edge.wait, index);
  }
  std::sort(by_record_.begin(), by_record_.end());
  std::sort(by_wait_.begin(), by_wait_.end());
  index_pairs(trace_.op.size(), in, incoming_index_, incoming_);
  index_pairs(trace_.op.size(), out, outgoing_index_, outgoing_);
  waited_ns_.assign(dependencies_.size(), 0);
  for (const analysis::WaitPart& part : why_late_) {
    if (part.edge < waited_ns_.size()) waited_ns_[part.edge] += part.duration_ns;
  }
}

void Document::take_derived_edges() {
  const auto& edge = trace_.edge;
  dependencies_.reserve(edge.size());
  for (size_t i = 0; i < edge.size(); ++i)
    dependencies_.push_back({static_cast<trace::EdgeKind>(edge.kind[i]), edge.from_op_id[i],
                             edge.to_op_id[i], edge.event_record_id[i], edge.event_wait_id[i]});
  const auto& cause = trace_.wait_cause;
  why_late_.reserve(cause.size());
  for (size_t i = 0; i < cause.size(); ++i)
    why_late_.push_back({.op = cause.op_id[i],
                         .cause = static_cast<analysis::WaitCause>(cause.cause[i]),
                         .duration_ns = cause.duration_ns[i],
                         .edge = cause.edge_id[i],
                         .because_op = cause.because_op_id[i]});
  // They are kept in the form above.
  trace_.edge = {};
  trace_.wait_cause = {};
  trace_.lod = {};
}

std::span<const analysis::WaitPart> Document::why_late(Id op) const {
  const auto of = [](const analysis::WaitPart& part) { return part.op; };
  const auto found = std::ranges::equal_range(why_late_, op, {}, of);
  return {found.begin(), found.end()};
}

std::span<const uint32_t> Document::incoming(Id op) const {
  if (op >= trace_.op.size()) return {};
  return std::span(incoming_).subspan(incoming_index_[op],
                                      incoming_index_[op + 1] - incoming_index_[op]);
}

std::span<const uint32_t> Document::outgoing(Id op) const {
  if (op >= trace_.op.size()) return {};
  return std::span(outgoing_).subspan(outgoing_index_[op],
                                      outgoing_index_[op + 1] - outgoing_index_[op]);
}

std::vector<uint32_t> Document::dependencies_of(Item item) const {
  std::vector<uint32_t> result;
  const auto collect = [&](const std::vector<std::pair<uint32_t, uint32_t>>& pairs) {
    auto it =
        std::lower_bound(pairs.begin(), pairs.end(), std::pair<uint32_t, uint32_t>(item.id, 0));
    for (; it != pairs.end() && it->first == item.id; ++it) result.push_back(it->second);
  };
  if (item.kind == ItemKind::kOp) {
    const auto in = incoming(item.id), out = outgoing(item.id);
    result.assign(in.begin(), in.end());
    result.insert(result.end(), out.begin(), out.end());
  } else if (item.kind == ItemKind::kEventRecord) {
    collect(by_record_);
  } else if (item.kind == ItemKind::kEventWait) {
    collect(by_wait_);
  }
  return result;
}

std::vector<uint32_t> Document::longest_waits(size_t count) const {
  std::vector<std::pair<Ns, uint32_t>> waits;
  for (uint32_t i = 0; i < dependencies_.size(); ++i) {
    if (const Ns waited = waited_ns(i); waited > 0) waits.emplace_back(waited, i);
  }
  count = std::min(count, waits.size());
  const auto longer = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  std::partial_sort(waits.begin(), waits.begin() + static_cast<ptrdiff_t>(count), waits.end(),
                    longer);
  std::vector<uint32_t> result;
  for (size_t i = 0; i < count; ++i) result.push_back(waits[i].second);
  return result;
}

Item Document::call_of(Id op) const {
  const Id call = op < trace_.op.size() ? trace_.op.api_call_id[op] : kNoId;
  return call < trace_.api_call.size() ? Item{ItemKind::kApiCall, call} : Item{};
}

Id Document::op_of(Item call) const {
  return call.kind == ItemKind::kApiCall && call.id < op_of_call_.size() ? op_of_call_[call.id]
                                                                         : kNoId;
}

Id Document::operation_of(Id op) const {
  return op < operation_of_.size() ? operation_of_[op] : kNoId;
}

bool Document::never_ended(Item item) const {
  const auto open = [&](const auto& table) {
    return item.id < table.size() && table.start_ns[item.id] != kUnknownNs &&
           table.end_ns[item.id] == kUnknownNs;
  };
  switch (item.kind) {
    case ItemKind::kOp:
      return open(trace_.op);
    case ItemKind::kApiCall:
      return open(trace_.api_call);
    case ItemKind::kHostSync:
      return open(trace_.host_sync);
    case ItemKind::kRange:
      return open(trace_.range);
    default:
      return false;
  }
}

std::vector<Id> Document::never_ended_ops() const {
  std::vector<Id> result;
  for (Id id = 0; id < trace_.op.size(); ++id) {
    if (never_ended({ItemKind::kOp, id})) result.push_back(id);
  }
  return result;
}

std::optional<TimeRange> Document::time(Item item) const {
  const Id id = item.id;
  const auto of = [&](const auto& table) -> std::optional<TimeRange> {
    if (id >= table.size()) return std::nullopt;
    return range_of(table.start_ns[id], table.end_ns[id], extent_.end_ns);
  };
  switch (item.kind) {
    case ItemKind::kNone:
      break;
    case ItemKind::kOp:
      if (const auto own = of(trace_.op)) return own;
      if (const Item call = call_of(id)) return time(call);
      break;
    case ItemKind::kApiCall:
      return of(trace_.api_call);
    case ItemKind::kEventRecord:
      return of(trace_.event_record);
    case ItemKind::kEventWait:
      return of(trace_.event_wait);
    case ItemKind::kHostSync:
      return of(trace_.host_sync);
    case ItemKind::kRange:
      return of(trace_.range);
    case ItemKind::kOperation: {
      const auto& operation = trace_.operation;
      if (id >= operation.size()) break;
      // The work itself says best when it ran; "completed" is only when the host learnt of it.
      if (operation_span_[id].begin_ns != kUnknownNs) return operation_span_[id];
      const Ns begun = operation.begun_ns[id] != kUnknownNs ? operation.begun_ns[id]
                                                            : operation.registered_ns[id];
      return range_of(begun, operation.completed_ns[id], extent_.end_ns);
    }
    case ItemKind::kBarrier: {
      const auto& barrier = trace_.barrier;
      if (id >= barrier.size()) break;
      return range_of(barrier.first_arrival_ns[id], barrier.release_ns[id], extent_.end_ns);
    }
  }
  return std::nullopt;
}

Category Document::category(Item item) const {
  const Id id = item.id;
  switch (item.kind) {
    case ItemKind::kOp:
      if (id >= trace_.op.size()) break;
      switch (trace_.op.kind[id]) {
        case trace::kKernel:
          return Category::kKernel;
        case trace::kMemcpy:
          switch (trace_.op.detail[id]) {
            case kHtoD:
            case kHtoA:
              return Category::kCopyToDevice;
            case kDtoH:
            case kAtoH:
              return Category::kCopyToHost;
            default:
              return Category::kCopyOnDevice;
          }
        case trace::kMemset:
          return Category::kMemset;
        case trace::kHostFunction:
          return Category::kHostFunction;
        case trace::kMemoryWait:
          return Category::kMemoryWait;
        case trace::kMemoryWrite:
          return Category::kMemoryWrite;
        default:
          return Category::kGraphLaunch;
      }
    case ItemKind::kApiCall: {
      if (id >= trace_.api_call.size()) break;
      const trace::Small kind = trace_.api_call.kind[id];
      if (kind == kLaunch || kind == kGraphLaunchCall) return Category::kLaunchCall;
      if (kind >= kMemcpy && kind <= kMemsetAsync) return Category::kCopyCall;
      break;
    }
    case ItemKind::kEventRecord:
      return Category::kRecordCall;
    case ItemKind::kEventWait:
      return Category::kWaitCall;
    case ItemKind::kHostSync:
      if (id >= trace_.host_sync.size()) break;
      if (trace_.host_sync.kind[id] == trace::kStreamQuery ||
          trace_.host_sync.kind[id] == trace::kEventQuery)
        break;
      return Category::kBlockingCall;
    case ItemKind::kRange:
      return Category::kRange;
    case ItemKind::kOperation:
      return Category::kOperation;
    case ItemKind::kBarrier:
      return Category::kBarrier;
    case ItemKind::kNone:
      break;
  }
  return Category::kOtherCall;
}

Id Document::name_id(Item item) const {
  const auto of = [&](const auto& table) {
    return item.id < table.size() ? table.name_id[item.id] : kNoId;
  };
  switch (item.kind) {
    case ItemKind::kOp:
      return of(trace_.op);
    case ItemKind::kApiCall:
      return of(trace_.api_call);
    case ItemKind::kEventRecord:
      return of(trace_.event_record);
    case ItemKind::kEventWait:
      return of(trace_.event_wait);
    case ItemKind::kHostSync:
      return of(trace_.host_sync);
    case ItemKind::kRange:
      return of(trace_.range);
    case ItemKind::kOperation:
      return of(trace_.operation);
    case ItemKind::kBarrier:
      return of(trace_.barrier);
    case ItemKind::kNone:
      break;
  }
  return kNoId;
}

std::string Document::label(Item item) const {
  const Id name = name_id(item);
  if (item.kind == ItemKind::kOp && item.id < trace_.op.size() &&
      trace_.op.kind[item.id] == trace::kMemcpy && trace_.op.detail[item.id] != trace::kNoSmall) {
    // Of a copy the direction and the size matter, whatever it is called.
    std::string text(trace::copy_kind_name(trace_.op.detail[item.id]));
    if (trace_.op.bytes[item.id] != trace::kNoInt)
      text += " " + format_bytes(trace_.op.bytes[item.id]);
    return text;
  }
  if (name < short_names_.size() && !short_names_[name].empty()) return short_names_[name];
  return std::string(to_string(category(item)));
}

std::string Document::label_with_stream(Item item) const {
  const auto where = place(item);
  return label(item) + (where ? " on " + lanes_[where->lane].title : "");
}

std::string Document::name(Item item) const {
  const std::string_view text = trace_.text(name_id(item));
  return text.empty() ? label(item) : demangle(text);
}

std::string Document::stream_name(Id stream) const {
  if (stream >= trace_.stream.size()) return "unknown stream";
  if (const std::string_view name = trace_.text(trace_.stream.name_id[stream]); !name.empty())
    return std::string(name);
  if (trace_.stream.kind[stream] == trace::kLegacyStream) return "default stream";
  const trace::Small native = trace_.stream.native_id[stream];
  const std::string number =
      std::to_string(native == trace::kNoSmall ? static_cast<trace::Small>(stream) : native);
  return (trace_.stream.kind[stream] == trace::kPerThreadStream ? "thread stream " : "stream ") +
         number;
}

std::string Document::thread_name(Id thread) const {
  if (thread >= trace_.thread.size()) return "unknown thread";
  if (const std::string_view name = trace_.text(trace_.thread.name_id[thread]); !name.empty())
    return std::string(name);
  const trace::Small tid = trace_.thread.os_tid[thread];
  return "thread " +
         std::to_string(tid == trace::kNoSmall ? static_cast<trace::Small>(thread) : tid);
}

std::string Document::event_name(Id event) const {
  if (event >= trace_.event.size()) return "unknown event";
  if (const std::string_view name = trace_.text(trace_.event.name_id[event]); !name.empty())
    return std::string(name);
  return "event " + std::to_string(event);
}

std::optional<size_t> Document::lane_of(LaneKind kind, Id object) const {
  const std::vector<int>& lanes = kind == LaneKind::kStream ? stream_lane_ : thread_lane_;
  if (object >= lanes.size() || lanes[object] < 0) return std::nullopt;
  return static_cast<size_t>(lanes[object]);
}

std::optional<Place> Document::place(Item item) const {
  const auto interval = time(item);
  if (!interval) return std::nullopt;
  const auto of = [&](const std::vector<int>& lanes, const std::vector<Id>& column) -> int {
    return item.id < column.size() && column[item.id] < lanes.size() ? lanes[column[item.id]] : -1;
  };
  int lane = -1;
  switch (item.kind) {
    case ItemKind::kOp:
      lane = of(stream_lane_, trace_.op.stream_id);
      break;
    case ItemKind::kApiCall:
      lane = of(thread_lane_, trace_.api_call.thread_id);
      break;
    case ItemKind::kEventRecord:
      lane = of(thread_lane_, trace_.event_record.thread_id);
      break;
    case ItemKind::kEventWait:
      lane = of(thread_lane_, trace_.event_wait.thread_id);
      break;
    case ItemKind::kHostSync:
      lane = of(thread_lane_, trace_.host_sync.thread_id);
      break;
    case ItemKind::kRange:
      lane = of(thread_lane_, trace_.range.thread_id);
      break;
    case ItemKind::kOperation:
      lane = of(operations_lane_, trace_.operation.process_id);
      break;
    case ItemKind::kBarrier:
      lane = of(operations_lane_, trace_.barrier.process_id);
      break;
    case ItemKind::kNone:
      break;
  }
  if (lane < 0) return std::nullopt;
  const auto& bands = lanes_[static_cast<size_t>(lane)].bands;
  for (size_t band = 0; band < bands.size(); ++band) {
    const Row& row = bands[band].row;
    auto it = std::lower_bound(row.start_ns.begin(), row.start_ns.end(), interval->begin_ns);
    for (; it != row.start_ns.end() && *it == interval->begin_ns; ++it) {
      const size_t index = static_cast<size_t>(it - row.start_ns.begin());
      if (row.item[index] == pack(item)) return Place{static_cast<size_t>(lane), band, index};
    }
  }
  return std::nullopt;
}

Item Document::item_at(const Place& place) const {
  return unpack(lanes_[place.lane].bands[place.band].row.item[place.index]);
}

Sums Document::sums(TimeRange range) const {
  Sums result;
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    Sums::Entry in_lane;
    for (const Band& band : lanes_[lane].bands) {
      const auto [first, last] = visible(band.row, range);
      for (size_t i = first; i < last; ++i) {
        const Ns from = std::max(band.row.start_ns[i], range.begin_ns),
                 to = std::min(band.row.end_ns[i], range.end_ns);
        if (to < from || (to == from && band.row.end_ns[i] != band.row.start_ns[i])) continue;
        Sums::Entry& entry =
            result.by_category[static_cast<size_t>(category(unpack(band.row.item[i])))];
        ++entry.count;
        entry.busy_ns += to - from;
        if (band.kind != BandKind::kOps) continue;
        ++in_lane.count;
        in_lane.busy_ns += to - from;
      }
    }
    if (lanes_[lane].kind == LaneKind::kStream) result.by_stream.emplace_back(lane, in_lane);
  }
  return result;
}

std::vector<bool> Document::names_with(std::string_view text) const {
  if (text.empty()) return {};
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  std::vector<bool> names(trace_.strings.size());
  for (size_t i = 0; i < names.size(); ++i)
    names[i] = !std::ranges::search(trace_.strings[i], text, same).empty();
  return names;
}

bool Document::has_name(Item item, const std::vector<bool>& names) const {
  const Id name = name_id(item);
  return name < names.size() && names[name];
}

std::vector<Item> Document::items_with(const std::vector<bool>& names, size_t limit) const {
  std::vector<std::pair<Ns, uint32_t>> found;
  for (const Lane& lane : lanes_) {
    for (const Band& band : lane.bands) {
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

void Document::measure_activity() {
  activity_ = {std::vector<float>(kActivityBuckets, 0), std::vector<float>(kActivityBuckets, 0)};
  const double width = extent_.span_ns() / kActivityBuckets;
  for (Id id = 0; id < trace_.op.size(); ++id) {
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
