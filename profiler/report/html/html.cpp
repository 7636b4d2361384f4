// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The report as one self-contained page: no network, no other file. The tables are the same as in
// the other formats; page.js draws the timeline from a block of JSON.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <ranges>

#include "analysis/units.h"
#include "flame_graph.h"
#include "iteration_pictures.h"
#include "page.h"
#include "page_lanes.h"
#include "page_parts.h"
#include "pictures.h"
#include "report/formats/exporter.h"
#include "report/formats/markup.h"

namespace streamscope::report {
namespace {

using trace::Trace;

constexpr size_t kFindingsShown = 50;
constexpr size_t kPoolsShown = 12;

// What the page begins with: what bounds an iteration, its parts, and all of them.
std::string iteration_of(const IterationSummary& summary, const Document& document) {
  const auto is_it = [](const Section& section) { return section.title == kIterationTitle; };
  const auto section = std::ranges::find_if(document.sections, is_it);
  if (!summary.found() || section == document.sections.end()) return "";
  std::string text = fmt::format(
      "<section><h2>{}</h2>\n<p class=\"bound\">{}</p>\n<p class=\"measured\">{}</p>\n",
      kIterationTitle, prose(bound_sentence(summary)), prose(duration_sentence(summary)));
  text += shares_picture(summary) + strip_picture(summary);
  for (const std::string& note : section->footnotes)
    text += "<p class=\"faint\">" + prose(note) + "</p>\n";
  return text + "</section>\n";
}

// What the host did: the table, and a flame graph before it.
std::string host_of(const IterationSummary& summary, const Section& section) {
  std::string text = section_of(section);
  const size_t table = text.find("<table");
  if (table != text.npos) text.insert(table, flame_graph(summary));
  return text;
}

// "gain 3.20 ms", or the iteration with and without the repair.
std::string gain_of(const analysis::Finding& finding) {
  const std::string gain = escape_markup(gain_text(finding, 0));
  if (finding.iteration) return fmt::format(", <strong class=\"gain\">iteration {}</strong>", gain);
  return gain.empty() ? "" : ", gain " + gain;
}

std::string finding_of(const Trace& trace, const analysis::StreamOps& stream_ops,
                       const Advice& advice) {
  const analysis::Finding& finding = advice.finding;
  std::string text =
      fmt::format("<article class=\"finding {}\"><h3>{}</h3><p>{}</p><p class=\"faint\">{}",
                  analysis::to_string(advice.severity()), prose(finding.title), prose(finding.text),
                  rule_name(*advice.detector));
  if (finding.count > 1) text += fmt::format(", {} times", analysis::format_count(finding.count));
  text += gain_of(finding);
  text += fmt::format(", {}</p>", analysis::to_string(finding.confidence));
  text += picture_of(trace, stream_ops, finding);
  Ns from = finding.start_ns, to = std::max(finding.end_ns, from);
  for (const Id op : {finding.first_op, finding.second_op}) {
    if (from == trace::kUnknownNs || op >= trace.op.size() || !analysis::is_timed(trace, op))
      continue;
    from = std::min(from, trace.op.start_ns[op]);
    to = std::max(to, trace.op.end_ns[op]);
  }
  if (from != trace::kUnknownNs) {
    text += fmt::format(
        "<button type=\"button\" data-from=\"{}\" data-to=\"{}\" data-title=\"{}\">Show in "
        "timeline</button>",
        from, to, prose(finding.title));
  }
  return text + "</article>\n";
}

// The findings beyond those shown in full, one line each.
std::string rest_of(const std::vector<Advice>& findings) {
  std::string text =
      fmt::format("<details><summary>{}</summary><ul>\n",
                  analysis::format_count(findings.size() - kFindingsShown, "more finding"));
  for (const Advice& advice : findings | std::views::drop(kFindingsShown)) {
    text += fmt::format("<li>{} <span class=\"faint\">{}</span></li>\n",
                        prose(advice.finding.title), rule_name(*advice.detector));
  }
  return text + "</ul></details>\n";
}

// The picture of a hang: who waits for whom.
std::string deadlocks_of(const Trace& trace, const analysis::WaitGraph& graph) {
  if (graph.nodes.empty()) return "";
  std::string text =
      "<section><h2>Who waits for whom</h2>\n<p>What was pending when the trace ended. Each "
      "arrow points from what waits to what it waits for.";
  if (!graph.cycles.empty()) text += " Red marks a cycle, which never continues.";
  if (graph.left_out > 0)
    text += " " + analysis::format_count(graph.left_out, "more arrow") + " not shown.";
  return text + "</p>\n" + scrolling("Who waits for whom", picture_of(trace, graph)) +
         "</section>\n";
}

std::string pools_of(const Trace& trace) {
  std::vector<analysis::PoolUsage> pools = analysis::pool_usage(trace);
  if (pools.empty()) return "";
  std::ranges::stable_sort(pools, std::greater{}, [](const analysis::PoolUsage& pool) {
    return std::pair(pool.wait_ns, pool.taken);
  });
  std::string text =
      "<section><h2>Pools</h2>\n<p>Usage over time; the dashed line is the limit of the "
      "pool, if it has one.</p>\n";
  for (const analysis::PoolUsage& pool : pools | std::views::take(kPoolsShown)) {
    std::string facts = "taken " + analysis::format_count(pool.taken, "time");
    if (pool.waits > 0) {
      facts += fmt::format(", {} of them waited {} in total", analysis::format_count(pool.waits),
                           analysis::format_duration(pool.wait_ns));
    }
    if (pool.left > 0) facts += ", not all released";
    text += "<figure><figcaption>" + prose(pool.name) + ": " + escape_markup(facts) +
            "</figcaption>" + picture_of(pool) + "</figure>\n";
  }
  if (pools.size() > kPoolsShown)
    text += fmt::format("<p class=\"faint\">{} not shown: those that waited least</p>\n",
                        analysis::format_count(pools.size() - kPoolsShown, "pool"));
  return text + "</section>\n";
}

// The timeline, which opens at an iteration, if there are any.
PageLanes lanes_of(const Trace& trace, const analysis::StreamOps& stream_ops,
                   const analysis::Iterations& iterations) {
  if (!iterations.found()) return page_lanes(trace, stream_ops);
  const analysis::Iteration& first = iterations.all[median_iteration(iterations)];
  PageLanes lanes = page_lanes(trace, stream_ops, std::pair(first.start_ns, first.end_ns));
  lanes.data["iteration"] = opening_iteration(iterations);
  return lanes;
}

// Inside <script> only "</" and "<!--" have a meaning.
std::string script_json(const Json& json) {
  return replaced(json.dump(-1, ' ', false, Json::error_handler_t::replace), {{'<', "\\u003c"}});
}

}  // namespace

std::string write_html(const Trace& trace, const Summary& summary, const Options& options) {
  const Document document = compose(trace, summary, options.by);
  const analysis::StreamOps stream_ops(trace);
  const bool iterates = summary.iteration.found();
  const PageLanes lanes = lanes_of(trace, stream_ops, summary.iteration.iterations);
  std::string text = page_begin(document);
  text += iteration_of(summary.iteration, document);
  text +=
      "<section><h2>Timeline</h2>\n<div class=\"tools\">"
      "<button type=\"button\" id=\"in\">Zoom in</button>"
      "<button type=\"button\" id=\"out\">Zoom out</button>"
      "<button type=\"button\" id=\"all\">Show all</button>";
  if (iterates) text += "<button type=\"button\" id=\"median\">Show median iteration</button>";
  text +=
      "<label for=\"search\">Search</label>"
      "<input id=\"search\" type=\"search\" autocomplete=\"off\">"
      "<span id=\"hits\" role=\"status\"></span></div>\n"
      "<svg id=\"timeline\" tabindex=\"0\" role=\"img\" preserveAspectRatio=\"none\" "
      "aria-label=\"Timeline of all streams; arrow keys pan, plus and minus zoom\"></svg>\n"
      "<div id=\"facts\" role=\"status\" data-hint=\"Scroll to zoom, drag to pan; click an op to "
      "see what it waited for. Keys: W A S D or arrows, + and -, 0 for all.\"></div>\n";
  if (lanes.folded) {
    text += fmt::format(
        "<p class=\"faint\">The trace has more ops than a page can show: neighbors too small to "
        "see are drawn as one{}.</p>\n",
        iterates && !lanes.folded_first ? ", except in the median iteration" : "");
  }
  text += "</section>\n<section><h2>Findings</h2>\n";
  for (const Advice& advice : summary.advice | std::views::take(kFindingsShown))
    text += finding_of(trace, stream_ops, advice);
  if (summary.advice.size() > kFindingsShown) text += rest_of(summary.advice);
  if (options.show_possible) {
    for (const Advice& advice : summary.possible) text += finding_of(trace, stream_ops, advice);
  } else if (!summary.possible.empty()) {
    text += "<p class=\"faint\">" + prose(possible_line(summary.possible)) + "</p>\n";
  }
  if (!summary.small.empty()) {
    text += "<p class=\"faint\">" + prose(small_line(summary.iteration, summary.small)) + "</p>\n";
  } else if (summary.advice.empty()) {
    text += "<p>No findings.</p>\n";
  }
  text += "</section>\n" + deadlocks_of(trace, summary.hang);
  for (const Section& section : document.sections) {
    if (section.title == kHostTitle) text += host_of(summary.iteration, section);
    if (section.title == kHostTitle) continue;
    const bool shown = iterates && section.title == kIterationTitle;
    if (section.kind != SectionKind::kFindings && !shown) text += section_of(section);
  }
  text += pools_of(trace);
  return text + "</main>\n<script type=\"application/json\" id=\"data\">" +
         script_json(lanes.data) + "</script>\n<script>\n" + std::string(page_js()) +
         "</script>\n</body>\n</html>\n";
}

}  // namespace streamscope::report
