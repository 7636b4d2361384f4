// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/hang/wait_for_words.h"
#include "analysis/labels.h"
#include "analysis/units.h"
#include "report/formats/markup.h"
#include "report/formats/table.h"

namespace streamscope::report {
namespace {

using analysis::format_count;
using analysis::format_duration;
using analysis::WaitFor;
using analysis::WaitGraph;
using trace::Trace;

constexpr double kWidth = 900, kLabel = 170;  // of pictures with a time axis
constexpr double kLetter = 7.2;               // width of most letters of 12 px

// The part of a text that fits a width.
std::string fitted(const std::string& text, double width) {
  return escape_markup(shortened(text, static_cast<size_t>(std::max(width / kLetter, 1.0))));
}

std::string open_svg(double width, double height, const std::string& label) {
  return fmt::format(
      "<svg class=\"picture\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" role=\"img\" "
      "aria-label=\"{}\">",
      width, height, width, escape_markup(label));
}

std::string text_at(double x, double y, const char* kind, const std::string& escaped) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>", x, y, kind, escaped);
}

// ---- who waits for whom

constexpr double kNodeWidth = 190, kNodeHeight = 44, kColumn = 290, kRow = 92, kMargin = 12;

std::string what_waits(const Trace& trace, const WaitGraph::Node& node) {
  switch (node.kind) {
    case WaitFor::Kind::kOp:
      return analysis::op_label(trace, node.id);
    case WaitFor::Kind::kRecord:
      return "record of " + analysis::event_label(trace, trace.event_record.event_id[node.id]);
    case WaitFor::Kind::kWait:
      return "wait for " + analysis::event_label(trace, trace.event_wait.event_id[node.id]);
    default:
      return analysis::call_name(trace, {node.kind, node.stuck, node.id, node.stream});
  }
}

std::string where_it_waits(const Trace& trace, const WaitGraph::Node& node) {
  std::string text;
  if (node.thread != kNoId) {
    text = analysis::thread_label(trace, node.thread);
  } else if (node.stream != kNoId) {
    text = "stream " + analysis::stream_label(trace, node.stream);
  }
  if (node.blocked) text += ", for " + format_duration(node.held_ns);
  return text;
}

std::string arrow(const WaitGraph& graph, const WaitGraph::Link& link) {
  const WaitGraph::Node &from = graph.nodes[link.from], &to = graph.nodes[link.to];
  const auto middle = [](const WaitGraph::Node& node) {
    return std::pair(kMargin + kColumn * node.column + kNodeWidth / 2,
                     kMargin + 16 + kRow * node.row + kNodeHeight / 2);
  };
  const auto [ax, ay] = middle(from);
  const auto [bx, by] = middle(to);
  // Sideways, else up or down.
  const auto sign = [](uint32_t a, uint32_t b) { return a < b ? 1.0 : a > b ? -1.0 : 0.0; };
  const double dx = sign(from.column, to.column), dy = dx != 0 ? 0 : sign(from.row, to.row);
  const double tip = 9;
  const double x1 = ax + dx * kNodeWidth / 2, y1 = ay + dy * kNodeHeight / 2;
  const double x2 = bx - dx * (kNodeWidth / 2 + tip), y2 = by - dy * (kNodeHeight / 2 + tip);
  const double bend = std::max(std::hypot(x2 - x1, y2 - y1) / 3, 10.0);
  std::string text = fmt::format(
      "<path class=\"link{}\" d=\"M{:.1f} {:.1f} C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\" "
      "marker-end=\"url(#tip{})\"/>",
      link.in_cycle ? " cycle" : "", x1, y1, x1 + bend * dx, y1 + bend * dy, x2 - bend * dx,
      y2 - bend * dy, x2, y2, link.in_cycle ? "-cycle" : "");
  // If there is a cycle, label only its arrows: other labels would overlap.
  if (!link.in_cycle && !graph.cycles.empty()) return text;
  const bool level = dx != 0 && std::abs(y1 - y2) < 1;
  return text + text_at((x1 + x2) / 2, level ? y1 - 7 : (y1 + y2) / 2 + 4, "why",
                        escape_markup(std::string(to_string(link.why))));
}

// ---- the place of a finding

struct Mark {
  Ns start, end;
  std::string name;
  const char* kind;
  bool meant;  // the finding is about it
};
struct Lane {
  std::string name;
  std::vector<Mark> marks;
};

const char* kind_of(const Trace& trace, Id op) {
  const trace::Small kind = trace.op.kind[op];
  return kind == trace::kKernel ? "kernel" : is_memory_operation(kind) ? "copy" : "other";
}

constexpr ptrdiff_t kMostNeighbors = 12;  // ops shown before those of the finding

constexpr size_t kMostMarks = 60;

// The ops of a stream around those of the finding.
Lane lane_of(const Trace& trace, const analysis::StreamOps& stream_ops, Id stream,
             const std::vector<Id>& meant, Ns from, Ns to) {
  Lane lane{.name = "stream " + analysis::stream_label(trace, stream), .marks = {}};
  const auto ops = stream_ops.ops(stream);
  auto first =
      std::ranges::partition_point(ops, [&](Id op) { return trace.op.start_ns[op] < from; });
  first -= std::min<ptrdiff_t>(first - ops.begin(), kMostNeighbors);
  for (auto at = first; at != ops.end() && lane.marks.size() < kMostMarks; ++at) {
    if (!analysis::is_timed(trace, *at)) continue;
    if (trace.op.start_ns[*at] > to) break;
    if (trace.op.end_ns[*at] < from) continue;
    const bool is_meant = std::find(meant.begin(), meant.end(), *at) != meant.end();
    lane.marks.push_back({trace.op.start_ns[*at], trace.op.end_ns[*at],
                          analysis::op_label(trace, *at), kind_of(trace, *at), is_meant});
  }
  return lane;
}

template <class Table>
void add_call(const Trace& trace, const Table& table, Id row, Lane& lane) {
  if (row >= table.size() || table.start_ns[row] == trace::kUnknownNs ||
      table.end_ns[row] == trace::kUnknownNs)
    return;
  lane.marks.push_back({table.start_ns[row], table.end_ns[row],
                        analysis::printable(trace.text(table.name_id[row])), "call", true});
}

}  // namespace

std::string picture_of(const Trace& trace, const WaitGraph& graph) {
  if (graph.nodes.empty()) return "";
  const double width = 2 * kMargin + kColumn * (graph.columns - 1) + kNodeWidth;
  const double height = 2 * kMargin + 16 + kRow * (graph.rows - 1) + kNodeHeight;
  std::string text = open_svg(
      width, height,
      fmt::format("Who waits for whom: {}, {}", format_count(graph.nodes.size(), "node"),
                  graph.cycles.empty() ? "no cycle" : format_count(graph.cycles.size(), "cycle")));
  text += "<defs>";
  for (const char* kind : {"", "-cycle"}) {
    text += fmt::format(
        "<marker id=\"tip{}\" class=\"tip{}\" viewBox=\"0 0 8 8\" refX=\"1\" refY=\"4\" "
        "markerWidth=\"9\" markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
        "<path d=\"M0 0 L8 4 L0 8 z\"/></marker>",
        kind, *kind ? " cycle" : "");
  }
  text += "</defs>";
  for (const bool cyclic : {false, true}) {  // the cycle is drawn on top
    for (const WaitGraph::Link& link : graph.links) {
      if (link.in_cycle == cyclic) text += arrow(graph, link);
    }
  }
  for (const WaitGraph::Node& node : graph.nodes) {
    const double x = kMargin + kColumn * node.column, y = kMargin + 16 + kRow * node.row;
    const std::string what = what_waits(trace, node), where = where_it_waits(trace, node);
    text += fmt::format(
        "<g class=\"node{}{}\"><title>{}, {}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" "
        "width=\"{:.0f}\" height=\"{:.0f}\" rx=\"4\"/>",
        node.in_cycle ? " cycle" : "", node.blocked ? " blocked" : "", escape_markup(what),
        escape_markup(where), x, y, kNodeWidth, kNodeHeight);
    text += text_at(x + 10, y + 18, "what", fitted(what, kNodeWidth - 20));
    text += text_at(x + 10, y + 35, "faint", fitted(where, kNodeWidth)) + "</g>";
  }
  return text + "</svg>\n";
}

std::string picture_of(const analysis::PoolUsage& pool) {
  if (pool.steps.empty() || pool.high_water <= 0) return "";
  constexpr double kHeight = 84, kTop = 14, kBottom = 66, kLeft = 70;
  constexpr size_t kColumns = 400;  // steps within a column are merged
  const Ns first = pool.steps.front().at_ns;
  const Ns span = std::max<Ns>(pool.steps.back().at_ns - first, 1);
  const bool bytes = pool.kind == trace::kMemoryPool;
  const auto amount = [&](trace::Int number) {
    return bytes ? analysis::format_bytes(number) : format_count(static_cast<uint64_t>(number));
  };
  const auto most = static_cast<double>(
      pool.capacity == trace::kNoInt ? pool.high_water : std::max(pool.capacity, pool.high_water));
  const auto y_of = [&](trace::Int number) {
    return kBottom - (kBottom - kTop) * static_cast<double>(number) / most;
  };
  // For each column, the highest usage and the usage at its end.
  std::string path = fmt::format("M{:.1f} {:.1f}", kLeft, kBottom);
  double x = kLeft;
  for (size_t i = 0; i < pool.steps.size();) {
    const auto column = [&](size_t step) {
      return static_cast<size_t>(static_cast<double>(pool.steps[step].at_ns - first) /
                                 static_cast<double>(span) * (kColumns - 1));
    };
    const size_t here = column(i);
    trace::Int peak = 0, last = 0;
    for (; i < pool.steps.size() && column(i) == here; ++i) {
      last = pool.steps[i].in_use;
      peak = std::max(peak, last);
    }
    x = kLeft + (kWidth - kLeft - 10) * static_cast<double>(here) / (kColumns - 1);
    path += fmt::format(" H{:.1f} V{:.1f}", x, y_of(peak));
    if (last != peak) path += fmt::format(" V{:.1f}", y_of(last));
  }
  path += fmt::format(" H{:.1f} V{:.1f} z", std::max(x, kWidth - 10), kBottom);
  std::string text = open_svg(
      kWidth, kHeight, fmt::format("{}: at most {} in use", pool.name, amount(pool.high_water)));
  text += fmt::format("<path class=\"amount\" d=\"{}\"/>", path);
  text += text_at(4, y_of(pool.high_water) + 4, "axis", escape_markup(amount(pool.high_water)));
  if (pool.capacity != trace::kNoInt) {
    text += fmt::format(
        "<line class=\"limit\" x1=\"{0:.0f}\" x2=\"{1:.0f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>",
        kLeft, kWidth - 10, y_of(pool.capacity));
  }
  text += text_at(kLeft, kHeight - 4, "axis", "at " + escape_markup(format_duration(first)));
  text +=
      text_at(kWidth - 110, kHeight - 4, "axis", escape_markup(format_duration(span)) + " later");
  return text + "</svg>\n";
}

std::string picture_of(const Trace& trace, const analysis::StreamOps& stream_ops,
                       const analysis::Finding& finding) {
  std::vector<Id> meant, streams;
  const auto add_stream = [&](Id stream) {
    if (stream < trace.stream.size() &&
        std::find(streams.begin(), streams.end(), stream) == streams.end())
      streams.push_back(stream);
  };
  Lane calls{.name = "host", .marks = {}};
  add_call(trace, trace.event_record, finding.event_record, calls);
  add_call(trace, trace.event_wait, finding.event_wait, calls);
  add_call(trace, trace.host_sync, finding.host_sync, calls);
  Ns from = std::numeric_limits<Ns>::max(), to = std::numeric_limits<Ns>::min();
  for (const Id op : {finding.first_op, finding.second_op}) {
    if (op >= trace.op.size() || !analysis::is_timed(trace, op)) continue;
    meant.push_back(op);
    add_stream(trace.op.stream_id[op]);
    from = std::min(from, trace.op.start_ns[op]);
    to = std::max(to, trace.op.end_ns[op]);
  }
  if (finding.event_record < trace.event_record.size())
    add_stream(trace.event_record.stream_id[finding.event_record]);
  if (finding.event_wait < trace.event_wait.size())
    add_stream(trace.event_wait.stream_id[finding.event_wait]);
  for (const Mark& call : calls.marks) {
    from = std::min(from, call.start);
    to = std::max(to, call.end);
  }
  if (from >= to) return "";
  const Ns margin = std::max<Ns>((to - from) / 4, 100);
  from -= margin;
  to += margin;
  // A synchronization names no op: show those that ran meanwhile.
  for (Id stream = 0; stream < trace.stream.size() && streams.size() < 3; ++stream) {
    if (meant.empty() && !lane_of(trace, stream_ops, stream, meant, from, to).marks.empty())
      add_stream(stream);
  }
  std::vector<Lane> lanes;
  if (!calls.marks.empty()) lanes.push_back(std::move(calls));
  for (const Id stream : streams)
    lanes.push_back(lane_of(trace, stream_ops, stream, meant, from, to));

  constexpr double kLane = 26;
  const double height = kLane * static_cast<double>(lanes.size()) + 22;
  const auto x_of = [&](Ns at) {
    return kLabel +
           (kWidth - kLabel) * static_cast<double>(at - from) / static_cast<double>(to - from);
  };
  std::string text = open_svg(kWidth, height, "Where: " + finding.title);
  for (size_t i = 0; i < lanes.size(); ++i) {
    const double y = kLane * static_cast<double>(i);
    text += text_at(4, y + 17, "lane", fitted(lanes[i].name, kLabel - 12));
    text += fmt::format(
        "<line class=\"rule\" x1=\"{0:.0f}\" x2=\"{1:.0f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>",
        kLabel, kWidth, y + kLane - 1);
    for (const Mark& mark : lanes[i].marks) {
      const double left = std::max(x_of(mark.start), kLabel);
      const double width =
          std::max(std::min(x_of(mark.end), kWidth) - left, mark.meant ? 3.0 : 1.5);
      text += fmt::format(
          "<g class=\"{}{}\"><title>{}, {}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
          "height=\"{:.0f}\"/>",
          mark.kind, mark.meant ? " meant" : "", escape_markup(mark.name),
          escape_markup(format_duration(mark.end - mark.start)), left, y + 3, width, kLane - 7);
      if (width > 50) text += text_at(left + 4, y + 17, "name", fitted(mark.name, width - 8));
      text += "</g>";
    }
  }
  text += text_at(kLabel, height - 5, "axis", "at " + escape_markup(format_duration(from)));
  text += text_at(kWidth - 110, height - 5, "axis",
                  escape_markup(format_duration(to - from)) + " later");
  return text + "</svg>\n";
}

}  // namespace streamscope::report
