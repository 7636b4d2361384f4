// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/units.h"
#include "job/rank_words.h"
#include "lists.h"

namespace streamscope::report {
namespace {

using analysis::format_count;
using analysis::format_duration;
using job::Job;
using trace::Ns;

Ns rounded(double ns) { return static_cast<Ns>(std::llround(ns)); }
std::string duration(double ns) { return format_duration(rounded(ns)); }
// To the microsecond.
std::string precise(double ns) { return fmt::format("{:.3f} ms", ns / 1e6); }

Section costs_section(const Job& job) {
  Section section{.title = "What costs the job most", .kind = SectionKind::kAnswer};
  for (size_t i = 0; i < job.delay_sentences.size(); ++i)
    section.remarks.push_back(fmt::format("{}. {}", i + 1, job.delay_sentences[i]));
  for (const job::AwaitedRank& awaited : job.awaited)
    section.remarks.push_back(sentence_of(job.steps, awaited));
  if (section.remarks.empty())
    section.remarks.emplace_back(
        "No rank holds the others up by more than what is normal between iterations.");
  return section;
}

// A replay that is further off predicts nothing.
constexpr double kMostReplayError = 0.15;

Section what_if_section(const Job& job) {
  Section section{.title = "What would help",
                  .kind = SectionKind::kAnswer,
                  .columns = {left("if"), right("iteration"), right("change")}};
  if (std::abs(job.replayed_ns - job.iteration_ns) > kMostReplayError * job.iteration_ns) {
    section.columns.clear();
    section.remarks.push_back(
        fmt::format("Not known: a replay of the job gives {} for an iteration instead of {}.",
                    duration(job.replayed_ns), duration(job.iteration_ns)));
    return section;
  }
  constexpr double kLeastGain = 0.01;  // of an iteration
  for (const job::WhatIf& what_if : job.what_ifs) {
    if (what_if.iteration_ns > job.replayed_ns * (1 - kLeastGain)) continue;
    section.rows.push_back({what_if.text, duration(what_if.iteration_ns), job.effect_of(what_if)});
  }
  section.footnotes.push_back(
      fmt::format("by replaying the job, which gives {} for what was measured as {}",
                  duration(job.replayed_ns), duration(job.iteration_ns)));
  return section;
}

std::vector<uint32_t> by_lateness(const Job& job, const std::vector<RankFacts>& facts) {
  std::vector<uint32_t> order(job.steps.ranks.size());
  for (uint32_t row = 0; row < order.size(); ++row) order[row] = row;
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](uint32_t row) { return facts[row].caused_ns; });
  return order;
}

Section ranks_section(const Job& job, size_t most) {
  Section section{
      .title = "Ranks",
      .kind = SectionKind::kRanks,
      .columns = {right("rank"), left("host"), right("iteration"), right("makes others wait"),
                  right("waits"), right("communication"), right("hidden"), left("trace")}};
  const std::vector<RankFacts> facts = facts_of(job).ranks;
  const std::vector<uint32_t> order = by_lateness(job, facts);
  for (const uint32_t row : first_of(order, most, "ranks that make others wait less", section)) {
    const job::RankIdentity& identity = job.steps.ranks[row].identity;
    const job::Overlap& overlap = job.overlap[row];
    section.rows.push_back({fmt::format("{}", identity.rank), analysis::printable(identity.host),
                            duration(facts[row].iteration_ns), duration(facts[row].makes_wait_ns),
                            duration(overlap.waited_ns), duration(overlap.communication_ns),
                            fmt::format("{:.0f} %", 100 * overlap.share()),
                            analysis::printable(identity.trace)});
    section.keys.push_back({static_cast<double>(identity.rank), 0, facts[row].iteration_ns,
                            facts[row].makes_wait_ns, overlap.waited_ns, overlap.communication_ns,
                            overlap.share(), 0});
  }
  section.footnotes.emplace_back(
      "means per iteration; makes others wait: each of them, because of work of its own; hidden: "
      "the part of communication during which the rank's own work went on");
  return section;
}

Section mismatch_section(const Job& job) {
  Section section{.title = "Collectives that do not match",
                  .columns = {left("what"), right("times")}};
  for (const job::Mismatch& mismatch :
       first_of(job.matching.mismatches, kRowsShown, "others", section))
    section.rows.push_back({analysis::printable(mismatch.text), fmt::format("{}", mismatch.count)});
  return section;
}

}  // namespace

JobFacts facts_of(const Job& job) {
  JobFacts facts;
  facts.ranks.resize(job.steps.ranks.size());
  for (size_t row = 0; row < job.steps.iterations.size(); ++row) {
    const job::IterationRow& iteration = job.steps.iterations[row];
    const double count = job.steps.ranks[iteration.rank].row_count;
    RankFacts& rank = facts.ranks[iteration.rank];
    rank.iteration_ns += static_cast<double>(iteration.end_ns - iteration.start_ns) / count;
    rank.caused_ns += job.waiting.caused_ns[row] / count;
  }
  double iterations_ns = 0, waited_ns = 0;
  for (size_t row = 0; row < facts.ranks.size(); ++row) {
    const job::Overlap& overlap = job.overlap[row];
    facts.iteration_count = std::max<size_t>(facts.iteration_count, job.steps.ranks[row].row_count);
    facts.least_hidden_share = std::min(facts.least_hidden_share, overlap.share());
    facts.ranks[row].makes_wait_ns = job.each_other_ns(facts.ranks[row].caused_ns);
    iterations_ns += facts.ranks[row].iteration_ns;
    waited_ns += overlap.waited_ns;
  }
  if (iterations_ns > 0) facts.waiting_share = waited_ns / iterations_ns;
  return facts;
}

std::string headline(const Job& job) {
  std::set<std::string> hosts;
  for (const job::RankRow& rank : job.steps.ranks) hosts.insert(rank.identity.host);
  const JobFacts facts = facts_of(job);
  const auto [shortest, longest] = std::ranges::minmax(facts.ranks, {}, &RankFacts::iteration_ns);
  std::string text = fmt::format("{} on {}: ", format_count(job.steps.ranks.size(), "rank"),
                                 format_count(hosts.size(), "host"));
  text += fmt::format("{} an iteration ({}", duration(job.iteration_ns),
                      format_count(facts.iteration_count, "iteration"));
  if (longest.iteration_ns > shortest.iteration_ns * 1.01)
    text += fmt::format("; ranks take {} to {}", duration(shortest.iteration_ns),
                        duration(longest.iteration_ns));
  text += ")";
  return text;
}

Section clock_section(const Job& job) {
  Section section{.title = "Clocks",
                  .columns = {left("host"), right("ahead"), right("by at least"),
                              right("by at most"), left("")}};
  std::vector<uint32_t> others;
  std::set<std::string> seen;
  for (uint32_t row = 0; row < job.steps.ranks.size(); ++row) {
    if (seen.insert(job.steps.ranks[row].identity.host).second && row > 0) others.push_back(row);
  }
  for (const uint32_t row : first_of(others, kRowsShown, "other hosts", section)) {
    const std::string host = analysis::printable(job.steps.ranks[row].identity.host);
    const job::RankClock& clock = job.clocks[row];
    if (!clock.known()) {
      section.rows.push_back({host, "", "", "", "not known: " + clock.refused});
      continue;
    }
    const job::ClockKnot& knot = clock.knots.front();
    section.rows.push_back(
        {host, precise(knot.offset_ns), precise(knot.lower_ns), precise(knot.upper_ns), ""});
  }
  section.footnotes.push_back(
      fmt::format("of the clock of {} when the first iteration began, from the ends of collectives "
                  "that need all "
                  "ranks, within what their starts allow; nothing above needs it",
                  analysis::printable(job.steps.ranks.front().identity.host)));
  return section;
}

std::vector<Notice> notices_of(const JobReport& report) {
  std::vector<Notice> notices;
  notices.reserve(report.problems.size() + report.unfinished.size());
  for (const std::string& problem : report.problems)
    notices.push_back({trace::Severity::kDataLoss, problem, ""});
  for (const std::string& trace : report.unfinished)
    notices.push_back({trace::Severity::kDataLoss, trace + " is unfinished", ""});
  std::map<std::string, std::vector<int32_t>> incomplete;
  for (const job::RankRow& rank : report.job.steps.ranks) {
    if (!rank.incomplete.empty()) incomplete[rank.incomplete].push_back(rank.identity.rank);
  }
  for (const auto& [why, ranks] : incomplete)
    notices.push_back(
        {trace::Severity::kNotice, fmt::format("{}: {}", job::ranks_text(ranks), why), ""});
  return notices;
}

Document job_document(const JobReport& report, size_t ranks_shown) {
  const Job& job = report.job;
  Document document{.headline = headline(job), .notices = notices_of(report)};
  document.sections.push_back(costs_section(job));
  if (Section what_ifs = what_if_section(job); !what_ifs.rows.empty() || !what_ifs.remarks.empty())
    document.sections.push_back(std::move(what_ifs));
  if (!job.matching.mismatches.empty()) document.sections.push_back(mismatch_section(job));
  document.sections.push_back(ranks_section(job, ranks_shown));
  if (Section clocks = clock_section(job); !clocks.rows.empty())
    document.sections.push_back(std::move(clocks));
  return document;
}

Json clock_json(const job::RankClock& clock) {
  if (!clock.known()) return Json{{"refused", clock.refused}};
  const job::ClockKnot& knot = clock.knots.front();
  return Json{{"offset_ns", rounded(knot.offset_ns)},
              {"lower_ns", rounded(knot.lower_ns)},
              {"upper_ns", rounded(knot.upper_ns)}};
}

std::string job_json(const JobReport& report) {
  const Job& job = report.job;
  const JobFacts facts = facts_of(job);
  Json result{{"schema", 1},
              {"iteration_ns", rounded(job.iteration_ns)},
              {"replayed_ns", rounded(job.replayed_ns)},
              {"iterations", facts.iteration_count},
              {"problems", report.problems},
              {"unfinished", report.unfinished}};
  result["delays"] = Json::array();
  for (size_t i = 0; i < job.delays.size(); ++i) {
    const job::Delay& delay = job.delays[i];
    result["delays"].push_back({{"ranks", delay.ranks},
                                {"cause", analysis::names_of(delay.share).id},
                                {"place", delay.place},
                                {"not_hidden", delay.exposed},
                                {"excess_ns", rounded(delay.excess_ns)},
                                {"cost_ns", rounded(delay.cost_ns)},
                                {"text", job.delay_sentences[i]}});
  }
  result["awaited"] = Json::array();
  for (const job::AwaitedRank& awaited : job.awaited) {
    result["awaited"].push_back({{"rank", job.steps.ranks[awaited.rank_row].identity.rank},
                                 {"waits_ns", rounded(awaited.waits_ns)},
                                 {"cause", analysis::names_of(awaited.share).id},
                                 {"place", awaited.place},
                                 {"cause_ns", rounded(awaited.share_ns)},
                                 {"text", sentence_of(job.steps, awaited)}});
  }
  result["what_if"] = Json::array();
  for (const job::WhatIf& what_if : job.what_ifs)
    result["what_if"].push_back(
        {{"text", what_if.text}, {"iteration_ns", rounded(what_if.iteration_ns)}});
  result["mismatches"] = Json::array();
  for (const job::Mismatch& mismatch : job.matching.mismatches)
    result["mismatches"].push_back(
        {{"rank", mismatch.rank}, {"text", mismatch.text}, {"count", mismatch.count}});
  result["ranks"] = Json::array();
  for (size_t row = 0; row < job.steps.ranks.size(); ++row) {
    const job::RankIdentity& identity = job.steps.ranks[row].identity;
    const job::Overlap& overlap = job.overlap[row];
    Json rank{{"rank", identity.rank},
              {"host", identity.host},
              {"trace", identity.trace},
              {"iteration_ns", rounded(facts.ranks[row].iteration_ns)},
              {"caused_ns", rounded(facts.ranks[row].caused_ns)},
              {"waited_ns", rounded(overlap.waited_ns)},
              {"communication_ns", rounded(overlap.communication_ns)},
              {"exposed_ns", rounded(overlap.exposed_ns)},
              {"clock", clock_json(job.clocks[row])}};
    result["ranks"].push_back(std::move(rank));
  }
  return dump(result);
}

}  // namespace streamscope::report
