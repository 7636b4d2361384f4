// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What can be wrong with a job of many ranks: `streamscope check DIR`.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/call_sites.h"
#include "analysis/labels.h"
#include "conclude.h"

namespace streamscope::report {
namespace {

using analysis::Confidence;
using analysis::Detector;
using analysis::Finding;
using analysis::FindingSeverity;
using analysis::Outcome;
using analysis::Verdict;

enum JobRule : size_t { kDelay, kMismatch, kIncompleteRun, kUnknownClock };

// Nothing looks for them in a trace.
constexpr Detector kJobDetectors[] = {
    {"rank-delay", "SS401", "a rank holds up the others", FindingSeverity::kWarning, 0, nullptr},
    {"collective-mismatch", "SS402", "ranks call different collectives", FindingSeverity::kError, 0,
     nullptr},
    {"incomplete-run", "SS403", "traces of ranks are missing, doubled, unusable or contradictory",
     FindingSeverity::kError, 0, nullptr},
    {"unknown-clock", "SS404", "the clock of a host cannot be compared with the others",
     FindingSeverity::kNote, 0, nullptr},
};  // by JobRule

class JobExaminer {
 public:
  explicit JobExaminer(const JobReport& report) : report_(report), job_(report.job) {
    for (const Detector& detector : kJobDetectors) verdicts_.push_back({.detector = &detector});
  }

  void examine() {
    for (size_t i = 0; i < job_.delays.size(); ++i) add_delay(i);
    for (const job::Mismatch& mismatch : job_.matching.mismatches) add_mismatch(mismatch);
    for (const std::string& problem : report_.problems)
      add(kIncompleteRun, {problem}, {.title = problem, .text = "The job is known only in part."});
    add_clocks();
    leave_open();
  }

  std::vector<Verdict> take() { return std::move(verdicts_); }
  const std::vector<std::string>& identity_of(const Advice& advice) const {
    return identities_.at({advice.detector, advice.finding.title});
  }

 private:
  // `identity`: what stays the same in every run.
  void add(JobRule rule, std::vector<std::string> identity, Finding finding) {
    Verdict& verdict = verdicts_[rule];
    finding.title = analysis::printable(finding.title);
    identity.emplace(identity.begin(), verdict.detector->id);
    identities_[{verdict.detector, finding.title}] = std::move(identity);
    verdict.outcome = Outcome::kFound;
    verdict.findings.push_back(std::move(finding));
  }

  // Which rank is slow changes from run to run, unlike the cause.
  void add_delay(size_t index) {
    const job::Delay& delay = job_.delays[index];
    Finding finding{.title = job_.delay_sentences[index],
                    .text = "The others wait for it in collectives."};
    if (!delay.exposed && analysis::source_line(delay.place)) finding.place.call_site = delay.place;
    const double without = std::max(0.0, job_.replayed_ns - delay.cost_ns);
    finding.iteration = {.before_ns = std::llround(job_.replayed_ns),
                         .after_ns = std::llround(without)};
    add(kDelay,
        {std::string(analysis::names_of(delay.share).id), without_line(delay.place),
         delay.exposed ? "exposed" : ""},
        std::move(finding));
  }

  void add_mismatch(const job::Mismatch& mismatch) {
    const auto rank = std::ranges::find(job_.steps.ranks, mismatch.rank,
                                        [](const job::RankRow& row) { return row.identity.rank; });
    const bool lacks_data = rank == job_.steps.ranks.end() || !rank->incomplete.empty();
    Finding finding{.title = mismatch.text,
                    .text =
                        "Ranks that do not call the same collectives exchange wrong data or "
                        "wait for each other forever.",
                    .confidence = lacks_data ? Confidence::kSuspected : Confidence::kCertain,
                    .count = mismatch.count};
    // Recordings of ranks, and the parts of them that are steady, need not end together.
    if (mismatch.kind == job::MismatchKind::kEndsEarlier)
      finding.confidence = Confidence::kPossible;
    add(kMismatch,
        {std::to_string(static_cast<int>(mismatch.kind)), std::to_string(mismatch.rank),
         job_.steps.communicators[mismatch.communicator].name},
        std::move(finding));
  }

  void add_clocks() {
    std::set<std::string> seen;
    for (size_t row = 0; row < job_.clocks.size(); ++row) {
      const std::string& host = job_.steps.ranks[row].identity.host;
      if (job_.clocks[row].known() || !seen.insert(host).second) continue;
      add(kUnknownClock, {host},
          {.title = fmt::format("the clock of the host of rank {} is not known: {}",
                                job_.steps.ranks[row].identity.rank, job_.clocks[row].refused),
           .text = "A timeline of all ranks shows its ranks by the wall clock of their host. "
                   "Nothing else needs it."});
    }
  }

  // Delays and mismatches of ranks that lack data may have been missed.
  void leave_open() {
    std::string reason;
    if (job_.steps.iterations.empty()) reason = "no iterations were found on any rank";
    for (const job::RankRow& rank : job_.steps.ranks) {
      if (!reason.empty()) break;
      if (!rank.incomplete.empty())
        reason = fmt::format("rank {}: {}", rank.identity.rank, rank.incomplete);
    }
    for (const JobRule rule : {kDelay, kMismatch}) {
      verdicts_[rule].reason = reason;
      if (!reason.empty() && verdicts_[rule].findings.empty())
        verdicts_[rule].outcome = Outcome::kNotEvaluable;
    }
  }

  const JobReport& report_;
  const job::Job& job_;
  std::vector<Verdict> verdicts_;  // by JobRule
  std::map<std::pair<const Detector*, std::string>, std::vector<std::string>> identities_;
};

bool is_whole(const JobReport& report) {
  return report.problems.empty() && report.unfinished.empty() &&
         std::ranges::all_of(report.job.steps.ranks, &std::string::empty,
                             &job::RankRow::incomplete);
}

}  // namespace

std::span<const Detector> job_detectors() { return kJobDetectors; }

Check check_job(const JobReport& report, const CheckOptions& options,
                std::vector<analysis::AssertionResult> assertions) {
  Check result{.name = report.name,
               .headline = headline(report.job),
               .notices = notices_of(report),
               .info = {.complete = is_whole(report), .unfinished = !report.unfinished.empty()},
               .options = options,
               .assertions = std::move(assertions)};
  // Problems are findings already.
  std::erase_if(result.notices, [&](const Notice& notice) {
    return std::ranges::find(report.problems, notice.text) != report.problems.end();
  });
  result.budgets = measure(report.job, result.info.unfinished, options.budgets);
  JobExaminer examiner(report);
  examiner.examine();
  return conclude(std::move(result), examiner.take(),
                  [&](const Advice& advice) { return examiner.identity_of(advice); });
}

void join(std::vector<analysis::AssertionResult>& answers, int32_t rank,
          std::vector<analysis::AssertionResult> of_rank) {
  using analysis::AssertionOutcome;
  const auto gravity = [](const analysis::AssertionResult& result) {
    constexpr int kGravity[] = {0, 2, 1};  // by AssertionOutcome
    return kGravity[static_cast<size_t>(result.outcome)];
  };
  for (analysis::AssertionResult& result : of_rank) {
    if (result.outcome == AssertionOutcome::kHolds) continue;
    result.measured = fmt::format("rank {}: {}", rank, result.measured);
    if (!result.text.empty()) result.text = fmt::format("Rank {}: {}", rank, result.text);
  }
  if (answers.empty()) {
    answers = std::move(of_rank);
    return;
  }
  for (size_t i = 0; i < answers.size(); ++i) {
    if (gravity(of_rank[i]) > gravity(answers[i])) answers[i] = std::move(of_rank[i]);
  }
}

}  // namespace streamscope::report
