// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job_facts.h"

#include <algorithm>
#include <cmath>

#include "analysis/labels.h"
#include "job/rank_words.h"
#include "labels.h"

namespace streamscope::viewer {
namespace {

using job::Steps;

std::string number_text(size_t number) { return format_count(static_cast<int64_t>(number)); }

std::string rank_text(const Steps& steps, uint32_t step) {
  const job::RankIdentity& identity = steps.ranks[steps.rank_of(step)].identity;
  const std::string host = analysis::printable(identity.host);
  return std::to_string(identity.rank) + (host.empty() ? "" : " on " + host);
}

// The shares of a step's work, the largest first; small ones are left out.
void add_shares(const Steps& steps, uint32_t step, std::vector<Fact>& facts) {
  constexpr float kLeastShown = 0.02f;
  std::vector<std::pair<float, analysis::TimeShare>> parts;
  for (size_t i = 0; i < analysis::kShareCount; ++i) {
    const float part = steps.shares[step][i];
    if (part > kLeastShown * static_cast<float>(steps.work_ns[step]))
      parts.push_back({part, static_cast<analysis::TimeShare>(i)});
  }
  std::ranges::stable_sort(parts, std::greater<>(), [](const auto& each) { return each.first; });
  for (const auto& [part, share] : parts)
    facts.push_back(
        {facts.back().name == "duration" || facts.back().name == "more than usual" ? "of it" : " ",
         format_duration(std::llround(part)) + " " + std::string(analysis::names_of(share).shown)});
}

void add_work(const JobModel& job, uint32_t step, std::vector<Fact>& facts) {
  const Steps& steps = job.steps();
  facts.push_back({"duration", format_duration(steps.work_ns[step])});
  if (const Ns excess = job::excess_ns(steps, job.job().peers, step); excess > 0)
    facts.push_back({"more than usual", format_duration(excess)});
  add_shares(steps, step, facts);
  const std::string& place = steps.places[steps.place[step]];
  const std::string& host_place = steps.places[steps.host_place[step]];
  if (!place.empty()) facts.push_back({"mostly at", analysis::printable(place)});
  if (!host_place.empty() && host_place != place)
    facts.push_back({"host mostly at", analysis::printable(host_place)});
}

void add_collective(const JobModel& job, uint32_t step, std::vector<Fact>& facts) {
  const Steps& steps = job.steps();
  const job::Wait& wait = job.job().waiting.waits[steps.group[step]];
  facts.push_back({"duration", format_duration(steps.end_ns[step] - steps.start_ns[step])});
  if (wait.late != job::kNone) {
    if (const Ns waited = job::waited_ns(steps, wait, step); waited > 0)
      facts.push_back({"waits for others", format_duration(waited)});
    facts.push_back({"then itself", format_duration(wait.own_ns)});
    if (wait.late == step)
      facts.push_back({"arrived last", "the others wait " + format_duration(wait.late_ns)});
  }
  if (steps.bytes[step] > 0)
    facts.push_back({"size", format_bytes(static_cast<int64_t>(steps.bytes[step]))});
  facts.push_back({"ranks in it", number_text(job.job().matching.of(steps.group[step]).size())});
}

}  // namespace

std::string title_of(const JobModel& job, StepPart part) {
  const Steps& steps = job.steps();
  const std::string name = steps.ends_iteration(part.step)
                               ? "the end of the iteration"
                               : analysis::printable(job::name_of(steps, part.step));
  return part.is_work ? "work before " + name : name;
}

std::string short_title_of(const JobModel& job, StepPart part) {
  const Steps& steps = job.steps();
  if (part.is_work) return std::string(analysis::names_of(largest_share(steps, part.step)).shown);
  return std::string(streamscope::name_of(kCollectiveKinds, steps.kind[part.step])) + " " +
         analysis::printable(steps.communicators[steps.communicator[part.step]].name);
}

std::vector<Fact> facts_of(const JobModel& job, StepPart part) {
  const Steps& steps = job.steps();
  const uint32_t number = steps.iterations[steps.row[part.step]].number;
  std::vector<Fact> facts = {{"rank", rank_text(steps, part.step)},
                             {"iteration", number_text(number + 1)}};
  if (part.is_work) {
    add_work(job, part.step, facts);
  } else {
    add_collective(job, part.step, facts);
  }
  const auto hop = job.hop_of(part.step);
  facts.push_back({"critical path",
                   hop ? "hop " + number_text(*hop + 1) + " of " + number_text(job.path().size())
                       : "not on it"});
  return facts;
}

StepPart late_part(const JobModel& job, StepPart part) {
  if (part.is_work) return {};
  const uint32_t late = job.job().waiting.waits[job.steps().group[part.step]].late;
  return late == part.step ? StepPart{} : StepPart{late, false};
}

std::string running_text(const JobModel& job, std::chrono::steady_clock::time_point now) {
  const RunProgress& progress = job.progress();
  if (!progress.is_running) return "";
  const size_t ranks = job.steps().ranks.size();
  const std::string count = progress.world_size > 0
                                ? number_text(ranks) + " of " +
                                      format_count(static_cast<size_t>(progress.world_size), "rank")
                                : format_count(ranks, "rank");
  const auto age = std::chrono::floor<std::chrono::seconds>(now - progress.read_at).count();
  constexpr int64_t kMinute = 60;
  const std::string ago =
      age < 2 * kMinute ? std::to_string(age) + " s" : std::to_string(age / kMinute) + " min";
  return "running, " + count + ", updated " + ago + " ago";
}

std::string name_of_row(const JobModel& job, const ShownRank& row) {
  return row.is_fold ? job.name_of_group(row.group)
                     : job::ranks_text({job.steps().ranks[row.rank].identity.rank});
}

Ns late_ns(const JobModel& job, uint32_t rank_row) {
  return std::llround(job.job().each_other_ns(job.caused_ns()[rank_row]));
}

bool is_late(const JobModel& job, const ShownRank& row) {
  return job.caused_ns()[row.rank] > kLateShare * job.job().iteration_ns;
}

std::string detail_of_row(const JobModel& job, const ShownRank& row) {
  if (is_late(job, row)) return "makes others wait " + format_duration(late_ns(job, row.rank));
  const std::string waits =
      "waits " + format_duration(std::llround(job.job().overlap[row.rank].waited_ns));
  return row.is_fold
             ? format_count(job.groups()[row.group].ranks.size(), "rank") + " alike; each " + waits
             : waits;
}

std::vector<std::string> hints_of_row(const JobModel& job, const ShownRank& row) {
  std::vector<std::string> hints = {detail_of_row(job, row) + " per iteration"};
  const job::RankIdentity& identity = job.steps().ranks[row.rank].identity;
  if (row.is_fold) {
    hints.push_back("The lane is that of rank " + std::to_string(identity.rank) +
                    ". Click to unfold or fold.");
  } else {
    if (!identity.host.empty()) hints.push_back("on " + analysis::printable(identity.host));
    hints.push_back("Click to open " + analysis::printable(identity.trace) + ".");
  }
  if (!job.has_clock(row.rank))
    hints.push_back("Shown on its own clock: " + job.job().clocks[row.rank].refused);
  return hints;
}

}  // namespace streamscope::viewer
