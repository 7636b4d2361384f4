// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "json.h"

#include <ranges>

#include "analysis/labels.h"
#include "exporter.h"
#include "report/sections/summary.h"
#include "trace/function_name.h"

namespace streamscope::report {
namespace {

using analysis::device_label;
using analysis::op_label;
using analysis::printable;
using analysis::process_label;
using analysis::stream_label;
using trace::Trace;

// Missing rows are null, like unknown times.
Json id(Id value) { return value == kNoId ? Json() : Json(value); }
Json ns(Ns value) { return value == trace::kUnknownNs ? Json() : Json(value); }

Json name_of(const Trace& trace, Id op) { return op == kNoId ? Json() : Json(op_label(trace, op)); }

Json by_cause(const std::map<streamscope::WaitCause, Ns>& times) {
  Json causes = Json::object();
  for (const auto& [cause, duration] : times) causes[std::string(stored_name(cause))] = duration;
  return causes;
}

// A time of an iteration of the steady part; null without iterations.
Json each_json(const analysis::IterationSeries& series, const IterationSummary& iteration) {
  if (!iteration.found()) return {};
  constexpr size_t kMostOutliers = 10;
  const analysis::PerIteration each = per_iteration(series, iteration.iterations);
  return Json{{"median_ns", each.usual.median_ns},
              {"quartiles_ns", {each.usual.low_ns, each.usual.high_ns}},
              {"outlier_count", each.outliers.size()},
              {"outliers",
               array_of(each.outliers | std::views::take(kMostOutliers),
                        [](const analysis::PerIteration::Outlier& outlier) {
                          return Json{{"iteration", outlier.iteration}, {"ns", outlier.time_ns}};
                        })}};
}

// By cause; no entry without time.
Json waiting_json(const analysis::StreamSums& sums) {
  Json causes = Json::object();
  for (size_t i = 0; i < std::size(kWaitCauses); ++i) {
    if (const Ns time = sums.waiting[i].total_ns(); time > 0)
      causes[std::string(kWaitCauses[i].name)] = time;
  }
  return causes;
}

Json stream_iteration_json(const StreamSummary& stream, const IterationSummary& iteration) {
  if (!iteration.found()) return {};
  Json waiting = Json::object();
  for (size_t i = 0; i < std::size(kWaitCauses); ++i) {
    if (stream.sums.waiting[i].total_ns() > 0)
      waiting[std::string(kWaitCauses[i].name)] = each_json(stream.sums.waiting[i], iteration);
  }
  const auto mean = [&](uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(iteration.iterations.steady_count());
  };
  const auto& steady = stream.sums.steady;
  return Json{{"busy", each_json(stream.sums.busy, iteration)},
              {"waiting", waiting},
              {"kernel", mean(steady.kernels)},
              {"memcpy", mean(steady.copies)},
              {"other_op", mean(steady.others)},
              {"event_record", mean(steady.records)},
              {"event_wait", mean(steady.waits)}};
}

Json stream_json(const Trace& trace, const StreamSummary& stream,
                 const IterationSummary& iteration) {
  const auto& activity = stream.activity;
  return Json{{"stream", stream.stream},
              {"native_id", number(trace.stream.native_id[stream.stream])},
              {"name", printable(trace.text(trace.stream.name_id[stream.stream]))},
              {"label", stream_label(trace, stream.stream)},
              {"process", id(trace.process_of_stream(stream.stream))},
              {"device", id(trace.device_of_stream(stream.stream))},
              {"first_start_ns", ns(activity.first_start_ns)},
              {"last_end_ns", ns(activity.last_end_ns)},
              {"busy_ns", activity.busy_ns},
              {"idle_ns", activity.idle_ns()},
              {"waiting_ns", waiting_json(stream.sums)},
              {"iteration", stream_iteration_json(stream, iteration)},
              {"op", activity.op_count},
              {"untimed_op", activity.untimed_count},
              {"unfinished_op", stream.unfinished_count},
              {"kernel", activity.kernel_count},
              {"memcpy", activity.copy_count},
              {"memset", activity.memset_count},
              {"copied_bytes", activity.copied_bytes},
              {"event_record", stream.record_count},
              {"event_wait", stream.wait_count},
              {"event_edge", stream.edge_count}};
}

// Of a group of waits or synchronizations; null if none is in the steady part.
template <class Group>
Json group_json(const Group& group, const IterationSummary& iteration) {
  if (group.steady_count == 0) return {};
  Json each = each_json(group.times, iteration);
  each["count"] = static_cast<double>(group.steady_count) /
                  static_cast<double>(iteration.iterations.steady_count());
  return each;
}

Json wait_json(const Trace& trace, const analysis::WaitGroup& wait,
               const IterationSummary& iteration) {
  const auto stream_of = [&](Id op) {
    return op < trace.op.size() ? id(trace.op.stream_id[op]) : Json();
  };
  Json event, recorded_on, sync_call, host_call;
  if (wait.event_record < trace.event_record.size()) {
    event = id(trace.event_record.event_id[wait.event_record]);
    recorded_on = id(trace.event_record.stream_id[wait.event_record]);
  }
  if (wait.longest.host_sync() < trace.host_sync.size())
    sync_call = printable(trace.text(trace.host_sync.name_id[wait.longest.host_sync()]));
  if (wait.longest.call_name() != trace::kNoId)
    host_call = printable(trace.text(wait.longest.call_name()));
  return Json{{"cause", std::string(stored_name(wait.longest.cause))},
              {"count", wait.count},
              {"total_ns", wait.times.total_ns()},
              {"iteration", group_json(wait, iteration)},
              {"longest_ns", wait.longest.duration_ns},
              {"op", wait.longest.op},
              {"name", op_label(trace, wait.longest.op)},
              {"stream", stream_of(wait.longest.op)},
              {"because_op", id(wait.longest.because_op())},
              {"because_name", name_of(trace, wait.longest.because_op())},
              {"because_stream", stream_of(wait.longest.because_op())},
              {"event", event},
              {"recorded_on_stream", recorded_on},
              {"event_record", id(wait.event_record)},
              {"event_wait", id(wait.event_wait)},
              {"timeline", wait.wanted ? id(wait.wanted->timeline) : Json()},
              {"timeline_value", wait.wanted ? Json(wait.wanted->value) : Json()},
              {"host_sync", id(wait.longest.host_sync())},
              {"host_sync_call", sync_call},
              {"host_call", host_call}};
}

Json to_json(const Trace& trace, const std::vector<OpGroup>& groups) {
  return array_of(groups, [&](const OpGroup& op) {
    return Json{
        {"name", op_label(trace, op.example)},
        {"full_name", printable(trace::demangled(trace.text(trace.op.name_id[op.example])))},
        {"kind", trace::to_string(static_cast<trace::OpKind>(trace.op.kind[op.example]))},
        {"count", op.count},
        {"total_ns", op.total_ns},
        {"longest_ns", op.longest_ns},
        {"waited_ns", op.gaps.waited_ns},
        {"gaps_ns", by_cause(op.gaps.by_cause)}};
  });
}

Json later_json(const std::optional<analysis::OtherLevel>& later) {
  if (!later) return {};
  return {{"from", later->from},
          {"count", later->to - later->from},
          {"median_ns", later->median_ns},
          {"host_slowdown", later->host_slowdown}};
}

}  // namespace

Json to_json(const analysis::HostPace& pace) {
  const auto known = [](trace::Ns time) { return time > 0 ? Json(time) : Json(); };
  return {{"launch_call_ns", known(pace.launch_ns)}, {"between_calls_ns", known(pace.between_ns)}};
}

Json to_json(const IterationSummary& summary) {
  if (!summary.found()) return {};
  const analysis::Iterations& found = summary.iterations;
  Json shares = Json::object(), usual_shares = Json::object(), without = Json::object();
  for (size_t i = 0; i < analysis::kShareCount; ++i) {
    const std::string_view share = names_of(static_cast<analysis::TimeShare>(i)).id;
    shares[share] = summary.shares.total[i];
    if (summary.without_ns[i] != trace::kUnknownNs) without[share] = summary.without_ns[i];
    analysis::IterationSeries series;
    for (size_t each = 0; each < summary.shares.each.size(); ++each)
      series.add(static_cast<uint32_t>(found.steady_from + each + 1), summary.shares.each[each][i]);
    if (series.total_ns() > 0) usual_shares[share] = each_json(series, summary);
  }
  return {{"source", name_of(kIterationSources, found.source)},
          {"name", printable(found.name)},
          {"count", found.all.size()},
          {"steady_from", found.steady_from},
          {"steady_count", found.steady_count()},
          {"steady_ns", summary.shares.total_ns()},
          {"median_ns", found.median_ns},
          {"quartiles_ns", {found.low_ns, found.high_ns}},
          {"outliers", found.outlier_count},
          {"without_recording_ns", summary.bare_ns},
          {"ops", found.op_count},
          {"rounds", found.rounds},
          {"busy_ns", summary.shares.busy_ns},
          {"kernels", summary.shares.kernel_count},
          {"median_kernel_ns", summary.shares.median_kernel_ns},
          {"launches", summary.shares.launch_count},
          {"synchronizations", summary.shares.sync_count},
          {"host_pace", to_json(summary.pace)},
          {"later_iterations", later_json(summary.other_level)},
          {"bound", names_of(summary.bound).id},
          {"bound_text", bound_sentence(summary)},
          {"nearly_bound", array_of(summary.nearly_bound,
                                    [](analysis::TimeShare share) { return names_of(share).id; })},
          {"shares_ns", shares},
          {"without_ns", without},
          {"usual_shares", usual_shares},
          {"host", array_of(summary.host.lines, [](const analysis::HostActivity& line) {
             return Json{{"called_from", line.place},
                         {"what", line.what},
                         {"each_ns", line.each_ns},
                         {"samples", line.samples}};
           })}};
}

Json to_json(const Advice& advice) {
  const analysis::Finding& finding = advice.finding;
  return Json{
      {"detector", advice.detector->id},
      {"number", advice.detector->number},
      {"title", finding.title},
      {"text", finding.text},
      {"confidence", analysis::to_string(finding.confidence)},
      {"repeats", advice.repeats},
      {"count", finding.count},
      {"gain_ns", finding.gain_ns ? Json(*finding.gain_ns) : Json()},
      {"iteration_ns", finding.iteration ? Json(finding.iteration->before_ns) : Json()},
      {"repaired_iteration_ns", finding.iteration ? Json(finding.iteration->after_ns) : Json()},
      {"first_op", id(finding.first_op)},
      {"second_op", id(finding.second_op)},
      {"event_record", id(finding.event_record)},
      {"event_wait", id(finding.event_wait)},
      {"host_sync", id(finding.host_sync)},
      {"thread", finding.place.thread},
      {"called_from", finding.place.call_site},
      {"ranges", finding.place.ranges}};
}

namespace {

Json processes_json(const Trace& trace) {
  Json processes = Json::array();
  for (Id process = 0; process < trace.process.size(); ++process) {
    processes.push_back({{"name", process_label(trace, process)},
                         {"os_pid", number(trace.process.os_pid[process])},
                         {"rank", number(trace.process.rank[process])},
                         {"exit_code", number(trace.process.exit_code[process])},
                         {"exit_signal", number(trace.process.exit_signal[process])}});
  }
  return processes;
}

Json devices_json(const Trace& trace) {
  Json devices = Json::array();
  for (Id device = 0; device < trace.device.size(); ++device) {
    devices.push_back({{"name", device_label(trace, device)},
                       {"simulated", trace.device.simulated[device] == 1}});
  }
  return devices;
}

Json overlap_json(const Summary& summary) {
  return array_of(summary.devices, [&](const analysis::DeviceOverlap& device) {
    const auto each = [&](const analysis::IterationSeries& series) {
      return each_json(series, summary.iteration);
    };
    Json iteration;
    if (summary.iteration.found())
      iteration = Json{{"kernel", each(device.kernels)},
                       {"copy", each(device.copies)},
                       {"both", each(device.both)},
                       {"concurrency", array_of(device.concurrency, each)}};
    return Json{{"device", id(device.device_id)},
                {"window_ns", device.window_ns()},
                {"kernel_ns", device.kernels.total_ns()},
                {"copy_ns", device.copies.total_ns()},
                {"both_ns", device.both.total_ns()},
                {"concurrency_ns", array_of(device.concurrency,
                                            [](const analysis::IterationSeries& series) {
                                              return series.total_ns();
                                            })},
                {"iteration", iteration}};
  });
}

Json syncs_json(const Trace& trace, const Summary& summary) {
  return array_of(summary.syncs, [&](const analysis::SyncGroup& sync) {
    return Json{{"kind", trace::to_string(sync.kind)},
                {"call", printable(trace.text(sync.name_id))},
                {"stream", id(sync.stream_id)},
                {"process", id(sync.process_id)},
                {"called_from", summary.call_site(sync.stack_id)},
                {"count", sync.count},
                {"total_ns", sync.times.total_ns()},
                {"iteration", group_json(sync, summary.iteration)},
                {"longest_ns", sync.longest_ns},
                {"never_returned", sync.open_count}};
  });
}

Json path_json(const analysis::PathSums& path) {
  Json shares{{"total", path.total_ns()}};
  for (size_t i = 0; i < analysis::kPathShareCount; ++i)
    shares[names_of(static_cast<analysis::PathShare>(i)).id] = path.shares[i].total_ns();
  return shares;
}

Json path_iteration_json(const Summary& summary) {
  if (!summary.iteration.found()) return {};
  Json shares = Json::object();
  for (size_t i = 0; i < analysis::kPathShareCount; ++i)
    shares[names_of(static_cast<analysis::PathShare>(i)).id] =
        each_json(summary.path.shares[i], summary.iteration);
  return shares;
}

Json ranges_json(const Trace& trace, const Summary& summary) {
  return array_of(summary.ranges, [&](const RangeGroup& range) {
    return Json{{"domain", printable(trace.text(range.domain_id))},
                {"name", printable(trace.text(range.name_id))},
                {"count", range.count},
                {"host_ns", range.host_ns},
                {"op", range.op_count},
                {"op_of_other_threads", range.foreign_count},
                {"device_ns", range.device_ns},
                {"waited_ns", range.gaps.waited_ns},
                {"gaps_ns", by_cause(range.gaps.by_cause)},
                {"ops", to_json(trace, range.ops)}};
  });
}

}  // namespace

std::string write_json(const Trace& trace, const Summary& summary, const Options& options) {
  const auto advice = [](const Advice& each) { return to_json(each); };
  Json report{{"schema", 1},
              {"producer", summary.info.producer},
              {"complete", summary.info.complete},
              {"unfinished", summary.info.unfinished},
              {"tier", summary.info.tier},
              {"duration_ns", summary.info.duration_ns},
              {"overhead_ns", summary.info.overhead_ns},
              {"recording_cost", cost_json(summary.info)},
              {"losses", to_json(summary.info.losses)},
              {"counts", to_json(summary.info.counts)},
              {"processes", processes_json(trace)},
              {"devices", devices_json(trace)},
              {"window_ns", summary.window_ns},
              {"iteration", to_json(summary.iteration)},
              {"worth_fixing", array_of(summary.advice, advice)},
              {"small", array_of(summary.small, advice)},
              {"possible", array_of(summary.possible, advice)},
              {"coordination", to_json(summary.info.coordination)},
              {"streams", array_of(summary.streams,
                                   [&](const StreamSummary& each) {
                                     return stream_json(trace, each, summary.iteration);
                                   })},
              {"longest_waits", array_of(summary.waits,
                                         [&](const analysis::WaitGroup& each) {
                                           return wait_json(trace, each, summary.iteration);
                                         })},
              {"overlap", overlap_json(summary)},
              {"host_syncs", syncs_json(trace, summary)},
              {"critical_path_ns", path_json(summary.path)},
              {"critical_path_iteration", path_iteration_json(summary)}};
  if (options.by == By::kKernel) report["ops"] = to_json(trace, summary.ops);
  if (options.by == By::kNvtx) report["ranges"] = ranges_json(trace, summary);
  return dump(report);
}

}  // namespace streamscope::report
