// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace_model.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "analysis/derive.h"
#include "analysis/extent.h"
#include "analysis/iterations/iteration_model.h"
#include "lane_builder.h"

namespace streamscope::viewer {
namespace {

using trace::kUnknownNs;

constexpr TimeRange kNothing{std::numeric_limits<Ns>::max(), std::numeric_limits<Ns>::min()};

uint64_t next_serial() {
  static std::atomic<uint64_t> models = 0;
  return ++models;
}

std::unique_ptr<trace::Trace> packed(trace::Trace trace) {
  trace.pack();
  return std::make_unique<trace::Trace>(std::move(trace));
}

TimeRange extent_of(const trace::Trace& trace) {
  const analysis::Extent extent = analysis::extent_of(trace);
  return {extent.begin_ns, extent.end_ns};
}

TimeRange work_of(const trace::Trace& trace, TimeRange extent) {
  TimeRange work = kNothing;
  for (size_t op = 0; op < trace.op.size(); ++op) {
    if (trace.op.start_ns[op] == kUnknownNs) continue;
    work.begin_ns = std::min(work.begin_ns, trace.op.start_ns[op]);
    work.end_ns = std::max({work.end_ns, trace.op.start_ns[op], trace.op.end_ns[op]});
  }
  if (work.begin_ns >= work.end_ns) work = extent;
  if (!never_ended_ops(trace).empty()) work.end_ns = extent.end_ns;
  return work;
}

// The contents of the derived tables, which are then removed.
void take_derived(trace::Trace& trace, std::vector<Dependency>& dependencies, Waits& waits) {
  const auto& edge = trace.edge;
  dependencies.reserve(edge.size());
  for (size_t i = 0; i < edge.size(); ++i)
    dependencies.push_back({static_cast<trace::EdgeKind>(edge.kind[i]), edge.from_op_id[i],
                            edge.to_op_id[i], edge.event_record_id[i], edge.event_wait_id[i]});
  const auto& cause = trace.wait_cause;
  for (size_t i = 0; i < cause.size(); ++i)
    waits.push({.duration_ns = cause.duration_ns[i],
                .op = cause.op_id[i],
                .cause = static_cast<streamscope::WaitCause>(cause.cause[i]),
                .edge = cause.edge_id[i],
                // At most one of them is set.
                .because = std::min(
                    {cause.because_op_id[i], cause.host_sync_id[i], cause.call_name_id[i]})});
  // Their content is stored in the form above.
  trace.edge = {};
  trace.wait_cause = {};
  trace.lod = {};
}

}  // namespace

TraceModel::TraceModel(trace::Trace trace, bool is_sketch, size_t derive_up_to)
    : trace_(packed(std::move(trace))),
      is_sketch_(is_sketch),
      serial_(next_serial()),
      extent_(extent_of(*trace_)),
      work_(work_of(*trace_, extent_)),
      results_(analyze(*trace_, work_, is_sketch, derive_up_to)),
      info_(report::info_of(*trace_)),
      items_(std::make_unique<const ItemFacts>(*trace_, extent_.end_ns,
                                               results_.diagnosis.steady().value_or(extent_))),
      edges_(*trace_, std::move(results_.dependencies), results_.waits),
      pools_(*trace_, results_.insights.pools),
      lanes_(LaneBuilder({.trace = *trace_,
                          .extent = extent_,
                          .is_sketch = is_sketch,
                          .items = *items_,
                          .edges = edges_,
                          .waits = results_.waits,
                          .insights = results_.insights,
                          .pools = pools_})
                 .build()),
      activity_(*trace_, extent_, *items_) {}

TraceModel::Results TraceModel::analyze(trace::Trace& trace, TimeRange work, bool is_sketch,
                                        size_t derive_up_to) {
  Results results{.dependencies = {}, .waits = Waits(trace), .insights = {}, .diagnosis = {}};
  if (!is_sketch) {
    analysis::Analyses analyses(trace);
    const bool derived = analysis::has_derived_tables(trace) && trace.op.size() > derive_up_to;
    if (derived) {
      take_derived(trace, results.dependencies, results.waits);
    } else {
      const analysis::Edges& edges = analyses.edges();
      for (const trace::Edge& edge : edges.rows())
        results.dependencies.push_back({static_cast<trace::EdgeKind>(edge.kind), edge.from_op_id,
                                        edge.to_op_id, edge.event_record_id, edge.event_wait_id});
      for (const analysis::WaitPart& part : analyses.waits()) results.waits.push(part);
      results.waits.set_groups(
          steady_waits(trace, edges, analyses.waits(), analyses.iteration_model().iterations()),
          analysis::group_waits(trace, edges, analyses.waits()));
    }
    results.insights = gain_insights(analyses, derived);
    results.diagnosis = diagnose(analyses, results.insights, work.duration_ns());
  }
  results.waits.finish();
  results.insights.on_path.resize(trace.op.size());
  return results;
}

}  // namespace streamscope::viewer
