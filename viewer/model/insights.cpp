// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "insights.h"

#include <algorithm>
#include <tuple>

#include "analysis/derive.h"
#include "analysis/hang/hang.h"
#include "trace/ns_math.h"

namespace streamscope::viewer {
namespace {

using analysis::WaitFor;
using trace::kNoId;
using trace::kUnknownNs;

// What a finding is about, the most specific first.
void set_items(FindingLine& line, Id first_op, Id second_op, Id wait, Id record, Id sync) {
  const std::array<Item, 5> candidates = {{{ItemKind::kOp, first_op},
                                           {ItemKind::kOp, second_op},
                                           {ItemKind::kEventWait, wait},
                                           {ItemKind::kHostSync, sync},
                                           {ItemKind::kEventRecord, record}}};
  for (const Item item : candidates) {
    if (item.id == kNoId) continue;
    (line.subject ? line.other : line.subject) = item;
    if (line.other) break;
  }
}

void add_verdicts(std::vector<analysis::Verdict> verdicts, Insights& insights) {
  for (analysis::Verdict& verdict : verdicts) {
    const analysis::Detector& detector = *verdict.detector;
    if (verdict.findings.empty()) {
      insights.quiet.push_back({std::string(detector.id), std::string(detector.number),
                                std::string(detector.title), verdict.outcome,
                                std::move(verdict.reason)});
    }
    for (analysis::Finding& finding : verdict.findings) {
      FindingLine line{.id = std::string(detector.id),
                       .number = std::string(detector.number),
                       .title = std::move(finding.title),
                       .text = std::move(finding.text),
                       .severity = severity_of(detector, finding),
                       .confidence = finding.confidence,
                       .count = finding.count,
                       .gain_ns = finding.gain_ns.value_or(kUnknownNs),
                       .start_ns = finding.start_ns,
                       .end_ns = finding.end_ns,
                       .repair = std::move(finding.repair)};
      set_items(line, finding.first_op, finding.second_op, finding.event_wait, finding.event_record,
                finding.host_sync);
      insights.findings.push_back(std::move(line));
    }
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
  add_verdicts(derived ? analysis::verdicts(analyses, 0) : analysis::evaluate_all(analyses),
               insights);
  if (derived) {
    read_path(trace, insights);
  } else {
    insights.path = analyses.path();
  }
  std::ranges::stable_sort(insights.findings, [](const FindingLine& a, const FindingLine& b) {
    return std::tuple(a.severity, !a.is_possible(), a.gain_ns) >
           std::tuple(b.severity, !b.is_possible(), b.gain_ns);
  });
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
