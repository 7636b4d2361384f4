// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "info.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "analysis/labels.h"
#include "analysis/units.h"
#include "report/formats/json.h"
#include "trace/checks.h"
#include "trace/loss.h"
#include "trace/ns_math.h"

namespace streamscope::report {
namespace {

using analysis::device_label;
using analysis::format_count;
using analysis::format_duration;
using analysis::format_percent;
using analysis::printable;
using analysis::process_label;
using trace::Id;
using trace::Severity;
using trace::Trace;

std::string meta(const Trace& trace, std::string_view key) {
  const auto found = trace.meta.find(key);
  return found == trace.meta.end() ? std::string() : printable(found->second);
}

int64_t meta_number(const Trace& trace, std::string_view key) {
  return std::max<int64_t>(trace::meta_integer(trace, key).value_or(0), 0);
}

std::vector<LossFact> losses_of(const Trace& trace) {
  // Many threads may report the same kind: one entry per kind, process and detail.
  std::map<std::tuple<std::string, Id, Id>, LossFact> by_kind;
  const auto& losses = trace.loss;
  for (Id row = 0; row < losses.size(); ++row) {
    const std::string name = printable(trace.text(losses.name_id[row]));
    LossFact& fact = by_kind[{name, losses.process_id[row], losses.detail_id[row]}];
    const trace::LossInfo& kind = trace::loss_info(name);
    fact.name = name;
    const trace::Small severity = losses.severity[row];
    fact.severity = severity >= static_cast<trace::Small>(Severity::kInfo) &&
                            severity <= static_cast<trace::Small>(Severity::kError)
                        ? static_cast<Severity>(severity)
                        : kind.severity;
    if (losses.count[row] > 0) fact.count += static_cast<uint64_t>(losses.count[row]);
    fact.text = kind.meaning;
    const std::string detail = printable(trace.text(losses.detail_id[row]));
    if (!detail.empty()) fact.text += " (" + detail + ")";
    fact.advice = kind.advice;
    fact.process_id = losses.process_id[row];
  }
  std::vector<LossFact> result;
  result.reserve(by_kind.size());
  for (auto& [key, fact] : by_kind) result.push_back(std::move(fact));
  std::ranges::stable_sort(result, std::greater{}, [](const LossFact& fact) {
    return std::pair(fact.severity, fact.count);
  });
  return result;
}

}  // namespace

Info info_of(const Trace& trace) {
  return info_of(trace, analysis::count_rows(trace), trace.end_ns());
}

Info info_of(const Trace& trace, const Counts& counts, trace::Ns end_ns) {
  Info info;
  info.producer = meta(trace, "producer");
  info.tier = meta(trace, "tier");
  if (trace.process.size() > 0) info.collector = trace.text(trace.process.collector_id[0]);
  info.ranks = ranks_of(trace);
  info.complete = trace.complete();
  info.unfinished = trace::is_unfinished(trace);
  info.duration_ns = std::max<trace::Ns>(0, end_ns);
  info.stack_count = static_cast<uint64_t>(meta_number(trace, "stack_count"));
  info.stack_ns = meta_number(trace, "stack_ns");
  info.counts = counts;
  info.coordination = coordination_of(trace);
  info.losses = losses_of(trace);
  info.recording_cost = recording_cost(trace, counts.graph_launch);
  for (const LossFact& loss : info.losses) {
    if (loss.severity >= Severity::kDataLoss) info.counts.dropped += loss.count;
  }
  for (Id row = 0; row < trace.overhead.size(); ++row) {
    const trace::Ns start = trace.overhead.start_ns[row], end = trace.overhead.end_ns[row];
    if (start != trace::kUnknownNs && end > start) trace::add_to(info.overhead_ns, end - start);
  }
  return info;
}

Severity worst_loss(const Info& info) {
  return info.losses.empty() ? Severity::kInfo : info.losses.front().severity;
}

std::string verdict(const Info& info) {
  const bool whole = info.complete && !info.unfinished;
  const std::string state = info.unfinished ? "unfinished" : "incomplete";
  if (worst_loss(info) < Severity::kDataLoss) {
    // An abrupt end loses an unknown number of records that had not reached the recorder.
    return whole ? "complete, nothing lost" : state + ", nothing known to be lost";
  }
  // A recording that lost data is not complete to a reader, even if it ended normally.
  const std::string text = whole ? "" : state + ", ";
  if (info.counts.dropped > 0)
    return fmt::format("{}{} lost", text, format_count(info.counts.dropped, "record"));
  return text + "data lost";
}

std::string stack_cost(const Info& info) {
  if (info.stack_count == 0) return "";
  return fmt::format("{} at {} each, {} in total", format_count(info.stack_count, "call stack"),
                     format_duration(info.stack_ns / static_cast<trace::Ns>(info.stack_count)),
                     format_duration(info.stack_ns));
}

std::string headline(const Trace& trace, const Info& info) {
  std::vector<std::string> parts;
  if (!trace.process.empty()) parts.push_back(process_label(trace, 0));
  parts.push_back(trace.process.size() == 1 ? "1 process"
                                            : format_count(trace.process.size()) + " processes");
  std::map<std::string, size_t> devices;
  for (Id device = 0; device < trace.device.size(); ++device)
    ++devices[device_label(trace, device)];
  for (const auto& [name, number] : devices) {
    parts.push_back(number > 1 ? fmt::format("{} × {}", number, name) : name);
  }
  parts.push_back(format_duration(info.duration_ns));
  parts.push_back(verdict(info));
  if (!info.recording_cost.text.empty()) parts.push_back(info.recording_cost.text);
  return fmt::format("{}", fmt::join(parts, " · "));
}

Json to_json(const Counts& counts) {
  return Json{{"process", counts.process},
              {"thread", counts.thread},
              {"device", counts.device},
              {"stream", counts.stream},
              {"op", counts.op},
              {"kernel", counts.kernel},
              {"memcpy", counts.memcpy},
              {"memset", counts.memset},
              {"page_migration", counts.page_migration},
              {"api_call", counts.api_call},
              {"event_record", counts.event_record},
              {"event_wait", counts.event_wait},
              {"event_edge", counts.event_edge},
              {"host_sync", counts.host_sync},
              {"query", counts.query},
              {"graph_launch", counts.graph_launch},
              {"host_function", counts.host_function},
              {"range", counts.range},
              {"mark", counts.mark},
              {"operation", counts.operation},
              {"barrier", counts.barrier},
              {"allocation", counts.allocation},
              {"task", counts.task},
              {"iteration", counts.iteration},
              {"dropped", counts.dropped}};
}

Json to_json(const Coordination& coordination) {
  Json elided = Json::object();
  for (size_t i = 0; i < coordination.elided.size(); ++i)
    elided[elision_of(i).name] = coordination.elided[i];
  const Json timelines = array_of(coordination.timelines, [](const TimelineFact& timeline) {
    return Json{{"name", timeline.name},
                {"signaled", timeline.signaled},
                {"reached", timeline.reached},
                {"waits", timeline.waits},
                {"given_up", timeline.given_up}};
  });
  const Json queues = array_of(coordination.queues, [](const analysis::TaskUsage& queue) {
    return Json{{"name", printable(queue.name)},
                {"on_device", queue.on_device},
                {"workers", queue.busy_ns.size()},
                {"sms", queue.sms},
                {"runs", queue.runs},
                {"tasks", queue.tasks},
                {"left_out", queue.left_out},
                {"busy_ns", queue.total_ns()},
                {"longest_busy_ns", queue.longest_ns()},
                {"imbalance", queue.imbalance()}};
  });
  return Json{{"dependencies", coordination.dependencies},
              {"waited", coordination.waited},
              {"elided", elided},
              {"timelines", timelines},
              {"task_queues", queues}};
}

Json to_json(const std::vector<LossFact>& losses) {
  return array_of(losses, [](const LossFact& loss) {
    return Json{{"name", loss.name},
                {"severity", trace::to_string(loss.severity)},
                {"count", loss.count},
                {"text", loss.text},
                {"advice", loss.advice}};
  });
}

Json to_json(const std::vector<RankFact>& ranks) {
  return array_of(ranks, [](const RankFact& rank) {
    return Json{{"rank", number(rank.rank)},
                {"world_size", number(rank.world_size)},
                {"local_rank", number(rank.local_rank)},
                {"source", rank.source},
                {"processes", rank.processes}};
  });
}

Json cost_json(const Info& info) {
  const RecordingCost& cost = info.recording_cost;
  if (cost.text.empty()) return nullptr;
  const auto percent = [&](double value) { return cost.is_measured() ? Json(value) : Json(); };
  return Json{{"measured", cost.is_measured()},
              {"percent", percent(cost.measured.percent)},
              {"low", percent(cost.measured.low_percent)},
              {"high", percent(cost.measured.high_percent)},
              {"windows", cost.measured.windows},
              {"off_windows", cost.off_windows},
              {"graphs", cost.has_graphs},
              {"reported_by_tools_ns", info.overhead_ns}};
}

std::string info_json(const Info& info) {
  Json json{{"schema", 1},
            {"format_version", trace::kFormatVersion},
            {"producer", info.producer},
            {"complete", info.complete},
            {"unfinished", info.unfinished},
            {"tier", info.tier},
            {"collector", info.collector},
            {"ranks", to_json(info.ranks)},
            {"duration_ns", info.duration_ns},
            {"counts", to_json(info.counts)},
            {"coordination", to_json(info.coordination)},
            {"recording_cost", cost_json(info)},
            {"stacks", {{"count", info.stack_count}, {"ns", info.stack_ns}}},
            {"losses", to_json(info.losses)}};
  if (info.iteration) json["iteration"] = to_json(*info.iteration);
  return dump(json);
}

std::string info_text(const Trace& trace, const Info& info) {
  std::string text = headline(trace, info) + "\n";
  for (const LossFact& loss : info.losses) {
    text += fmt::format("  {}: {}{}: {}{}{}\n", trace::to_string(loss.severity), loss.name,
                        loss.count > 0 ? " × " + format_count(loss.count) : "", loss.text,
                        loss.advice.empty() ? "" : " ", loss.advice);
  }
  text += fmt::format("  format {}, {}{}\n", trace::kFormatVersion, info.producer,
                      info.tier.empty() ? "" : ", tier " + info.tier);
  if (!info.collector.empty()) text += "  calls seen by: " + info.collector + "\n";
  if (const std::string ranks = rank_sentence(info.ranks); !ranks.empty())
    text += "  " + ranks + "\n";
  if (info.stack_count > 0) text += "  " + stack_cost(info) + "\n";
  if (const std::string remark = cost_remark(info.recording_cost); !remark.empty())
    text += "  " + remark + "\n";
  if (info.overhead_ns > 0) {
    text += fmt::format("  the recording tools reported an overhead of {}, only part of the cost\n",
                        format_duration(info.overhead_ns));
  }
  if (info.iteration && info.iteration->found()) {
    text += fmt::format("  {} {}\n", duration_sentence(*info.iteration),
                        bound_sentence(*info.iteration));
  } else if (info.iteration) {
    text += "  no iterations were found\n";
  }
  const Json counts = to_json(info.counts);
  for (const auto& [key, value] : counts.items()) {
    text += fmt::format("  {:<14} {:>14}\n", key, format_count(value.get<uint64_t>()));
  }
  return text + coordination_text(info.coordination);
}

}  // namespace streamscope::report
