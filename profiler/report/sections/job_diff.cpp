// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/labels.h"
#include "analysis/units.h"
#include "iteration.h"
#include "iteration_diff.h"
#include "job/rank_words.h"
#include "lists.h"
#include "report/formats/json.h"
#include "trace/error.h"

namespace streamscope::report {
namespace {

using job::Job;
using trace::Ns;

// Smaller changes of a rank are normal: share of an iteration, and of communication.
constexpr double kLeastRankChange = 0.01, kLeastHiddenChange = 0.05;

Ns whole(double ns) { return static_cast<Ns>(std::llround(ns)); }
std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }
std::string changed(double before_ns, double after_ns) {
  return analysis::format_step(analysis::format_duration(whole(before_ns)),
                               analysis::format_duration(whole(after_ns)));
}

Ns median_ns(const JobReport& report) {
  if (report.job.durations_ns.empty()) {
    throw Error(report.name, "has no iterations, so nothing can be compared",
                "record the job with --tier times");
  }
  return analysis::compare_durations("", report.job.durations_ns, report.job.durations_ns)
      .base.median_ns;
}

using DelayKey = std::tuple<analysis::TimeShare, std::string, bool>;
std::map<DelayKey, DelayChange> delays_of(const Job& job) {
  std::map<DelayKey, DelayChange> delays;
  for (size_t i = 0; i < job.delays.size(); ++i) {
    const job::Delay& delay = job.delays[i];
    DelayChange& change = delays[{delay.share, delay.place, delay.exposed}];
    if (change.text.empty()) change.text = job.delay_sentences[i];
    change.new_ns += delay.cost_ns;
  }
  return delays;
}

std::vector<DelayChange> compare_delays(const Job& base, const Job& now) {
  std::map<DelayKey, DelayChange> delays = delays_of(now);
  for (const auto& [key, before] : delays_of(base)) {
    DelayChange& change = delays[key];
    if (change.text.empty()) change.text = before.text;
    change.base_ns = before.new_ns;
  }
  std::vector<DelayChange> result;
  result.reserve(delays.size());
  for (auto& [key, change] : delays) result.push_back(std::move(change));
  std::ranges::stable_sort(result, std::greater<>(),
                           [](const DelayChange& change) { return std::abs(change.growth_ns()); });
  return result;
}

std::map<int32_t, RankChange::Side> sides_of(const Job& job) {
  std::map<int32_t, RankChange::Side> sides;
  const JobFacts facts = facts_of(job);
  for (size_t row = 0; row < facts.ranks.size(); ++row) {
    const job::Overlap& overlap = job.overlap[row];
    sides[job.steps.ranks[row].identity.rank] = {facts.ranks[row].makes_wait_ns, overlap.waited_ns,
                                                 overlap.share()};
  }
  return sides;
}

void compare_ranks_of(const Job& base, const Job& now, JobDiff& diff) {
  const auto before = sides_of(base), after = sides_of(now);
  const double least_ns = kLeastRankChange * base.iteration_ns;
  for (const auto& [rank, side] : before) {
    const auto found = after.find(rank);
    if (found == after.end()) {
      diff.base_only.push_back(rank);
      continue;
    }
    const RankChange change{.rank = rank, .base = side, .now = found->second};
    const double waits_ns = std::abs(change.now.waits_ns - change.base.waits_ns),
                 hidden = std::abs(change.now.hidden_share - change.base.hidden_share);
    if (std::max(change.makes_wait_change_ns(), waits_ns) >= least_ns ||
        hidden >= kLeastHiddenChange)
      diff.ranks.push_back(change);
  }
  for (const auto& [rank, side] : after) {
    if (!before.contains(rank)) diff.new_only.push_back(rank);
  }
  std::ranges::stable_sort(diff.ranks, std::greater<>(), &RankChange::makes_wait_change_ns);
}

void add_notices(const JobReport& report, const char* which, std::vector<Notice>& notices) {
  for (Notice notice : notices_of(report)) {
    notice.text = fmt::format("{}: {}", which, notice.text);
    notices.push_back(std::move(notice));
  }
}

Section duration_section(const JobDiff& diff) {
  Section section{.title = kIterationTitle, .remarks = duration_sentences(diff.iterations)};
  section.remarks.push_back(fmt::format("Ranks wait for others {} of an iteration instead of {}.",
                                        percent(diff.new_waiting_share),
                                        percent(diff.base_waiting_share)));
  section.footnotes.emplace_back(
      "of the job: the median of its ranks; the test compares the iterations of these two runs, "
      "not other runs");
  return section;
}

Section delay_section(const JobDiff& diff) {
  Section section{.title = "What costs the job most",
                  .columns = {left("change"), right("baseline"), right("new"), left("what")}};
  for (const DelayChange& change : diff.delays)
    section.rows.push_back({change.verdict(), analysis::format_duration(whole(change.base_ns)),
                            analysis::format_duration(whole(change.new_ns)),
                            analysis::printable(change.text)});
  if (section.rows.empty()) {
    section.columns.clear();
    section.remarks.emplace_back("No rank holds the others up in either run.");
  }
  return section;
}

Section rank_section(const JobDiff& diff) {
  Section section{.title = "Ranks that changed",
                  .columns = {right("rank"), right("makes others wait"), right("waits"),
                              right("communication hidden")}};
  for (const RankChange& change :
       first_of(diff.ranks, kRowsShown, "ranks that changed less", section))
    section.rows.push_back({fmt::format("{}", change.rank),
                            changed(change.base.makes_wait_ns, change.now.makes_wait_ns),
                            changed(change.base.waits_ns, change.now.waits_ns),
                            analysis::format_step(percent(change.base.hidden_share),
                                                  percent(change.now.hidden_share))});
  const auto add_only = [&](const char* run, const std::vector<int32_t>& ranks) {
    if (!ranks.empty())
      section.remarks.push_back(
          fmt::format("Only in the {} run: {}.", run, job::ranks_text(ranks)));
  };
  add_only("base", diff.base_only);
  add_only("new", diff.new_only);
  if (section.rows.empty()) section.columns.clear();
  return section;
}

std::string result_sentence(const JobDiff& diff) {
  if (diff.result() == CheckResult::kNotEvaluable) return unfinished_sentence(diff.base_unfinished);
  if (!diff.slower) return "no regression";
  return fmt::format("regression: an iteration is slower than in {} by more than {:.1f} %",
                     diff.base_runs_ns.size() > 1 ? "the slowest baseline run" : "the baseline",
                     diff.max_slowdown * 100);
}

}  // namespace

const char* DelayChange::verdict() const {
  if (base_ns <= 0) return "new";
  if (new_ns <= 0) return "gone";
  return growth_ns() > 0 ? "costs more" : "costs less";
}

double RankChange::makes_wait_change_ns() const {
  return std::abs(now.makes_wait_ns - base.makes_wait_ns);
}

JobDiff diff(const JobReport& base, const JobReport& now, const std::vector<JobReport>& further,
             double max_slowdown) {
  JobDiff diff{.base_headline = headline(base.job),
               .new_headline = headline(now.job),
               .base_runs_ns = {median_ns(base)},
               .max_slowdown = max_slowdown,
               .base_unfinished = !base.unfinished.empty(),
               .new_unfinished = !now.unfinished.empty()};
  const Ns new_ns = median_ns(now);
  for (const JobReport& run : further) {
    diff.base_runs_ns.push_back(median_ns(run));
    diff.base_unfinished |= !run.unfinished.empty();
  }
  diff.slower = exceeds_all(diff.base_runs_ns, max_slowdown, new_ns);
  add_notices(base, "baseline", diff.notices);
  add_notices(now, "new", diff.notices);
  diff.iterations = analysis::compare_durations("iterations of the job", base.job.durations_ns,
                                                now.job.durations_ns);
  diff.base_waiting_share = facts_of(base.job).waiting_share;
  diff.new_waiting_share = facts_of(now.job).waiting_share;
  diff.delays = compare_delays(base.job, now.job);
  compare_ranks_of(base.job, now.job, diff);
  return diff;
}

Document job_diff_document(const JobDiff& diff) {
  Document document{
      .headline = fmt::format("{} an iteration", instead(diff.iterations.now.median_ns,
                                                         diff.iterations.base.median_ns)),
      .notices = diff.notices};
  document.sections.push_back(duration_section(diff));
  document.sections.push_back(
      {.title = "What was compared",
       .remarks = {"Baseline: " + diff.base_headline + ".", "New: " + diff.new_headline + "."}});
  document.sections.push_back(delay_section(diff));
  if (Section ranks = rank_section(diff); !ranks.rows.empty() || !ranks.remarks.empty())
    document.sections.push_back(std::move(ranks));
  document.sections.push_back({.title = "Result", .remarks = {result_sentence(diff)}});
  return document;
}

std::string job_diff_json(const JobDiff& diff) {
  const auto delay_json = [](const DelayChange& change) {
    return Json{{"change", change.verdict()},
                {"text", change.text},
                {"base_ns", whole(change.base_ns)},
                {"new_ns", whole(change.new_ns)}};
  };
  const auto side_json = [](const RankChange::Side& side) {
    return Json{{"makes_each_other_wait_ns", whole(side.makes_wait_ns)},
                {"waits_ns", whole(side.waits_ns)},
                {"hidden_share", side.hidden_share}};
  };
  const auto rank_json = [&](const RankChange& change) {
    return Json{
        {"rank", change.rank}, {"base", side_json(change.base)}, {"new", side_json(change.now)}};
  };
  const auto text_of = [](const Notice& notice) { return notice.text; };
  Json iteration{{"base", durations_json(diff.iterations.base)},
                 {"new", durations_json(diff.iterations.now)}};
  iteration.update(test_json(diff.iterations));
  return dump(Json{{"schema", 1},
                   {"result", comparison_name(diff.result())},
                   {"max_slowdown", diff.max_slowdown},
                   {"iteration", std::move(iteration)},
                   {"base_runs_ns", diff.base_runs_ns},
                   {"base_waiting_share", diff.base_waiting_share},
                   {"new_waiting_share", diff.new_waiting_share},
                   {"notices", array_of(diff.notices, text_of)},
                   {"delays", array_of(diff.delays, delay_json)},
                   {"ranks", array_of(diff.ranks, rank_json)},
                   {"base_only_ranks", diff.base_only},
                   {"new_only_ranks", diff.new_only}});
}

}  // namespace streamscope::report
