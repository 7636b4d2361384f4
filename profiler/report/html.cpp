// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The report as one self-contained page: no network, no other file. The tables are those of the
// other formats; the timeline is drawn by page.js from a block of JSON.

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "analysis/edges.h"
#include "analysis/labels.h"
#include "analysis/units.h"
#include "exporter.h"
#include "json.h"
#include "markup.h"
#include "page.h"

namespace streamscope::report {
namespace {

using trace::Trace;

// More would neither open quickly nor tell more on any screen; neighbours are then taken together.
constexpr size_t kMostBoxes = 120'000;
constexpr size_t kMostEdges = 20'000;
constexpr size_t kFindingsShown = 50;
constexpr std::string_view kAdviceTitle = "Worth fixing first";  // of document.cpp

// A page is passed on: of absolute paths the last part stays.
std::string redacted(const std::string& text) {
  static const std::regex path(R"((^|[\s"'(])/(?:[^\s/:"']+/)+)");
  return std::regex_replace(text, path, "$1");
}
std::string prose(const std::string& text) { return escape_markup(redacted(text)); }

// Boxes of the lanes, and where each op went.
class Lanes {
 public:
  explicit Lanes(const Trace& trace)
      : trace_(trace), box_of_(trace.op.size(), kNoId), lane_of_(trace.op.size(), kNoId) {
    std::vector<Id> order;
    for (Id op = 0; op < trace.op.size(); ++op) {
      if (trace.op.start_ns[op] == trace::kUnknownNs || trace.op.end_ns[op] == trace::kUnknownNs)
        continue;
      if (trace.op.stream_id[op] < trace.stream.size()) order.push_back(op);
    }
    std::stable_sort(order.begin(), order.end(), [&](Id a, Id b) {
      return std::pair(trace.op.stream_id[a], trace.op.start_ns[a]) <
             std::pair(trace.op.stream_id[b], trace.op.start_ns[b]);
    });
    for (const Id op : order) {
      first_ = std::min(first_, trace.op.start_ns[op]);
      last_ = std::max(last_, trace.op.end_ns[op]);
    }
    if (order.empty()) first_ = last_ = 0;
    // Gaps and boxes below this are not told apart.
    const Ns grain = order.size() <= kMostBoxes
                         ? 0
                         : std::max<Ns>((last_ - first_) / static_cast<Ns>(kMostBoxes / 4), 1);
    for (const Id op : order) add(op, grain);
  }

  Json lanes = Json::array(), names = Json::array(), kinds = Json::array();
  Ns first() const { return first_; }
  Ns last() const { return last_; }
  bool folded() const { return folded_; }
  Json edges() const {
    Json list = Json::array();
    const analysis::Edges all(trace_);
    for (size_t i = 0; i < all.size() && list.size() < kMostEdges; ++i) {
      const trace::Edge& edge = all[i];
      if (edge.kind != trace::kEventEdge || box_of_[edge.from_op_id] == kNoId ||
          box_of_[edge.to_op_id] == kNoId)
        continue;
      Json pair = {lane_of_[edge.from_op_id], box_of_[edge.from_op_id], lane_of_[edge.to_op_id],
                   box_of_[edge.to_op_id]};
      if (list.empty() || list.back() != pair) list.push_back(std::move(pair));
    }
    return list;
  }

 private:
  size_t name_of(Id op) {
    const auto [known, is_new] = name_ids_.try_emplace(
        std::tuple(trace_.op.kind[op], trace_.op.name_id[op], trace_.op.detail[op]), names.size());
    if (is_new) {
      names.push_back(analysis::printable(analysis::op_label(trace_, op)));
      kinds.push_back(trace_.op.kind[op]);
    }
    return known->second;
  }
  void add(Id op, Ns grain) {
    const Id stream = trace_.op.stream_id[op];
    if (lanes.empty() || stream != stream_) {
      stream_ = stream;
      lanes.push_back(
          {{"name", "stream " + analysis::stream_label(trace_, stream)}, {"ops", Json::array()}});
      end_ = std::numeric_limits<Ns>::min();
    }
    Json& ops = lanes.back()["ops"];
    const Ns start = trace_.op.start_ns[op], end = trace_.op.end_ns[op];
    const bool joins =
        grain > 0 && !ops.empty() && start - end_ < grain && end - box_start_ < grain;
    if (joins) {
      folded_ = true;
      const size_t box = ops.size() - 4;
      ops[box + 1] = std::max(end, end_) - box_start_;
      ops[box + 3] = ops[box + 3].get<int64_t>() + 1;
      if (end - start > longest_) {
        longest_ = end - start;
        ops[box + 2] = name_of(op);
      }
    } else {
      ops.insert(ops.end(), {start, end - start, name_of(op), 1});
      box_start_ = start;
      longest_ = end - start;
      end_ = end;
    }
    end_ = std::max(end_, end);
    lane_of_[op] = static_cast<Id>(lanes.size() - 1);
    box_of_[op] = static_cast<Id>(ops.size() / 4 - 1);
  }

  const Trace& trace_;
  std::vector<Id> box_of_, lane_of_;
  std::map<std::tuple<trace::Small, Id, trace::Small>, size_t> name_ids_;
  Ns first_ = std::numeric_limits<Ns>::max(), last_ = std::numeric_limits<Ns>::min();
  Id stream_ = kNoId;
  Ns box_start_ = 0, end_ = 0, longest_ = 0;
  bool folded_ = false;
};

std::string table_of(const Section& section) {
  std::string text = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" +
                     escape_markup(section.title) + "\"><table><thead><tr>";
  for (const Column& column : section.columns) {
    text += fmt::format(
        "<th scope=\"col\"{}>{}</th>", column.right ? " class=\"number\"" : "",
        escape_markup(column.group.empty() ? column.name : column.group + ": " + column.name));
  }
  text += "</tr></thead><tbody>\n";
  for (const auto& row : section.rows) {
    text += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      const bool right = i < section.columns.size() && section.columns[i].right;
      text += fmt::format("<td{}>{}</td>", right ? " class=\"number\"" : "", prose(row[i]));
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string section_of(const Section& section) {
  std::string text = "<section><h2>" + escape_markup(section.title) + "</h2>\n";
  for (const std::string& remark : section.remarks) text += "<p>" + prose(remark) + "</p>\n";
  if (!section.rows.empty()) text += table_of(section);
  for (const std::string& note : section.footnotes)
    text += "<p class=\"faint\">" + prose(note) + "</p>\n";
  return text + "</section>\n";
}

std::string finding_of(const Advice& advice) {
  const analysis::Finding& finding = advice.finding;
  std::string text =
      fmt::format("<article class=\"finding {}\"><h3>{}</h3><p>{}</p><p class=\"faint\">{} {}",
                  analysis::to_string(advice.detector->severity), prose(finding.title),
                  prose(finding.text), advice.detector->number, advice.detector->id);
  if (finding.count > 1) text += fmt::format(", {} times", analysis::format_count(finding.count));
  if (finding.gain_ns)
    text += ", gain " + escape_markup(analysis::format_duration(*finding.gain_ns));
  text += fmt::format(", {}</p>", analysis::to_string(finding.confidence));
  if (finding.start_ns != trace::kUnknownNs) {
    text += fmt::format(
        "<button type=\"button\" data-from=\"{}\" data-to=\"{}\" data-title=\"{}\">Show it in the "
        "timeline</button>",
        finding.start_ns, std::max(finding.end_ns, finding.start_ns), prose(finding.title));
  }
  return text + "</article>\n";
}

// Inside <script> only "</" and "<!--" mean something.
std::string script_json(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (size_t at = 0; (at = text.find('<', at)) != text.npos;) text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace

std::string write_html(const Trace& trace, const Summary& summary, const Options& options) {
  const Document document = compose(trace, summary, options.by);
  Lanes lanes(trace);
  const Json data{{"first", lanes.first()}, {"last", lanes.last()}, {"names", lanes.names},
                  {"kinds", lanes.kinds},   {"lanes", lanes.lanes}, {"edges", lanes.edges()}};
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<link rel=\"icon\" "
      "href=\"data:,\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n<h1>{}</"
      "h1>\n",
      prose(document.headline), page_css(), prose(document.headline));
  for (const Notice& notice : document.notices) {
    text +=
        fmt::format("<p class=\"notice\"><strong>{}</strong>: {} {}</p>\n",
                    trace::to_string(notice.severity), prose(notice.text), prose(notice.advice));
  }
  text +=
      "<section><h2>Timeline</h2>\n<div class=\"tools\">"
      "<button type=\"button\" id=\"in\">Zoom in</button><button type=\"button\" id=\"out\">Zoom "
      "out</button>"
      "<button type=\"button\" id=\"all\">Show all</button>"
      "<label for=\"search\">Search</label><input id=\"search\" type=\"search\" "
      "autocomplete=\"off\"><span id=\"hits\" role=\"status\"></span></div>\n"
      "<svg id=\"timeline\" tabindex=\"0\" role=\"img\" preserveAspectRatio=\"none\" "
      "aria-label=\"Timeline of all streams; "
      "arrow keys pan, plus and minus zoom\"></svg>\n"
      "<div id=\"facts\" role=\"status\" data-hint=\"Wheel zooms, dragging pans; click an op to "
      "see what it waited for. Keys: W A S D or arrows, + and -, 0 for all.\"></div>\n";
  if (lanes.folded())
    text +=
        "<p class=\"faint\">The trace has more ops than a page can hold: neighbours too small to "
        "see are drawn as one.</p>\n";
  text += "</section>\n<section><h2>Findings</h2>\n";
  size_t shown = 0;
  for (const Advice& advice : summary.advice) {
    if (shown++ == kFindingsShown) break;
    text += finding_of(advice);
  }
  if (summary.advice.empty()) text += "<p>Nothing to do something about.</p>\n";
  text += "</section>\n";
  for (const Section& section : document.sections) {
    if (section.title != kAdviceTitle) text += section_of(section);  // told above, with pictures
  }
  return text + "</main>\n<script type=\"application/json\" id=\"data\">" + script_json(data) +
         "</script>\n<script>\n" + std::string(page_js()) + "</script>\n</body>\n</html>\n";
}

}  // namespace streamscope::report
