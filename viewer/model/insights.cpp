// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "insights.h"

#include <algorithm>
#include <array>

#include "analysis/derive.h"
#include "analysis/hang/hang.h"
#include "analysis/iterations/iteration_model.h"
#include "trace/ns_math.h"

namespace streamscope::viewer {
namespace {

using analysis::WaitFor;
using trace::kNoId;
using trace::kUnknownNs;

// What a finding is about, the most specific first.
void set_items(FindingLine& line) {
  const analysis::Finding& finding = line.advice.finding;
  const std::array<Item, 5> candidates = {{{ItemKind::kOp, finding.first_op},
                                           {ItemKind::kOp, finding.second_op},
                                           {ItemKind::kEventWait, finding.event_wait},
                                           {ItemKind::kHostSync, finding.host_sync},
                                           {ItemKind::kEventRecord, finding.event_record}}};
  for (const Item item : candidates) {
    if (item.id == kNoId) continue;
    (line.subject ? line.other : line.subject) = item;
    if (line.other) break;
  }
}

void add_verdicts(std::vector<analysis::Verdict> verdicts, std::span<const Id> steady_syncs,
                  Insights& insights) {
  for (analysis::Verdict& verdict : verdicts) {
    if (!verdict.findings.empty()) continue;
    const analysis::Detector& detector = *verdict.detector;
    insights.quiet.push_back({std::string(detector.id), std::string(detector.number),
                              std::string(detector.title), verdict.outcome,
                              std::move(verdict.reason)});
  }
  for (report::Advice& advice : report::by_weight(std::move(verdicts), steady_syncs)) {
    insights.findings.push_back({.advice = std::move(advice), .subject = {}, .other = {}});
    set_items(insights.findings.back());
  }
}

void read_path(const trace::Trace& trace, Insights& insights) {
  const auto& path = trace.critical_path;
  for (size_t i = 0; i < path.size(); ++i) {
    insights.path.push_back({static_cast<trace::PathStepKind>(path.kind[i]), path.op_id[i],
                             path.host_sync_id[i], path.start_ns[i], path.end_ns[i]});
  }
}

}  // namespace

Item item_of(const WaitGraph::Node& node) {
  using Kind = WaitFor::Kind;
  if (node.kind == Kind::kThread) return {};
  return {node.kind == Kind::kOp       ? ItemKind::kOp
          : node.kind == Kind::kRecord ? ItemKind::kEventRecord
          : node.kind == Kind::kWait   ? ItemKind::kEventWait
          : node.kind == Kind::kSync   ? ItemKind::kHostSync
                                       : ItemKind::kApiCall,
          node.id};
}

TimeRange FindingLine::time() const {
  const Ns start = advice.finding.start_ns, end = advice.finding.end_ns;
  return {start, end == kUnknownNs ? start : std::max(start, end)};
}

size_t Insights::firm_findings() const {
  const auto first = std::ranges::find_if(findings, &FindingLine::is_possible);
  return static_cast<size_t>(first - findings.begin());
}

Insights gain_insights(analysis::Analyses& analyses, bool derived) {
  const trace::Trace& trace = analyses.trace();
  Insights insights;
  insights.derived = derived;
  insights.pools = analysis::pool_usage(trace);
  analysis::find_holders(trace, insights.pools);
  if (derived) {
    add_verdicts(analysis::verdicts(analyses, 0), {}, insights);
  } else {
    add_verdicts(analysis::evaluate_all(analyses), analyses.iteration_model().syncs().all(),
                 insights);
  }
  if (derived) {
    read_path(trace, insights);
  } else {
    insights.path = analyses.path();
  }
  for (const analysis::PathStep& step : insights.path) {
    trace::add_to(insights.path_ns, step.end_ns - step.start_ns);
    if (step.kind != trace::kOpStep) continue;
    if (step.op >= insights.on_path.size()) insights.on_path.resize(size_t{step.op} + 1);
    insights.on_path[step.op] = true;
  }
  // For a large trace the order is expensive to compute, and useless unless something is still
  // open.
  if (!derived || has_open_calls(trace) || trace.hang.size() > 0) {
    insights.waits = analysis::wait_graph(analyses.wait_for());
    insights.hangs = analysis::explain_hangs(analyses);
  }
  return insights;
}

}  // namespace streamscope::viewer
