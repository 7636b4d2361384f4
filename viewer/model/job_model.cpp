// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job_model.h"

#include <algorithm>
#include <limits>
#include <map>

#include "job/rank_words.h"

namespace streamscope::viewer {
namespace {

using job::IterationRow;
using job::Steps;

Ns median_of(std::vector<Ns>& values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string warning_of(const report::Document& document, const job::Job& job) {
  std::string text;
  const auto add = [&](const std::string& sentence) {
    text += (text.empty() ? "" : "  ") + sentence;
  };
  for (const report::Notice& notice : document.notices) add(notice.line() + ".");
  std::vector<int32_t> without_clock;
  for (size_t rank = 0; rank < job.clocks.size(); ++rank) {
    if (!job.clocks[rank].known()) without_clock.push_back(job.steps.ranks[rank].identity.rank);
  }
  if (!without_clock.empty())
    add("The clock of " + job::ranks_text(std::move(without_clock)) +
        " is not known. Each is shown in its own time, from the same first iteration.");
  return text;
}

}  // namespace

analysis::TimeShare largest_share(const Steps& steps, uint32_t step) {
  const job::CompactShares& shares = steps.shares[step];
  return static_cast<analysis::TimeShare>(std::ranges::max_element(shares) - shares.begin());
}

Ns work_start_ns(const Steps& steps, uint32_t step) {
  const uint32_t after = steps.after[step];
  if (after == job::kNone) return steps.iterations[steps.row[step]].start_ns;
  return steps.ran(after) ? steps.end_ns[after] : steps.start_ns[step] - steps.work_ns[step];
}

JobModel::JobModel(report::JobReport report, std::filesystem::path folder, RunProgress progress)
    : report_(std::move(report)),
      folder_(std::move(folder)),
      progress_(std::move(progress)),
      document_(report::job_document(report_, report_.job.steps.ranks.size())),
      warning_(warning_of(document_, report_.job)),
      moved_ns_(steps().ranks.size()),
      caused_ns_(steps().ranks.size()),
      group_of_(steps().ranks.size()) {
  for (const job::Straggler& straggler : job().stragglers)
    caused_ns_[straggler.rank_row] = straggler.caused_ns;
  find_iterations();
  align();
  find_waiting();
  find_path();
  find_shares();
  find_groups();
}

Ns JobModel::at(uint32_t rank_row, Ns own_ns) const {
  const job::RankClock& clock = job().clocks[rank_row];
  return clock.known() ? clock.to_first(own_ns)
                       : add_ns(own_ns, static_cast<double>(moved_ns_[rank_row]));
}

std::optional<uint32_t> JobModel::row_of(int32_t rank) const {
  const auto found = std::ranges::lower_bound(
      steps().ranks, rank, {}, [](const job::RankRow& each) { return each.identity.rank; });
  if (found == steps().ranks.end() || found->identity.rank != rank) return std::nullopt;
  return static_cast<uint32_t>(found - steps().ranks.begin());
}

// Ranks go through iterations almost together, so that some of them are enough.
void JobModel::find_iterations() {
  constexpr size_t kEnough = 256;
  std::map<uint32_t, std::pair<std::vector<Ns>, std::vector<Ns>>> times;
  const size_t each = std::max<size_t>(steps().ranks.size() / kEnough, 1);
  for (uint32_t rank = 0; rank < steps().ranks.size(); rank += static_cast<uint32_t>(each)) {
    if (!has_clock(rank)) continue;
    const job::RankRow& row = steps().ranks[rank];
    for (uint32_t i = row.first_row; i < row.first_row + row.row_count; ++i) {
      const IterationRow& iteration = steps().iterations[i];
      auto& [starts, ends] = times[iteration.number];
      starts.push_back(at(rank, iteration.start_ns));
      ends.push_back(at(rank, iteration.end_ns));
    }
  }
  std::vector<Ns> durations;
  for (auto& [number, each_rank] : times) {
    const Ns begin = median_of(each_rank.first),
             end = std::max(median_of(each_rank.second), add_ns(begin, 1));
    iterations_.push_back({number, {begin, end}});
    durations.push_back(distance_ns(begin, end));
  }
  if (durations.empty()) return;
  std::vector<Ns> sorted = durations;
  opening_ =
      static_cast<size_t>(std::ranges::find(durations, median_of(sorted)) - durations.begin());
}

void JobModel::align() {
  Ns first = std::numeric_limits<Ns>::max(), last = std::numeric_limits<Ns>::min();
  for (uint32_t rank = 0; rank < steps().ranks.size(); ++rank) {
    const job::RankRow& row = steps().ranks[rank];
    if (row.row_count == 0) continue;
    const IterationRow& begin = steps().iterations[row.first_row];
    if (!has_clock(rank)) {
      const auto same = std::ranges::find(iterations_, begin.number, &JobIteration::number);
      moved_ns_[rank] =
          distance_ns(begin.start_ns, same != iterations_.end() ? same->range.begin_ns : 0);
    }
    first = std::min(first, at(rank, begin.start_ns));
    last = std::max(last, at(rank, steps().iterations[row.first_row + row.row_count - 1].end_ns));
  }
  if (first <= last) extent_ = {first, std::max(last, add_ns(first, 1))};
}

void JobModel::find_waiting() {
  for (const IterationRow& row : steps().iterations) {
    const auto iteration =
        std::ranges::lower_bound(iterations_, row.number, {}, &JobIteration::number);
    if (iteration == iterations_.end() || iteration->number != row.number) continue;
    const double waited_ns = job::overlap_in(steps(), job().waiting, row).waited_ns;
    iteration->waited +=
        waited_ns / iteration->range.span_ns() / static_cast<double>(steps().ranks.size());
  }
}

void JobModel::find_groups() {
  groups_ = alike_ranks(job(), caused_ns_);
  for (uint32_t group = 0; group < groups_.size(); ++group) {
    std::vector<int32_t> numbers;
    for (const uint32_t rank : groups_[group].ranks) {
      group_of_[rank] = group;
      numbers.push_back(steps().ranks[rank].identity.rank);
    }
    group_names_.push_back(job::ranks_text(std::move(numbers)));
  }
}

void JobModel::find_path() {
  const std::vector<job::Hop>& hops = job().critical_path;
  for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
    if (!steps().ran(hop->step)) continue;
    const uint32_t rank = steps().rank_of(hop->step);
    const Ns arrive = at(rank, steps().start_ns[hop->step]);
    hop_of_.emplace(hop->step, static_cast<uint32_t>(path_.size()));
    path_.push_back(
        {hop->step, arrive - hop->work_ns, arrive, at(rank, steps().end_ns[hop->step])});
  }
}

void JobModel::find_shares() {
  for (uint32_t step = 0; step < steps().count(); ++step) {
    if (steps().work_ns[step] > 0)
      has_share_[static_cast<size_t>(largest_share(steps(), step))] = true;
  }
}

std::optional<size_t> JobModel::iteration_at(Ns at) const {
  const auto after = std::ranges::upper_bound(
      iterations_, at, {}, [](const JobIteration& each) { return each.range.begin_ns; });
  if (iterations_.empty()) return std::nullopt;
  return after == iterations_.begin() ? 0 : static_cast<size_t>(after - iterations_.begin()) - 1;
}

const IterationRow* JobModel::iteration_of(uint32_t rank_row, uint32_t number) const {
  const job::RankRow& row = steps().ranks[rank_row];
  for (uint32_t i = row.first_row; i < row.first_row + row.row_count; ++i) {
    if (steps().iterations[i].number == number) return &steps().iterations[i];
  }
  return nullptr;
}

std::optional<size_t> JobModel::hop_of(uint32_t step) const {
  const auto found = hop_of_.find(step);
  return found == hop_of_.end() ? std::nullopt : std::optional<size_t>(found->second);
}

std::optional<TimeRange> JobModel::time(StepPart part) const {
  if (part.step >= steps().count() || !steps().ran(part.step)) return std::nullopt;
  const uint32_t rank = steps().rank_of(part.step);
  const Ns start = steps().start_ns[part.step];
  if (!part.is_work) return TimeRange{at(rank, start), at(rank, steps().end_ns[part.step])};
  const Ns from = work_start_ns(steps(), part.step);
  return TimeRange{at(rank, from),
                   at(rank, std::max(from, std::min(from + steps().work_ns[part.step], start)))};
}

}  // namespace streamscope::viewer
