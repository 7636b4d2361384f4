// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "recording_cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/units.h"
#include "vocabulary/tier.h"

namespace streamscope::report {
namespace {

using NotMeasured = RecordingCost::NotMeasured;

std::string text_of(const trace::Trace& trace, const RecordingCost& cost) {
  const analysis::MeasuredCost& measured = cost.measured;
  if (cost.is_measured()) {
    return fmt::format("recording cost {} ({}, {}){}",
                       analysis::format_change(measured.percent / 100),
                       analysis::format_range(measured.low_percent, measured.high_percent),
                       analysis::format_count(measured.windows, "window"),
                       cost.not_measured == NotMeasured::kCallbacks ? " plus callbacks"
                       : cost.not_measured == NotMeasured::kCupti   ? " plus CUPTI"
                                                                    : "");
  }
  if (cost.off_windows > 0) {
    return cost.has_graphs
               ? "recording cost not measured (graphs)"
               : fmt::format("recording cost not measured (not enough windows: {} of {})",
                             measured.windows, analysis::MeasuredCost::kFewestWindows);
  }
  const bool is_ours = trace.meta.contains("tier") && !trace.meta.contains("imported_from");
  return is_ours ? "recording cost not measured (record with --measure-cost)"
                 : "recording cost not measured";
}

}  // namespace

RecordingCost recording_cost(const trace::Trace& trace, uint64_t graph_launches) {
  RecordingCost cost;
  const bool is_virtual = std::ranges::all_of(
      trace.process.clock, [](trace::Small clock) { return clock == trace::kVirtualClock; });
  if (is_virtual) return cost;
  const auto tier = trace.meta.find("tier");
  const bool has_times = tier == trace.meta.end() || tier_named(tier->second) != Tier::kStructure;
  cost.measured = analysis::measured_cost(trace);
  cost.off_windows = analysis::count_off_windows(trace);
  cost.has_graphs = cost.off_windows > 0 && has_times && graph_launches > 0;
  const auto some_process = [&](auto matches) {
    return std::ranges::any_of(trace.process.collector_id,
                               [&](trace::Id text) { return matches(trace.text(text)); });
  };
  if (some_process([](std::string_view source) { return source.starts_with("cupti"); }))
    cost.not_measured = NotMeasured::kCallbacks;
  else if (has_times && some_process([](std::string_view source) {
             return source.find("cupti") != source.npos;
           }))
    cost.not_measured = NotMeasured::kCupti;
  cost.text = text_of(trace, cost);
  return cost;
}

std::string cost_remark(const RecordingCost& cost) {
  if (cost.off_windows == 0) return "";
  std::string off = fmt::format("recording was off in {} to measure its cost",
                                analysis::format_count(cost.off_windows, "window"));
  if (cost.has_graphs) {
    return off +
           ", but graphs are traced from the start or never: compare runs with streamscope cost";
  }
  if (!cost.is_measured() || cost.not_measured == NotMeasured::kNothing) return off;
  return off +
         (cost.not_measured == NotMeasured::kCupti
              ? "; CUPTI was loaded in them as well, so what it costs without recording times is "
                "not included: streamscope cost measures it"
              : "; callbacks ran in them as well, so what they cost is not included: streamscope "
                "cost measures it");
}

}  // namespace streamscope::report
