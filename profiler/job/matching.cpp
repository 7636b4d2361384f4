// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/matching.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/large_vector.h"

namespace streamscope::job {
namespace {

/// What the members of a collective must agree on.
struct Call {
  CollectiveKind kind = CollectiveKind::kOther;
  uint64_t bytes = 0;  ///< 0: not known, or ranks may differ in it
  auto operator<=>(const Call&) const = default;
};

bool equal_sizes(CollectiveKind kind) {
  return kind != CollectiveKind::kAllToAll && kind != CollectiveKind::kGather &&
         kind != CollectiveKind::kScatter && kind != CollectiveKind::kOther;
}

class Mismatches {
 public:
  Mismatches(const Steps& steps, Matching& matching) : steps_(steps), matching_(matching) {}

  void find() {
    // All of a group mostly agree with its first, which is seen fastest in the order of steps.
    majorities_.resize(matching_.group_count());
    std::vector<bool> disagree(matching_.group_count());
    for (uint32_t step = 0; step < steps_.count(); ++step) {
      const uint32_t group = steps_.group[step];
      const bool is_first = matching_.slots[step] == matching_.first_member[group];
      if (is_first) majorities_[group] = call_of_step(step);
    }
    for (uint32_t step = 0; step < steps_.count(); ++step) {
      const uint32_t group = steps_.group[step];
      if (call_of_step(step) != majorities_[group]) disagree[group] = true;
    }
    for (uint32_t group = 0; group < matching_.group_count(); ++group) {
      if (disagree[group]) majorities_[group] = majority_of(matching_.of(group));
    }
    for (uint32_t group = 0; group < matching_.group_count(); ++group) {
      if (is_message(majorities_[group].kind)) {
        const std::span<const uint32_t> members = matching_.of(group);
        if (members.size() == 1) note_alone(members.front());
      } else if (disagree[group]) {
        compare(group);
      }
    }
    find_missing();
    for (auto& [key, mismatch] : found_) matching_.mismatches.push_back(std::move(mismatch));
  }

 private:
  /// Sequences that a rank calls in a communicator.
  struct RankRange {
    uint32_t communicator, rank_row;
    uint32_t first = kNone, last = 0, count = 0;
  };

  Call call_of_step(uint32_t step) const {
    const CollectiveKind kind = steps_.kind[step];
    return {kind, equal_sizes(kind) ? steps_.bytes[step] : 0};
  }

  Call majority_of(std::span<const uint32_t> members) const {
    struct Votes {
      size_t members = 0, usual = 0;
    };
    std::map<Call, Votes> votes;
    for (uint32_t step : members) {
      Votes& vote = votes[call_of_step(step)];
      ++vote.members;
      vote.usual += is_usual(step);
    }
    const auto strength = [](const auto& vote) {
      return std::pair(vote.second.members, vote.second.usual);
    };
    return std::ranges::max_element(votes, {}, strength)->first;
  }

  /// Whether the rank makes the same call at this place of another iteration: decides where as many
  /// ranks make one call as the other.
  bool is_usual(uint32_t step) const {
    const uint32_t row = steps_.row[step];
    const RankRow& rank = steps_.ranks[steps_.iterations[row].rank];
    const uint32_t position = step - steps_.iterations[row].first_step;
    for (uint32_t i = 0; i < rank.row_count; ++i) {
      const IterationRow& other = steps_.iterations[rank.first_row + i];
      const uint32_t same = other.first_step + position;
      if (rank.first_row + i != row && position < other.step_count &&
          steps_.communicator[same] == steps_.communicator[step] &&
          call_of_step(same) == call_of_step(step)) {
        return true;
      }
    }
    return false;
  }

  /// Whether the rank makes the call that this group misses a little earlier or later, where it
  /// misses the one that it makes here.
  bool reordered(uint32_t step, const Call& expected) const {
    constexpr uint32_t kNear = 8;
    const IterationRow& row = steps_.iterations[steps_.row[step]];
    for (uint32_t other = row.first_step; other < row.first_step + row.step_count; ++other) {
      if (other == step || steps_.communicator[other] != steps_.communicator[step]) continue;
      const uint32_t at = steps_.sequence[other], here = steps_.sequence[step];
      if (std::max(at, here) - std::min(at, here) <= kNear && call_of_step(other) == expected &&
          majorities_[steps_.group[other]] == call_of_step(step)) {
        return true;
      }
    }
    return false;
  }

  void note(MismatchKind kind, int32_t rank, uint32_t communicator, uint32_t sequence,
            std::string text) {
    const auto [found, is_new] =
        found_.try_emplace({rank, communicator, kind},
                           Mismatch{kind, rank, communicator, sequence, 1, std::move(text)});
    if (!is_new) ++found->second.count;
  }

  void compare(uint32_t group) {
    const std::span<const uint32_t> members = matching_.of(group);
    const Call& expected = majorities_[group];
    for (uint32_t step : members) {
      const Call call = call_of_step(step);
      if (call == expected) continue;
      const int32_t rank = steps_.rank_number(step);
      const uint32_t sequence = steps_.sequence[step];
      const auto kind_name = streamscope::name_of(kCollectiveKinds, expected.kind);
      const std::string name = name_of(steps_, step);
      if (reordered(step, expected)) {
        note(MismatchKind::kOrder, rank, steps_.communicator[step], sequence,
             fmt::format("rank {} calls {} where the others call {} {}, in another order", rank,
                         name, kind_name, sequence));
      } else if (call.kind != expected.kind) {
        note(MismatchKind::kKind, rank, steps_.communicator[step], sequence,
             fmt::format("rank {} calls {} where the others call {} {}", rank, name, kind_name,
                         sequence));
      } else if (call.bytes != 0 && expected.bytes != 0) {
        note(MismatchKind::kBytes, rank, steps_.communicator[step], sequence,
             fmt::format("rank {} calls {} with {} bytes, the others with {}", rank, name,
                         call.bytes, expected.bytes));
      }
    }
  }

  /// Only where the partner recorded this iteration.
  void note_alone(uint32_t step) {
    const auto rank = std::ranges::lower_bound(
        steps_.ranks, steps_.peer[step], {}, [](const RankRow& row) { return row.identity.rank; });
    if (rank == steps_.ranks.end() || rank->identity.rank != steps_.peer[step]) return;
    const std::span rows = std::span(steps_.iterations).subspan(rank->first_row, rank->row_count);
    const uint32_t number = steps_.iterations[steps_.row[step]].number;
    if (std::ranges::none_of(rows, [&](const IterationRow& row) { return row.number == number; })) {
      return;
    }
    const bool sends = steps_.kind[step] == CollectiveKind::kSend;
    note(MismatchKind::kNoPartner, steps_.peer[step], steps_.communicator[step],
         steps_.sequence[step],
         fmt::format("rank {} has no {} for {} of rank {} in iteration {}", steps_.peer[step],
                     sends ? "receive" : "send", name_of(steps_, step), steps_.rank_number(step),
                     number));
  }

  void find_missing() {
    std::vector<std::vector<RankRange>> all(steps_.communicators.size());
    std::vector<RankRange> own;  // of one rank, by communicator in no order
    for (uint32_t row = 0; row < steps_.ranks.size(); ++row) {
      own.clear();
      for_each_step(row, [&](uint32_t step) {
        if (steps_.ends_iteration(step) || is_message(steps_.kind[step])) return;
        const uint32_t communicator = steps_.communicator[step];
        auto range = std::ranges::find(own, communicator, &RankRange::communicator);
        if (range == own.end()) range = own.insert(range, {communicator, row});
        range->first = std::min(range->first, steps_.sequence[step]);
        range->last = std::max(range->last, steps_.sequence[step]);
        ++range->count;
      });
      for (const RankRange& range : own) all[range.communicator].push_back(range);
    }
    for (const std::vector<RankRange>& ranges : all) find_missing_in(ranges);
  }

  template <class Act>
  void for_each_step(uint32_t rank_row, const Act& act) const {
    const RankRow& rank = steps_.ranks[rank_row];
    for (uint32_t i = 0; i < rank.row_count; ++i) {
      const IterationRow& row = steps_.iterations[rank.first_row + i];
      for (uint32_t step = row.first_step; step < row.first_step + row.step_count; ++step) {
        act(step);
      }
    }
  }

  void find_missing_in(const std::vector<RankRange>& ranges) {
    if (ranges.size() < 2) return;
    std::vector<uint32_t> lasts;
    for (const RankRange& range : ranges) lasts.push_back(range.last);
    const auto middle = lasts.begin() + static_cast<std::ptrdiff_t>(lasts.size() / 2);
    std::ranges::nth_element(lasts, middle);
    std::optional<std::vector<uint32_t>> called;
    for (const RankRange& range : ranges) {
      const int32_t rank = steps_.ranks[range.rank_row].identity.rank;
      if (range.last < *middle) {
        note(MismatchKind::kEndsEarlier, rank, range.communicator, range.last + 1,
             fmt::format("rank {} calls nothing after {} of {}, the others go on to {}", rank,
                         range.last, steps_.communicators[range.communicator].name, *middle));
      }
      if (range.count < range.last - range.first + 1) {
        if (!called) called = called_in(range.communicator);
        note_hole(range, *called);
      }
    }
  }

  /// Numbers that some rank calls, ascending; those in a graph that is launched as a whole are not
  /// known one by one.
  std::vector<uint32_t> called_in(uint32_t communicator) const {
    std::vector<uint32_t> called;
    for (uint32_t step = 0; step < steps_.count(); ++step) {
      if (steps_.communicator[step] == communicator && !is_message(steps_.kind[step]))
        called.push_back(steps_.sequence[step]);
    }
    std::ranges::sort(called);
    called.erase(std::unique(called.begin(), called.end()), called.end());
    return called;
  }

  void note_hole(const RankRange& range, const std::vector<uint32_t>& called) {
    std::vector<uint32_t> own;
    for_each_step(range.rank_row, [&](uint32_t step) {
      if (steps_.communicator[step] == range.communicator && !is_message(steps_.kind[step])) {
        own.push_back(steps_.sequence[step]);
      }
    });
    std::ranges::sort(own);
    const auto missing = std::ranges::find_if(called, [&](uint32_t number) {
      return number > range.first && number < range.last &&
             !std::ranges::binary_search(own, number);
    });
    if (missing == called.end()) return;
    const int32_t rank = steps_.ranks[range.rank_row].identity.rank;
    note(MismatchKind::kMissing, rank, range.communicator, *missing,
         fmt::format("rank {} misses collective {} of {}", rank, *missing,
                     steps_.communicators[range.communicator].name));
  }

  const Steps& steps_;
  Matching& matching_;
  std::vector<Call> majorities_;  // by group
  std::map<std::tuple<int32_t, uint32_t, MismatchKind>, Mismatch> found_;
};

std::vector<int32_t> without_summary(const Steps& steps) {
  int32_t world = 0;
  for (const RankRow& rank : steps.ranks) {
    world = std::max({world, rank.identity.world_size, rank.identity.rank + 1});
  }
  std::vector<int32_t> result;
  auto next = steps.ranks.begin();
  for (int32_t rank = 0; rank < world; ++rank) {
    if (next != steps.ranks.end() && next->identity.rank == rank) {
      ++next;
    } else {
      result.push_back(rank);
    }
  }
  return result;
}

}  // namespace

Matching matching_of(const Steps& steps) {
  Matching result;
  result.first_member.assign(steps.group_count + 1, 0);
  for (uint32_t group : steps.group) ++result.first_member[group + 1];
  for (uint32_t group = 0; group < steps.group_count; ++group) {
    result.first_member[group + 1] += result.first_member[group];
  }
  analysis::resize_large(result.members, steps.count());
  analysis::resize_large(result.slots, steps.count());
  std::vector<uint32_t> next(result.first_member.begin(), result.first_member.end() - 1);
  for (const RankRow& rank : steps.ranks) {
    for (uint32_t i = 0; i < rank.row_count; ++i) {
      const IterationRow& row = steps.iterations[rank.first_row + i];
      for (uint32_t step = row.first_step; step < row.first_step + row.step_count; ++step) {
        const uint32_t slot = next[steps.group[step]]++;
        result.members[slot] = step;
        result.slots[step] = slot;
      }
    }
  }
  Mismatches(steps, result).find();
  result.without_summary = without_summary(steps);
  return result;
}

}  // namespace streamscope::job
