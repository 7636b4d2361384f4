// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "check.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/labels.h"

namespace streamscope::report {
namespace {

using analysis::Confidence;
using analysis::Outcome;
using trace::Trace;

// FNV-1a, with an end mark after every part so that parts cannot run into each other.
class Hash {
 public:
  void add(std::string_view part) {
    for (const char c : part) step(static_cast<unsigned char>(c));
    step(0);
  }
  uint64_t value() const { return value_; }

 private:
  void step(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }
  uint64_t value_ = 0xcbf29ce484222325u;
};

// Numbers of streams and events differ from run to run; names do not.
std::string lasting_name(const Trace& trace, Id stream) {
  if (stream >= trace.stream.size()) return {};
  const std::string_view name = trace.text(trace.stream.name_id[stream]);
  return name.empty() ? std::string(trace::to_string(
                            static_cast<trace::StreamKind>(trace.stream.kind[stream])))
                      : analysis::printable(name);
}

// "train.py:41 step" without the number of its line.
std::string without_line(const std::string& call_site) {
  const size_t colon = call_site.find(':');
  if (colon == call_site.npos) return call_site;
  const size_t end = call_site.find_first_not_of("0123456789", colon + 1);
  return call_site.substr(0, colon) + (end == call_site.npos ? "" : call_site.substr(end));
}

}  // namespace

std::string_view to_string(CheckResult result) {
  constexpr std::string_view kNames[] = {"passed", "failed", "not-evaluable"};
  return kNames[static_cast<size_t>(result)];
}

bool CheckOptions::requires_verdict(const analysis::Detector& detector) const {
  return std::find(required.begin(), required.end(), &detector) != required.end();
}

Check check(const Trace& trace, const CheckOptions& options) {
  Check result{.info = info_of(trace), .options = options};
  analysis::Analyses analyses(trace);
  std::vector<analysis::Verdict> verdicts = analysis::evaluate_all(analyses);
  for (const analysis::Verdict& verdict : verdicts) {
    const bool fails = verdict.detector->severity >= options.fail_on;
    const bool required = options.requires_verdict(*verdict.detector);
    if (!fails && !required) continue;
    bool suspects = false;
    for (const analysis::Finding& finding : verdict.findings) {
      suspects |= finding.confidence == Confidence::kSuspected;
      result.failing += fails && finding.confidence == Confidence::kCertain;
    }
    if (verdict.outcome == Outcome::kNotEvaluable || suspects ||
        (verdict.outcome == Outcome::kNotAtThisTier && required)) {
      result.open.push_back({verdict.detector, verdict.reason.empty()
                                                   ? "what it found is only suspected"
                                                   : verdict.reason});
    }
  }
  for (const analysis::Detector* detector : options.required) {
    if (!detector->look) result.open.push_back({detector, "planned for a later version"});
  }
  for (analysis::Verdict& verdict : verdicts) {
    result.verdicts.push_back(
        {.detector = verdict.detector, .outcome = verdict.outcome, .reason = verdict.reason});
  }
  result.findings = by_weight(std::move(verdicts));
  result.result = result.failing > 0     ? CheckResult::kFailed
                  : !result.open.empty() ? CheckResult::kNotEvaluable
                                         : CheckResult::kPassed;
  return result;
}

std::string fingerprint(const Trace& trace, const Advice& advice) {
  const analysis::Finding& finding = advice.finding;
  Hash hash;
  hash.add(advice.detector->id);
  for (Id op : {finding.first_op, finding.second_op}) {
    if (op >= trace.op.size()) continue;
    hash.add(analysis::op_label(trace, op));
    hash.add(lasting_name(trace, trace.op.stream_id[op]));
  }
  const auto add_event = [&](Id event, Id stream) {
    if (event < trace.event.size()) hash.add(trace.text(trace.event.name_id[event]));
    hash.add(lasting_name(trace, stream));
  };
  if (finding.event_record < trace.event_record.size())
    add_event(trace.event_record.event_id[finding.event_record],
              trace.event_record.stream_id[finding.event_record]);
  if (finding.event_wait < trace.event_wait.size())
    add_event(trace.event_wait.event_id[finding.event_wait],
              trace.event_wait.stream_id[finding.event_wait]);
  if (finding.host_sync < trace.host_sync.size()) {
    hash.add(trace.text(trace.host_sync.name_id[finding.host_sync]));
    hash.add(lasting_name(trace, trace.host_sync.stream_id[finding.host_sync]));
  }
  hash.add(without_line(finding.place.call_site));
  hash.add(finding.place.ranges);
  return fmt::format("{:016x}", hash.value());
}

}  // namespace streamscope::report
