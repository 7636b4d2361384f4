// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "derive.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "analysis/hang/hang.h"
#include "analysis/iterations/iteration_model.h"
#include "analysis/usage/lod.h"
#include "counts.h"
#include "labels.h"
#include "trace/tables.h"
#include "trace/write/writer.h"

namespace streamscope::analysis {
namespace {

constexpr char kVersionKey[] = "analysis_version", kVerdictsKey[] = "verdicts";
constexpr size_t kFlushAboveBytes = 16 << 20;

template <class Row>
void append(trace::Writer& writer, const Row& row) {
  writer.append(row);
  if (writer.buffered_bytes() > kFlushAboveBytes) writer.flush();
}

void append_wait(trace::Writer& writer, const WaitPart& part) {
  append(writer, trace::WaitCause{.op_id = part.op,
                                  .cause = static_cast<trace::Small>(part.cause),
                                  .duration_ns = part.duration_ns,
                                  .edge_id = part.edge,
                                  .because_op_id = part.because_op(),
                                  .host_sync_id = part.host_sync(),
                                  .call_name_id = part.call_name()});
}

void append_finding(trace::Writer& writer, const Detector& detector, const Finding& finding) {
  trace::Finding row;
  row.detector_id = writer.intern(detector.id);
  row.severity = static_cast<trace::Small>(severity_of(detector, finding));
  row.title_id = writer.intern(finding.title);
  row.text_id = writer.intern(finding.text);
  row.first_op_id = finding.first_op;
  row.second_op_id = finding.second_op;
  row.count = static_cast<trace::Int>(finding.count);
  if (finding.gain_ns) row.gain_ns = *finding.gain_ns;
  row.start_ns = finding.start_ns;
  row.end_ns = finding.end_ns;
  row.confidence = static_cast<trace::Small>(finding.confidence);
  row.event_record_id = finding.event_record;
  row.event_wait_id = finding.event_wait;
  row.host_sync_id = finding.host_sync;
  row.last_ns = finding.last_ns;
  const auto text = [&](const std::string& part) {
    return part.empty() ? kNoId : writer.intern(part);
  };
  row.thread_text_id = text(finding.place.thread);
  row.call_site_id = text(finding.place.call_site);
  row.ranges_id = text(finding.place.ranges);
  if (finding.iteration) {
    row.iteration_ns = finding.iteration->before_ns;
    row.repaired_iteration_ns = finding.iteration->after_ns;
  }
  append(writer, row);
}

Finding read_finding(const Trace& trace, Id row) {
  const auto& rows = trace.finding;
  const auto text = [&](Id id) { return printable(trace.text(id)); };
  Finding finding;
  finding.title = text(rows.title_id[row]);
  finding.text = printable(trace.text(rows.text_id[row]), true);
  finding.first_op = rows.first_op_id[row];
  finding.second_op = rows.second_op_id[row];
  finding.event_record = rows.event_record_id[row];
  finding.event_wait = rows.event_wait_id[row];
  finding.host_sync = rows.host_sync_id[row];
  finding.place = {text(rows.thread_text_id[row]), text(rows.call_site_id[row]),
                   text(rows.ranges_id[row])};
  finding.confidence = static_cast<Confidence>(rows.confidence[row]);
  finding.start_ns = rows.start_ns[row];
  finding.end_ns = rows.end_ns[row];
  finding.last_ns = rows.last_ns[row];
  finding.count = static_cast<uint64_t>(std::max<trace::Int>(rows.count[row], 1));
  if (rows.gain_ns[row] != kUnknownNs) finding.gain_ns = rows.gain_ns[row];
  if (rows.iteration_ns[row] != trace::kNoInt && rows.repaired_iteration_ns[row] != trace::kNoInt)
    finding.iteration = {rows.iteration_ns[row], rows.repaired_iteration_ns[row]};
  return finding;
}

void append_iterations(trace::Writer& writer, const Iterations& iterations) {
  const Id name = iterations.name.empty() ? kNoId : writer.intern(iterations.name);
  for (size_t i = 0; i < iterations.all.size(); ++i) {
    const Iteration& iteration = iterations.all[i];
    append(writer,
           trace::Iteration{.process_id = iterations.process_id,
                            .source = static_cast<trace::Small>(iterations.source),
                            .name_id = name,
                            .start_ns = iteration.start_ns,
                            .end_ns = iteration.end_ns,
                            .issued_ns = iteration.issued_ns,
                            .last_op_id = iteration.last_op,
                            .count = static_cast<trace::Int>(iteration.op_count),
                            .steady = i >= iterations.steady_from && i < iterations.steady_to});
  }
}

std::string verdicts_to_store(const std::vector<Verdict>& verdicts) {
  std::string text;
  for (const Verdict& verdict : verdicts) {
    text.append(verdict.detector->id).append(" ").append(to_string(verdict.outcome));
    if (!verdict.reason.empty()) text.append(" ").append(verdict.reason);
    text += '\n';
  }
  return text;
}

// "ID OUTCOME[ REASON]"; without a detector if the line is malformed.
Verdict read_verdict(std::string_view line) {
  const auto word = [&] {
    const std::string_view found = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(found.size() + 1, line.size()));
    return found;
  };
  Verdict verdict;
  const Detector* detector = find_detector(word());
  const std::string_view outcome = word();
  for (const Outcome known :
       {Outcome::kFound, Outcome::kClean, Outcome::kNotAtThisTier, Outcome::kNotEvaluable}) {
    if (outcome != to_string(known)) continue;
    verdict.detector = detector;
    verdict.outcome = known;
    verdict.reason = printable(line);
  }
  return verdict;
}

bool is_of_this_version(const Trace& trace) {
  const auto found = trace.meta.find(kVersionKey);
  return found != trace.meta.end() && found->second == std::to_string(kAnalysisVersion);
}

// Readers of derived rows rely on what this version writes into each row; a file from another
// writer may lack it.
bool findings_are_whole(const Trace& trace) {
  for (Id i = 0; i < trace.finding.size(); ++i) {
    if (trace.finding.severity[i] == trace::kNoSmall ||
        trace.finding.confidence[i] == trace::kNoSmall)
      return false;
  }
  return true;
}

bool rows_are_whole(const Trace& trace) {
  for (Id i = 0; i < trace.edge.size(); ++i) {
    if (trace.edge.kind[i] == trace::kNoSmall || trace.edge.from_op_id[i] == kNoId ||
        trace.edge.to_op_id[i] == kNoId)
      return false;
  }
  const auto& cause = trace.wait_cause;
  for (Id i = 0; i < cause.size(); ++i) {
    if (cause.op_id[i] == kNoId || cause.cause[i] == trace::kNoSmall ||
        cause.duration_ns[i] == trace::kUnknownNs)
      return false;
  }
  const auto& path = trace.critical_path;
  for (Id i = 0; i < path.size(); ++i) {
    if (path.kind[i] == trace::kNoSmall || path.start_ns[i] == trace::kUnknownNs ||
        path.end_ns[i] < path.start_ns[i] ||
        (path.kind[i] == trace::kOpStep && path.op_id[i] == kNoId))
      return false;
  }
  return findings_are_whole(trace);
}

}  // namespace

DerivedCounts write_derived_tables(Analyses& analyses) {
  const Trace& trace = analyses.trace();
  DerivedCounts counts;
  // Computed before the file is touched.
  const Edges& edges = analyses.edges();
  const std::vector<WaitPart>& waits = analyses.waits();
  const std::vector<PathStep>& path = analyses.path();
  const std::vector<Verdict> verdicts = evaluate_all(analyses);
  const std::vector<trace::Lod> pyramid = level_of_detail(trace, analyses.stream_ops());
  const Iterations& iterations = analyses.iteration_model().iterations();
  const std::map<Id, trace::HangReport> hangs = proved_hangs(analyses);

  trace::Writer writer = trace::Writer::open_derived(trace.file);
  writer.clear<trace::Edge>();
  for (const trace::Edge& edge : edges.rows()) append(writer, edge);
  counts.edges = edges.size();
  writer.clear<trace::WaitCause>();
  for (const WaitPart& part : waits) append_wait(writer, part);
  writer.clear<trace::CriticalPath>();
  trace::Small number = 0;
  for (const PathStep& step : path) {
    append(writer, trace::CriticalPath{.step = number++,
                                       .kind = step.kind,
                                       .op_id = step.op,
                                       .host_sync_id = step.host_sync,
                                       .start_ns = step.start_ns,
                                       .end_ns = step.end_ns});
  }
  writer.clear<trace::Finding>();
  for (const Verdict& verdict : verdicts) {
    for (const Finding& finding : verdict.findings)
      append_finding(writer, *verdict.detector, finding);
    counts.findings += verdict.findings.size();
  }
  writer.clear<trace::Lod>();
  for (const trace::Lod& row : pyramid) append(writer, row);
  writer.clear<trace::Iteration>();
  append_iterations(writer, iterations);
  for (const auto& [process, report] : hangs)
    trace::append_hang(writer, process, trace.process.end_ns[process], report);
  writer.set_meta(kCountsKey, counts_to_store(trace));
  // The detectors use the stored hangs and did not see those that were just added.
  if (hangs.empty()) {
    writer.set_meta(kVerdictsKey, verdicts_to_store(verdicts));
  } else {
    writer.erase_meta(kVerdictsKey);
  }
  writer.set_meta(kVersionKey, kAnalysisVersion);
  writer.finish(trace.complete());
  return counts;
}

trace::ReadOptions options_to_analyze() {
  trace::ReadOptions options;
  for (const trace::TableInfo& table : trace::tables()) options.only.push_back(table.name);
  for (const char* derived : {"edge", "wait_cause", "critical_path"})
    std::erase(options.only, derived);
  return options;
}

bool has_derived_tables(const Trace& trace) {
  return is_of_this_version(trace) && rows_are_whole(trace);
}

std::optional<std::vector<Verdict>> stored_verdicts(const Trace& trace) {
  const auto stored = trace.meta.find(kVerdictsKey);
  if (stored == trace.meta.end() || !is_of_this_version(trace) || !findings_are_whole(trace) ||
      !stored_counts(trace)) {
    return std::nullopt;
  }
  std::vector<Verdict> verdicts;
  std::string_view lines = stored->second;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    verdicts.push_back(read_verdict(line));
  }
  // Exactly the existing detectors, in order.
  std::vector<const Detector*> expected;
  for (const Detector& detector : detectors()) {
    if (detector.look) expected.push_back(&detector);
  }
  if (!std::ranges::equal(verdicts, expected, {}, &Verdict::detector)) return std::nullopt;
  for (Id row = 0; row < trace.finding.size(); ++row) {
    const Detector* detector = find_detector(trace.text(trace.finding.detector_id[row]));
    const auto of = std::ranges::find(verdicts, detector, &Verdict::detector);
    if (of == verdicts.end()) return std::nullopt;
    of->findings.push_back(read_finding(trace, row));
  }
  for (const Verdict& verdict : verdicts) {
    if ((verdict.outcome == Outcome::kFound) == verdict.findings.empty()) return std::nullopt;
  }
  return verdicts;
}

Iterations stored_iterations(const Trace& trace) {
  const auto& rows = trace.iteration;
  Iterations result;
  if (rows.empty() || !is_of_this_version(trace)) return {};
  const trace::Small source = rows.source[0];
  if (source < static_cast<trace::Small>(IterationSource::kRange) ||
      source > static_cast<trace::Small>(IterationSource::kGraph))
    return {};
  result.source = static_cast<IterationSource>(source);
  result.name = trace.text(rows.name_id[0]);
  result.process_id = rows.process_id[0];
  size_t steady = 0;
  for (Id row = 0; row < rows.size(); ++row) {
    const Ns start = rows.start_ns[row], end = rows.end_ns[row];
    Ns duration = 0;
    if (start == kUnknownNs || __builtin_sub_overflow(end, start, &duration) || duration < 0 ||
        (row > 0 && start != result.all.back().end_ns))
      return {};
    const Id last = rows.last_op_id[row];
    result.all.push_back(
        {.start_ns = start,
         .end_ns = end,
         .issued_ns = rows.issued_ns[row],
         .last_op = last < trace.op.size() ? last : kNoId,
         .op_count = static_cast<uint64_t>(std::max<trace::Int>(rows.count[row], 0))});
    if (rows.steady[row] != 1) continue;
    if (steady++ == 0) result.steady_from = row;
    result.steady_to = size_t{row} + 1;
  }
  if (steady == 0 || steady != result.steady_count()) return {};
  measure_steady(result);
  return result;
}

std::vector<Verdict> verdicts(Analyses& analyses, size_t take_derived_above) {
  if (analyses.trace().op.size() > take_derived_above &&
      analyses.iteration_request() == IterationRequest{}) {
    if (auto stored = stored_verdicts(analyses.trace())) return *std::move(stored);
  }
  return evaluate_all(analyses);
}

}  // namespace streamscope::analysis
