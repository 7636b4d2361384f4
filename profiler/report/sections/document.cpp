// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "document.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "analysis/labels.h"
#include "analysis/units.h"
#include "lists.h"
#include "report/formats/table.h"
#include "summary.h"
#include "time_sections.h"
#include "trace/loss.h"
#include "trace/ns_math.h"

namespace streamscope::report {
namespace {

using analysis::device_label;
using analysis::event_label;
using analysis::format_bytes;
using analysis::format_count;
using analysis::format_duration;
using analysis::format_percent;
using analysis::op_label;
using analysis::printable;
using analysis::process_label;
using analysis::stream_label;
using streamscope::WaitCause;
using trace::Trace;

constexpr size_t kOpsShownOfRange = 5;

// Findings with their texts; the first ones to fix also have a rank and a gain.
Section findings_section(const char* title, std::span<const Advice> findings, bool ranked,
                         Ns window_ns, bool iterates = false) {
  constexpr size_t kWidth = 84;
  Section section{.title = title,
                  .kind = SectionKind::kFindings,
                  .columns = {right(""), left("finding"), right(iterates ? "iteration" : "gain"),
                              right("times"), left("rule")}};
  for (const Advice& advice : findings) {
    const analysis::Finding& finding = advice.finding;
    std::string rank, gain;
    if (ranked) {
      rank = fmt::format("{}", &advice - findings.data() + 1);
      gain = gain_text(finding, window_ns);
    }
    section.rows.push_back(
        {rank, finding.title, gain, format_count(finding.count), rule_name(*advice.detector)});
    for (const std::string& line : wrapped(finding.text, kWidth))
      section.rows.push_back({"", "  " + line, "", "", ""});
  }
  return section;
}

Section advice_section(const Summary& summary) {
  const std::span all(summary.advice);
  const auto is_new = [](const Advice& advice) { return !advice.repeats; };
  const size_t shown =
      std::min(static_cast<size_t>(std::ranges::count_if(all, is_new)), kFixedFirst);
  Section section = findings_section("Worth fixing first", all.first(shown), true,
                                     summary.window_ns, summary.iteration.found());
  if (all.size() > shown) {
    section.footnotes.push_back(fmt::format("{}: streamscope detectors describes each rule",
                                            format_count(all.size() - shown, "more finding")));
  }
  if (!summary.small.empty())
    section.footnotes.push_back(small_line(summary.iteration, summary.small));
  return section;
}

Section possible_section(const Summary& summary, bool show) {
  std::span<const Advice> shown;
  if (show) shown = summary.possible;
  Section section = findings_section("Possible findings", shown, false, 0);
  section.remarks = {show ? "From indirect evidence; they never fail a check."
                          : possible_line(summary.possible)};
  return section;
}

// Work without an end in a trace with times: the first sign of a hang.
Section unfinished_section(const Trace& trace, const Summary& summary) {
  Section section{.title = "Unfinished work",
                  .columns = {left("stream"), right("ops"), left("first op")},
                  .footnotes = {"the work never completed (a hang), or its times were lost"}};
  for (const StreamSummary& stream : summary.streams) {
    if (stream.unfinished_count == 0 || section.rows.size() == kStreamsShown) continue;
    section.rows.push_back({stream_label(trace, stream.stream),
                            format_count(stream.unfinished_count),
                            op_label(trace, stream.first_unfinished)});
  }
  return section;
}

// What the recorder found while the program hung; `hang` shows the stacks.
Section hang_section(const Trace& trace) {
  Section section{.title = "Hang"};
  for (Id hang = 0; hang < trace.hang.size(); ++hang) {
    const std::string_view text = trace.text(trace.hang.text_id[hang]);
    section.remarks.push_back(fmt::format("{}: {}",
                                          process_label(trace, trace.hang.process_id[hang]),
                                          printable(text.substr(0, text.find('\n')))));
  }
  section.footnotes.push_back("streamscope hang shows the stacks and what to do");
  return section;
}

constexpr const char* kGapNote =
    "gap before: time in which the stream had nothing to run; mostly: the cause of the largest "
    "part, named as in the Streams table";

// "launch 92 %"
std::string mostly(const Gaps& gaps) {
  if (gaps.total_ns() == 0) return "";
  const WaitCause cause = gaps.mostly();
  return fmt::format("{} {}", to_string(cause),
                     format_percent(gaps.by_cause.at(cause), gaps.total_ns()));
}

Section ops_section(const Trace& trace, const Summary& summary) {
  Section section{.title = "Kernels and copies",
                  .columns = {right("total"), right("times"), right("mean"), right("longest"),
                              right("gap before"), left("mostly"), left("name")}};
  for (const OpGroup& op : first_of(summary.ops, 2 * kRowsShown, "shorter ones", section)) {
    const bool timed = op.timed_count > 0;
    section.rows.push_back(
        {timed ? format_duration(op.total_ns) : "–", format_count(op.count),
         timed ? format_duration(op.total_ns / static_cast<Ns>(op.timed_count)) : "–",
         timed ? format_duration(op.longest_ns) : "–", format_duration(op.gaps.total_ns()),
         mostly(op.gaps), op_label(trace, op.example)});
  }
  section.footnotes.push_back(kGapNote);
  return section;
}

Section ranges_section(const Trace& trace, const Summary& summary) {
  Section section{
      .title = "NVTX ranges",
      .columns = {right("host time"), right("times"), right("ops issued"), right("device time"),
                  right("gap before"), left("mostly"), left("range")}};
  for (const RangeGroup& range :
       first_of(summary.ranges, 2 * kRowsShown, "shorter ones", section)) {
    const std::string domain = printable(trace.text(range.domain_id));
    section.rows.push_back(
        {format_duration(range.host_ns), format_count(range.count), format_count(range.op_count),
         format_duration(range.device_ns), format_duration(range.gaps.total_ns()),
         mostly(range.gaps),
         (domain.empty() ? "" : domain + ": ") + quoted_or(trace, range.name_id, "(unnamed)")});
    for (size_t i = 0; i < range.ops.size(); ++i) {
      const OpGroup& op = range.ops[i];
      const bool last = i + 1 == kOpsShownOfRange && range.ops.size() > kOpsShownOfRange;
      section.rows.push_back(
          {"", format_count(op.count), "", op.timed_count > 0 ? format_duration(op.total_ns) : "–",
           format_duration(op.gaps.total_ns()), mostly(op.gaps),
           "  " + op_label(trace, op.example) +
               (last ? fmt::format(", and {} more", range.ops.size() - kOpsShownOfRange) : "")});
      if (last) break;
    }
  }
  if (summary.ranges.empty()) {
    section.remarks.push_back("The program has no NVTX ranges.");
    return section;
  }
  uint64_t foreign = 0;
  for (const RangeGroup& range : summary.ranges) foreign += range.foreign_count;
  std::string rule =
      "ops issued: while the range was open on the issuing thread; for threads that never open a "
      "range of this name, while it was open on exactly one thread";
  if (foreign > 0) rule += fmt::format(" ({})", format_count(foreign, "op"));
  section.footnotes.push_back(rule);
  section.footnotes.push_back(kGapNote);
  return section;
}

// From libcoord: why dependencies needed no wait, and how far timelines got.
Section coordination_section(const Coordination& coordination) {
  Section section{.title = "Dependencies and timelines"};
  if (coordination.dependencies > 0) section.remarks.push_back(dependencies_sentence(coordination));
  if (coordination.timelines.empty()) return section;
  section.columns = {left("timeline"), right("signaled"), right("reached"), right("waits"),
                     right("given up")};
  for (const TimelineFact& timeline : coordination.timelines) {
    section.rows.push_back({timeline.name, fmt::format("{}", timeline.signaled),
                            fmt::format("{}", timeline.reached), format_count(timeline.waits),
                            timeline.given_up > 0 ? format_count(timeline.given_up) : ""});
  }
  return section;
}

Section tasks_section(const std::vector<analysis::TaskUsage>& queues) {
  Section section{.title = "Task queues",
                  .columns = {left("queue"), left("workers"), right("tasks"), right("per worker"),
                              right("mean busy"), right("longest busy"), right("longest / mean"),
                              right("not recorded")}};
  for (const analysis::TaskUsage& queue : queues) {
    const size_t workers = queue.busy_ns.size();
    std::string who = format_count(workers, queue.on_device ? "warp" : "thread");
    if (queue.sms > 0) who += " on " + format_count(queue.sms, "SM");
    std::string share;
    if (queue.records_nothing()) {
      section.rows.push_back({printable(queue.name), who, "not recorded", "", "–", "–", "–", ""});
      continue;
    }
    if (!queue.tasks_of.empty()) {
      const auto [least, most] = std::minmax_element(queue.tasks_of.begin(), queue.tasks_of.end());
      share = format_count(*least) + (*least < *most ? " to " + format_count(*most) : "");
    }
    const bool ran = queue.total_ns() > 0;
    section.rows.push_back(
        {printable(queue.name), who, format_count(queue.tasks), share,
         ran ? format_duration(queue.total_ns() / static_cast<Ns>(workers)) : "–",
         ran ? format_duration(queue.longest_ns()) : "–",
         ran ? fmt::format("{:.2f}", queue.imbalance()) : "–",
         queue.left_out > 0 ? format_count(queue.left_out) : ""});
  }
  return section;
}

Section counts_section(const Summary& summary) {
  const Counts& counts = summary.info.counts;
  std::string line =
      fmt::format("{} · {} · {} · {} ({} bound) · {} · {}", format_count(counts.kernel, "kernel"),
                  counts.memcpy == 1 ? "1 copy" : format_count(counts.memcpy) + " copies",
                  format_count(counts.event_record, "event record"),
                  format_count(counts.event_wait, "stream wait"), format_count(counts.event_edge),
                  format_count(counts.host_sync, "host synchronization"),
                  format_count(counts.api_call, "traced call"));
  if (counts.memset > 0) line += " · " + format_count(counts.memset, "memset");
  if (counts.graph_launch > 0) {
    line += fmt::format(" · {} graph launch{}", format_count(counts.graph_launch),
                        counts.graph_launch == 1 ? "" : "es");
  }
  if (counts.operation > 0) line += " · " + format_count(counts.operation, "operation");
  if (counts.barrier > 0) line += " · " + format_count(counts.barrier, "barrier");
  if (counts.range > 0) line += " · " + format_count(counts.range, "range");
  return {.title = "Counts", .remarks = {line}};
}

// Removes columns whose cells are all empty.
void drop_empty_columns(Section& section) {
  for (size_t column = section.columns.size(); column-- > 0;) {
    const auto empty = [&](const std::vector<std::string>& row) { return row[column].empty(); };
    if (!std::all_of(section.rows.begin(), section.rows.end(), empty)) continue;
    section.columns.erase(section.columns.begin() + static_cast<ptrdiff_t>(column));
    for (auto& row : section.rows) row.erase(row.begin() + static_cast<ptrdiff_t>(column));
  }
}

}  // namespace

std::vector<Notice> notices_of(const Trace& trace, const Info& info) {
  std::vector<Notice> notices;
  if (info.unfinished)
    notices.push_back(
        {trace::Severity::kNotice, std::string(trace::kUnfinished), std::string(trace::kAskAgain)});
  for (const LossFact& loss : info.losses) {
    std::string text = loss.name + ": " + loss.text;
    if (loss.count > 0) text.insert(0, format_count(loss.count) + " × ");
    if (trace.process.size() > 1 && loss.process_id != kNoId)
      text.insert(0, process_label(trace, loss.process_id) + ": ");
    notices.push_back({loss.severity, text, loss.advice});
  }
  return notices;
}

Document compose(const Trace& trace, const Summary& summary, By by, bool show_possible) {
  Document document;
  document.headline = headline(trace, summary.info);
  document.notices = notices_of(trace, summary.info);
  if (!trace.hang.empty()) document.sections.push_back(hang_section(trace));
  if (summary.iteration.found()) {
    document.sections.push_back(iteration_section(summary.iteration));
  } else if (!summary.no_iterations.empty()) {
    document.sections.push_back({.title = kIterationTitle, .remarks = {summary.no_iterations}});
  }
  if (!summary.advice.empty() || !summary.small.empty())
    document.sections.push_back(advice_section(summary));
  if (!summary.possible.empty())
    document.sections.push_back(possible_section(summary, show_possible));
  if (!summary.iteration.host.lines.empty()) {
    Section host = host_section(summary.iteration);
    if (!host.rows.empty()) document.sections.push_back(std::move(host));
  }
  if (by == By::kNvtx) document.sections.push_back(ranges_section(trace, summary));
  if (by == By::kKernel) document.sections.push_back(ops_section(trace, summary));
  if (!summary.streams.empty()) document.sections.push_back(streams_section(trace, summary));
  if (summary.window_ns > 0) {
    Section unfinished = unfinished_section(trace, summary);
    if (!unfinished.rows.empty()) document.sections.push_back(std::move(unfinished));
  }
  if (!summary.waits.empty()) document.sections.push_back(waits_section(trace, summary));
  if (!summary.devices.empty()) document.sections.push_back(overlap_section(trace, summary));
  if (!summary.syncs.empty() || summary.info.counts.query > 0) {
    document.sections.push_back(syncs_section(trace, summary));
  }
  if (summary.path.total_ns() > 0) document.sections.push_back(path_section(summary));
  if (const Coordination& reported = summary.info.coordination;
      reported.dependencies > 0 || !reported.timelines.empty()) {
    document.sections.push_back(coordination_section(reported));
  }
  if (const auto& queues = summary.info.coordination.queues; !queues.empty())
    document.sections.push_back(tasks_section(queues));
  document.sections.push_back(counts_section(summary));
  for (Section& section : document.sections) drop_empty_columns(section);
  return document;
}

}  // namespace streamscope::report
