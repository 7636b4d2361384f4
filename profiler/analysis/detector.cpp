// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>

#include "iterations/iteration_model.h"
#include "labels.h"
#include "units.h"
#include "usage/cost_windows.h"
#include "vocabulary/tier.h"

namespace streamscope::analysis {
namespace {

constexpr std::string_view kEvidenceNames[] = {"calls",     "events",      "times",
                                               "arguments", "allocations", "hangs"};

// Sets the times of a finding from its rows.
void locate(const Trace& trace, Finding& finding) {
  const auto widen = [&](Ns start, Ns end) {
    if (start == kUnknownNs) return;
    if (finding.start_ns == kUnknownNs || start < finding.start_ns) finding.start_ns = start;
    finding.end_ns = std::max({finding.end_ns, start, end});
  };
  if (finding.start_ns == kUnknownNs) {
    for (Id op : {finding.first_op, finding.second_op}) {
      if (op >= trace.op.size()) continue;
      if (is_timed(trace, op)) {
        widen(trace.op.start_ns[op], trace.op.end_ns[op]);
      } else {
        const Issue issue = issue_of(trace, op);
        widen(issue.start_ns, issue.end_ns);
      }
    }
    if (finding.event_wait < trace.event_wait.size())
      widen(trace.event_wait.start_ns[finding.event_wait],
            trace.event_wait.end_ns[finding.event_wait]);
    if (finding.host_sync < trace.host_sync.size())
      widen(trace.host_sync.start_ns[finding.host_sync], trace.host_sync.end_ns[finding.host_sync]);
  }
  if (finding.last_ns == kUnknownNs) finding.last_ns = finding.start_ns;
}

// The first row with a call site determines the place of the finding.
void place(const Places& places, Finding& finding) {
  for (const Location& candidate :
       {finding.place, places.of_sync(finding.host_sync), places.of_wait(finding.event_wait),
        places.of_record(finding.event_record), places.of_op(finding.second_op),
        places.of_op(finding.first_op)}) {
    if (finding.place.call_site.empty() &&
        (!candidate.call_site.empty() || finding.place.sentence().empty())) {
      finding.place = candidate;
    }
  }
  if (const std::string where = finding.place.sentence(); !where.empty())
    finding.text += fmt::format(" First {}.", where);
}

// Sets what repairing a finding saves in an iteration. What saves little in the whole run saves
// little in an iteration.
void weigh(Analyses& analyses, Finding& finding) {
  if (finding.iteration || !finding.gain_ns) return;
  const IterationModel& model = analyses.iteration_model();
  if (!model.found()) return;
  const Ns before = model.bare_ns();
  const Ns most = *finding.gain_ns / static_cast<Ns>(model.iterations().steady_count());
  finding.iteration = {before, before - std::min(before, most)};
  if (finding.repair && !finding.iteration->is_small())
    finding.iteration->after_ns = std::min(before, model.predicted_ns(*finding.repair));
}

}  // namespace

void Findings::add(Key key, Ns at_ns, const std::function<Finding()>& make) {
  const auto [known, is_new] = by_key_.try_emplace(std::move(key), findings_.size());
  if (is_new) {
    findings_.push_back(make());
    findings_.back().last_ns = at_ns;
    return;
  }
  Finding& finding = findings_[known->second];
  ++finding.count;
  finding.last_ns = std::max(finding.last_ns, at_ns);
}

Finding* Findings::find(const Key& key) {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &findings_[found->second];
}

FindingSeverity severity_of(const Detector& detector, const Finding& finding) {
  const bool is_small = detector.severity == FindingSeverity::kWarning && finding.iteration &&
                        finding.iteration->is_small();
  return finding.confidence == Confidence::kPossible || is_small ? FindingSeverity::kNote
                                                                 : detector.severity;
}

const Detector* find_detector(std::string_view name) {
  for (const Detector& detector : detectors()) {
    if (detector.id == name || detector.number == name) return &detector;
  }
  return nullptr;
}

std::string to_string_of_evidence(unsigned evidence) {
  std::string result;
  for (size_t i = 0; i < std::size(kEvidenceNames); ++i) {
    if ((evidence >> i & 1) == 0) continue;
    if (!result.empty()) result += ", ";
    result += kEvidenceNames[i];
  }
  return result;
}

std::string AvailableEvidence::reason(unsigned needs) const {
  std::string result;
  for (const Gap& gap : gaps) {
    if ((gap.evidence & needs) == 0) continue;
    if (!result.empty()) result += "; ";
    result += gap.reason;
  }
  return result;
}

AvailableEvidence evidence_of(const Trace& trace) {
  AvailableEvidence result;
  const auto tier = trace.meta.find("tier");
  const bool structure_only =
      tier != trace.meta.end() && tier_named(tier->second) == Tier::kStructure;
  result.promised = kCallEvidence | kEventEvidence | kHangEvidence;
  if (!structure_only) result.promised |= kTimeEvidence;
  // Files of other tools do not contain what waits for what.
  if (trace.meta.contains("imported_from")) result.promised &= ~kHangEvidence;
  if (!trace.access.empty()) result.promised |= kArgumentEvidence | kAllocationEvidence;

  for (Id loss = 0; loss < trace.loss.size(); ++loss) {
    const std::string_view name = trace.text(trace.loss.name_id[loss]);
    const trace::LossInfo& info = trace::loss_info(name);
    const trace::Small stored = trace.loss.severity[loss];
    const auto severity =
        stored == trace::kNoSmall ? info.severity : static_cast<trace::Severity>(stored);
    if (severity < trace::Severity::kDataLoss) continue;
    result.gaps.push_back({info.touches, fmt::format("{} ({})", info.meaning, printable(name))});
  }
  if (const size_t off = count_off_windows(trace); off > 0) {
    result.gaps.push_back(
        {kCallEvidence | kEventEvidence | kAllocationEvidence,
         fmt::format("recording was off in {} to measure its cost", format_count(off, "window"))});
  }
  size_t ambiguous = 0, unknown = 0;
  for (const auto* bindings : {&trace.event_wait.binding, &trace.host_sync.binding}) {
    for (const trace::Small binding : *bindings) {
      ambiguous += binding == trace::kAmbiguous;
      unknown += binding == trace::kUnknownHistory;
    }
  }
  const auto gap = [&](unsigned evidence, size_t count, const char* noun, const char* what) {
    if (count > 0)
      result.gaps.push_back({evidence, fmt::format("{} {}", format_count(count, noun), what)});
  };
  gap(kEventEvidence, ambiguous, "wait", "overlapped with records of the same event");
  gap(kEventEvidence, unknown, "wait", "may refer to records that are not in the trace");
  size_t late_streams = 0;
  for (trace::Small kind : trace.stream.kind) late_streams += kind == trace::kUnknownStream;
  gap(kCallEvidence, late_streams, "stream", "existed before recording began");
  if (!structure_only) {
    size_t untimed = 0;
    for (Id op = 0; op < trace.op.size(); ++op) {
      untimed += is_measurable(trace.op.kind[op]) && !is_timed(trace, op);
    }
    gap(kTimeEvidence, untimed, "op", "without times");
  }
  return result;
}

Verdict evaluate(const Detector& detector, Analyses& analyses, const AvailableEvidence& evidence) {
  Verdict verdict{.detector = &detector};
  if (const unsigned never = detector.needs & ~evidence.promised; never != 0) {
    verdict.outcome = Outcome::kNotAtThisTier;
    verdict.reason = "needs " + to_string_of_evidence(never);
    return verdict;
  }
  Findings findings;
  detector.look(analyses, findings);
  verdict.reason = evidence.reason(detector.needs);
  verdict.findings = findings.take();
  for (Finding& finding : verdict.findings) {
    weigh(analyses, finding);
    locate(analyses.trace(), finding);
    place(analyses.places(), finding);
    if (!verdict.reason.empty() && finding.confidence == Confidence::kCertain)
      finding.confidence = Confidence::kSuspected;
  }
  std::ranges::stable_sort(verdict.findings, std::ranges::greater{}, [](const Finding& finding) {
    return std::pair(finding.gain_ns.value_or(0), finding.count);
  });
  verdict.outcome = !verdict.findings.empty()    ? Outcome::kFound
                    : !verdict.reason.empty()    ? Outcome::kNotEvaluable
                    : !findings.untold().empty() ? Outcome::kNotAtThisTier
                                                 : Outcome::kClean;
  if (verdict.outcome == Outcome::kNotAtThisTier) verdict.reason = findings.untold();
  return verdict;
}

std::vector<Verdict> evaluate_all(Analyses& analyses) {
  const AvailableEvidence evidence = evidence_of(analyses.trace());
  const std::span<const Detector> all = detectors();
  std::vector<Verdict> verdicts(all.size());
  std::atomic<size_t> next = 0;
  const auto evaluate_some = [&] {
    for (size_t i = next++; i < all.size(); i = next++)
      verdicts[i] = evaluate(all[i], analyses, evidence);
  };
  std::future<void> other;
  if (worth_threads(analyses.trace())) other = run_beside(evaluate_some);
  evaluate_some();
  if (other.valid()) other.get();
  return verdicts;
}

}  // namespace streamscope::analysis
