// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "page_lanes.h"

#include <algorithm>
#include <map>

#include "analysis/labels.h"
#include "analysis/order/edges.h"
#include "analysis/usage/lod.h"

namespace streamscope::report {
namespace {

using trace::Id;
using trace::kNoId;
using trace::Trace;

// More boxes open slowly and show nothing more on any screen.
constexpr size_t kMostBoxes = 120'000;
constexpr size_t kMostEdges = 20'000;
constexpr size_t kMostShownFirst = 40'000;  // ops in addition to the cells

using Period = std::pair<trace::Ns, trace::Ns>;

trace::Lod box_of_op(const Trace& trace, Id op) {
  return {.stream_id = trace.op.stream_id[op],
          .start_ns = trace.op.start_ns[op],
          .end_ns = trace.op.end_ns[op],
          .count = 1,
          .longest_op_id = op};
}

// The finest level of the pyramid that fits on a page, else the coarsest; by stream, then by time.
std::vector<trace::Lod> cells_of(const Trace& trace, const analysis::StreamOps& stream_ops) {
  std::vector<trace::Lod> all;
  if (trace.lod.empty()) {
    all = analysis::level_of_detail(trace, stream_ops);
  } else {
    for (size_t i = 0; i < trace.lod.size(); ++i) {
      all.push_back({.level = trace.lod.level[i],
                     .stream_id = trace.lod.stream_id[i],
                     .start_ns = trace.lod.start_ns[i],
                     .end_ns = trace.lod.end_ns[i],
                     .busy_ns = trace.lod.busy_ns[i],
                     .count = trace.lod.count[i],
                     .longest_op_id = trace.lod.longest_op_id[i]});
    }
  }
  std::map<trace::Small, size_t> sizes;
  for (const trace::Lod& cell : all) ++sizes[cell.level];
  trace::Small wanted = 0;
  for (const auto& [level, size] : sizes) {
    wanted = level;
    if (size <= kMostBoxes) break;
  }
  std::erase_if(all, [&](const trace::Lod& cell) {
    return cell.level != wanted || cell.longest_op_id >= trace.op.size();
  });
  return all;
}

// The cells, but the ops themselves in a period, if they are not too many.
std::vector<trace::Lod> with_ops(const Trace& trace, const analysis::StreamOps& stream_ops,
                                 const std::vector<trace::Lod>& cells, const Period& period) {
  std::vector<trace::Lod> boxes;
  Id stream = kNoId;
  size_t next_op = 0;  // of the stream
  for (size_t i = 0; i < cells.size(); ++i) {
    const trace::Lod& cell = cells[i];
    if (cell.stream_id != stream) next_op = 0;
    stream = cell.stream_id;
    const size_t before = boxes.size();
    if (cell.end_ns >= period.first && cell.start_ns <= period.second) {
      const bool last = i + 1 == cells.size() || cells[i + 1].stream_id != stream;
      for (const auto ops = stream_ops.ops(stream); next_op < ops.size(); ++next_op) {
        const Id op = ops[next_op];
        if (!analysis::is_timed(trace, op) || trace.op.start_ns[op] < cell.start_ns) continue;
        if (!last && trace.op.start_ns[op] >= cells[i + 1].start_ns) break;
        boxes.push_back(box_of_op(trace, op));
      }
    }
    if (boxes.size() == before) boxes.push_back(cell);
    if (boxes.size() > i + kMostShownFirst) return cells;
  }
  return boxes;
}

std::vector<trace::Lod> boxes_of(const Trace& trace, const analysis::StreamOps& stream_ops,
                                 const std::optional<Period>& shown_first) {
  if (trace.op.size() > kMostBoxes) {
    if (std::vector<trace::Lod> cells = cells_of(trace, stream_ops); !cells.empty())
      return shown_first ? with_ops(trace, stream_ops, cells, *shown_first) : cells;
  }
  std::vector<trace::Lod> boxes;
  for (Id stream = 0; stream < stream_ops.stream_count(); ++stream) {
    for (const Id op : stream_ops.ops(stream)) {
      if (!analysis::is_timed(trace, op)) continue;
      boxes.push_back(box_of_op(trace, op));
    }
  }
  return boxes;
}

class Writer {
 public:
  Writer(const Trace& trace, std::vector<trace::Lod> boxes)
      : trace_(trace), boxes_(std::move(boxes)), first_box_(trace.stream.size(), kNoBox) {}

  PageLanes write() {
    Json lanes = Json::array();
    bool folded = false;
    for (size_t i = 0; i < boxes_.size(); ++i) {
      const trace::Lod& box = boxes_[i];
      if (i == 0 || box.stream_id != boxes_[i - 1].stream_id) {
        first_box_[box.stream_id] = i;
        lane_of_[box.stream_id] = lanes.size();
        lanes.push_back({{"name", "stream " + analysis::stream_label(trace_, box.stream_id)},
                         {"ops", Json::array()}});
      }
      Json& ops = lanes.back()["ops"];
      ops.insert(ops.end(),
                 {box.start_ns, box.end_ns - box.start_ns, name_of(box.longest_op_id), box.count});
      folded |= box.count > 1;
    }
    const bool empty = boxes_.empty();
    Json data{{"first", empty ? 0 : std::ranges::min(boxes_, {}, &trace::Lod::start_ns).start_ns},
              {"last", empty ? 0 : std::ranges::max(boxes_, {}, &trace::Lod::end_ns).end_ns},
              {"names", std::move(names_)},
              {"kinds", std::move(kinds_)},
              {"lanes", std::move(lanes)},
              {"edges", edges()}};
    return {.data = std::move(data), .folded = folded};
  }

 private:
  static constexpr size_t kNoBox = SIZE_MAX;

  size_t name_of(Id op) {
    const auto [known, is_new] = name_ids_.try_emplace(
        std::tuple(trace_.op.kind[op], trace_.op.name_id[op], trace_.op.detail[op]), names_.size());
    if (is_new) {
      names_.push_back(analysis::printable(analysis::op_label(trace_, op)));
      kinds_.push_back(trace_.op.kind[op]);
    }
    return known->second;
  }

  // Index of the box of an op in its lane; kNoBox if it has none.
  size_t box_of(Id op) const {
    const Id stream = op < trace_.op.size() ? trace_.op.stream_id[op] : kNoId;
    if (stream >= first_box_.size() || first_box_[stream] == kNoBox ||
        !analysis::is_timed(trace_, op))
      return kNoBox;
    const auto first = boxes_.begin() + static_cast<ptrdiff_t>(first_box_[stream]);
    const auto after = std::partition_point(first, boxes_.end(), [&](const trace::Lod& box) {
      return box.stream_id == stream && box.start_ns <= trace_.op.start_ns[op];
    });
    return after == first ? kNoBox : static_cast<size_t>(after - first) - 1;
  }
  Json edges() const {
    Json list = Json::array();
    const analysis::Edges all(trace_);
    for (size_t i = 0; i < all.size() && list.size() < kMostEdges; ++i) {
      const trace::Edge& edge = all[i];
      if (edge.kind != trace::kEventEdge) continue;
      const size_t from = box_of(edge.from_op_id), to = box_of(edge.to_op_id);
      if (from == kNoBox || to == kNoBox) continue;
      Json pair = {lane_of_.at(trace_.op.stream_id[edge.from_op_id]), from,
                   lane_of_.at(trace_.op.stream_id[edge.to_op_id]), to};
      if (list.empty() || list.back() != pair) list.push_back(std::move(pair));
    }
    return list;
  }

  const Trace& trace_;
  std::vector<trace::Lod> boxes_;  // by stream, then by time
  std::vector<size_t> first_box_;  // by stream
  std::map<Id, size_t> lane_of_;   // by stream
  std::map<std::tuple<trace::Small, Id, trace::Small>, size_t> name_ids_;
  Json names_ = Json::array(), kinds_ = Json::array();
};

}  // namespace

PageLanes page_lanes(const Trace& trace, const analysis::StreamOps& stream_ops,
                     std::optional<Period> shown_first) {
  std::vector<trace::Lod> boxes = boxes_of(trace, stream_ops, shown_first);
  const bool folded_first = std::ranges::any_of(boxes, [&](const trace::Lod& box) {
    return shown_first && box.count > 1 && box.end_ns >= shown_first->first &&
           box.start_ns <= shown_first->second;
  });
  PageLanes lanes = Writer(trace, std::move(boxes)).write();
  lanes.folded_first = folded_first;
  return lanes;
}

}  // namespace streamscope::report
