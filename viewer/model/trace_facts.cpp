// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace_facts.h"

#include "labels.h"

namespace streamscope::viewer {

bool is_unfinished(const TraceModel& model) { return model.info().unfinished; }

std::string state_label(const TraceModel& model, bool is_live) {
  if (!is_unfinished(model)) return "";
  return is_live ? "recording\u2026" : "unfinished";
}

std::string state_text(const TraceModel& model, bool is_live) {
  if (is_unfinished(model)) return is_live ? "still being recorded" : "unfinished";
  return report::verdict(model.info());
}

std::vector<std::string> header_facts(const TraceModel& model, bool is_live) {
  const report::Info& info = model.info();
  const trace::Trace& trace = model.trace();
  std::vector<std::string> facts;
  if (info.counts.process > 1)
    facts.push_back(format_count(info.counts.process, "process", "processes"));
  if (!trace.device.empty() && trace.device.name_id[0] != kNoId) {
    const std::string several =
        info.counts.device > 1 ? std::to_string(info.counts.device) + " \u00d7 " : "";
    facts.push_back(several + model.items().text(trace.device.name_id[0]));
  }
  if (model.is_sketch()) {
    facts.push_back(format_duration(model.extent().duration_ns()));
    return facts;
  }
  facts.push_back(format_duration(info.duration_ns));
  if (std::string state = state_label(model, is_live); !state.empty())
    facts.push_back(std::move(state));
  facts.push_back(format_count(info.counts.op, "operation"));
  facts.push_back(format_count(model.edges().size(), "ordering edge"));
  return facts;
}

std::vector<Fact> count_facts(const TraceModel& model) {
  const report::Counts& counts = model.info().counts;
  std::vector<Fact> facts;
  const auto add = [&](const char* name, uint64_t count) {
    if (count > 0) facts.push_back({name, format_count(static_cast<int64_t>(count))});
  };
  add("processes", counts.process);
  add("streams", counts.stream);
  add("operations", counts.op);
  add("kernels", counts.kernel);
  add("copies", counts.memcpy);
  add("memsets", counts.memset);
  add("host functions", counts.host_function);
  add("graph launches", counts.graph_launch);
  add("CUDA calls", counts.api_call);
  add("event records", counts.event_record);
  add("stream waits", counts.event_wait);
  add("ordering edges", model.edges().size());
  add("host syncs", counts.host_sync);
  add("queries", counts.query);
  add("NVTX ranges", counts.range);
  add("coord operations", counts.operation);
  add("coord barriers", counts.barrier);
  add("coord tasks", counts.task);
  return facts;
}

std::vector<std::string> loss_lines(const TraceModel& model) {
  std::vector<std::string> lines;
  for (const report::LossFact& loss : model.info().losses) {
    if (loss.severity < trace::Severity::kNotice) continue;
    std::string line = loss.text;
    if (loss.count > 1) line += " (" + format_count(static_cast<int64_t>(loss.count)) + ")";
    if (!loss.advice.empty()) line += " " + loss.advice;
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string warning(const TraceModel& model, bool is_live) {
  const report::Info& info = model.info();
  const bool unfinished = is_unfinished(model);
  const bool lossy = report::worst_loss(info) >= trace::Severity::kDataLoss;
  const bool in_order = unfinished ? is_live : info.complete;
  if (model.is_sketch() || (!lossy && in_order)) return "";
  std::string text = unfinished && !is_live
                         ? "This trace is unfinished: the end of the recording is missing."
                         : "This trace is incomplete.";
  for (const std::string& line : loss_lines(model)) text += " " + line;
  return text;
}

}  // namespace streamscope::viewer
