// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analysis/large_vector.h"
#include "trace/error.h"

namespace streamscope::job {
namespace {

std::string shown(const RankSummary& summary) {
  return summary.identity.trace.empty() ? fmt::format("summary of rank {}", summary.identity.rank)
                                        : summary.identity.trace;
}

[[noreturn]] void reject(const RankSummary& summary, const std::string& cause) {
  throw Error(shown(summary), cause, "make the summary again from the trace");
}

void check_iteration(const RankSummary& summary, const RankIteration& iteration) {
  const size_t count = iteration.collectives.size();
  if (iteration.segments.size() != count + 1) {
    reject(summary, fmt::format("has {} segments for {} collectives in an iteration",
                                iteration.segments.size(), count));
  }
  for (const Collective& collective : iteration.collectives) {
    if (collective.communicator >= summary.communicators.size()) {
      reject(summary, "names a communicator that it does not list");
    }
  }
  for (size_t i = 0; i <= count; ++i) {
    const Segment& segment = iteration.segments[i];
    if (std::max(segment.place, segment.host_place) >= summary.places.size()) {
      reject(summary, "names a place that it does not list");
    }
    if (segment.after >= static_cast<int32_t>(i)) {
      reject(summary, "has work that depends on a later collective");
    }
  }
}

/// Indices of the collectives in the order in which the host issued them, which does not vary from
/// rank to rank as starts on several streams do.
std::vector<uint32_t> issue_order(const std::vector<Collective>& collectives) {
  std::vector<uint32_t> order(collectives.size());
  std::iota(order.begin(), order.end(), 0u);
  const bool known = std::ranges::none_of(collectives, [](const Collective& collective) {
    return collective.issued_ns == trace::kUnknownNs;
  });
  if (known) {
    std::ranges::stable_sort(order, {},
                             [&](uint32_t index) { return collectives[index].issued_ns; });
  }
  return order;
}

Ns first_call_ns(const RankIteration& first) {
  if (first.collectives.empty()) return trace::kUnknownNs;
  const Ns called = std::ranges::min(first.collectives, {}, &Collective::issued_ns)
                        .issued_ns;  // unknown is least
  return called == trace::kUnknownNs ? called : called - first.start_ns;
}

uint64_t member_key(uint32_t communicator, int32_t rank) {
  return uint64_t{communicator} << 32 | static_cast<uint32_t>(rank);
}

Ns length_of(const analysis::Shares& shares) {
  return std::accumulate(shares.begin(), shares.end(), Ns{0});
}

}  // namespace

std::string call_of(const Steps& steps, uint32_t step) {
  return fmt::format("{} of {}", streamscope::name_of(kCollectiveKinds, steps.kind[step]),
                     steps.communicators[steps.communicator[step]].name);
}

std::string name_of(const Steps& steps, uint32_t step) {
  return fmt::format("{} {} of {}", streamscope::name_of(kCollectiveKinds, steps.kind[step]),
                     steps.sequence[step], steps.communicators[steps.communicator[step]].name);
}

size_t StepReader::MessageHash::operator()(const Message& message) const {
  uint64_t hash = message.communicator;
  for (uint64_t part : {static_cast<uint64_t>(message.from), static_cast<uint64_t>(message.to),
                        uint64_t{message.iteration}, uint64_t{message.ordinal}}) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
}

uint32_t StepReader::interned(std::unordered_map<std::string, uint32_t>& ids,
                              const std::string& name) {
  return ids.try_emplace(name, static_cast<uint32_t>(ids.size())).first->second;
}

uint32_t StepReader::group_of(const RankSummary& summary, const Collective& collective,
                              uint32_t iteration, std::vector<Message>& messages) {
  const uint32_t communicator = communicators_[collective.communicator];
  const uint32_t next = steps_.group_count;
  uint32_t group = next;
  if (!is_message(collective.kind)) {
    const uint64_t key = uint64_t{communicator} << 32 | collective.sequence;
    group = collective_groups_.try_emplace(key, next).first->second;
  } else if (const int32_t self = summary.communicators[collective.communicator].rank;
             self >= 0 && collective.peer >= 0) {
    const bool sends = collective.kind == CollectiveKind::kSend;
    Message message{communicator, sends ? self : collective.peer, sends ? collective.peer : self,
                    iteration, 0};
    message.ordinal = static_cast<uint32_t>(std::ranges::count(messages, message));
    messages.push_back({message.communicator, message.from, message.to, iteration, 0});
    group = message_groups_.try_emplace(message, next).first->second;
  }
  if (group == next) ++steps_.group_count;
  return group;
}

void StepReader::push_work(const Segment& segment, uint32_t after) {
  steps_.row.push_back(static_cast<uint32_t>(steps_.iterations.size()));
  steps_.after.push_back(after);
  steps_.work_ns.push_back(length_of(segment.shares));
  CompactShares shares;
  std::ranges::transform(segment.shares, shares.begin(),
                         [](Ns part) { return static_cast<float>(part); });
  steps_.shares.push_back(shares);
  const auto known = [](Ns time) {
    return time == trace::kUnknownNs ? -1.f : static_cast<float>(time);
  };
  steps_.host_ns.push_back(known(segment.host_ns));
  steps_.device_ns.push_back(known(segment.device_ns));
  steps_.place.push_back(places_[segment.place]);
  steps_.host_place.push_back(places_[segment.host_place]);
}

void StepReader::add_iteration(const RankSummary& summary, const RankIteration& iteration,
                               Ns shift_ns, uint32_t number, uint32_t before, Streams& streams) {
  check_iteration(summary, iteration);
  const auto first = static_cast<uint32_t>(steps_.count());
  const std::vector<uint32_t> order = issue_order(iteration.collectives);
  std::vector<uint32_t> step_of(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) step_of[order[i]] = first + i;
  const auto after = [&](const Segment& segment) {
    return segment.after < 0 ? before : step_of[segment.after];
  };
  // What ran before on the stream is a matter of starts, which is the order of the summary.
  std::vector<uint32_t> queued_after(order.size(), kNone);
  for (uint32_t i = 0; i < order.size(); ++i) {
    if (iteration.collectives[i].stream == trace::kNoId) continue;
    uint32_t& last = streams.try_emplace(iteration.collectives[i].stream, kNone).first->second;
    queued_after[i] = last;
    last = step_of[i];
  }
  const auto shifted = [&](Ns time) { return time == trace::kUnknownNs ? time : time + shift_ns; };
  std::vector<Message> messages;
  for (uint32_t index : order) {
    const Collective& collective = iteration.collectives[index];
    push_work(iteration.segments[index], after(iteration.segments[index]));
    steps_.queued_after.push_back(queued_after[index]);
    steps_.start_ns.push_back(shifted(collective.start_ns));
    steps_.end_ns.push_back(shifted(collective.end_ns));
    steps_.group.push_back(group_of(summary, collective, number, messages));
    steps_.kind.push_back(collective.kind);
    steps_.bytes.push_back(collective.bytes);
    steps_.sequence.push_back(collective.sequence);
    steps_.communicator.push_back(communicators_[collective.communicator]);
    steps_.peer.push_back(collective.peer);
  }
  push_work(iteration.segments.back(), after(iteration.segments.back()));
  steps_.queued_after.push_back(kNone);
  steps_.start_ns.push_back(shifted(iteration.end_ns));
  steps_.end_ns.push_back(shifted(iteration.end_ns));
  steps_.group.push_back(steps_.group_count++);
  steps_.kind.push_back(CollectiveKind::kOther);
  steps_.bytes.push_back(0);
  steps_.sequence.push_back(kNone);
  steps_.communicator.push_back(kNone);
  steps_.peer.push_back(-1);
  steps_.iterations.push_back({static_cast<uint32_t>(steps_.ranks.size()), number, first,
                               static_cast<uint32_t>(order.size() + 1), shifted(iteration.start_ns),
                               shifted(iteration.end_ns), iteration.alone_ns});
}

/// As if all ranks were like the first: copies of what was read so far would cost more than the
/// rest of reading.
void StepReader::reserve_for(const RankSummary& first) {
  constexpr size_t kMostSteps = 100'000'000;
  const auto ranks = static_cast<size_t>(std::max(first.identity.world_size, 1));
  size_t steps = 0;
  for (const RankIteration& iteration : first.iterations) steps += iteration.segments.size();
  const size_t count = std::min(ranks * steps, kMostSteps);
  const auto reserve = [count](auto&... columns) {
    (analysis::reserve_large(columns, count), ...);
  };
  reserve(steps_.row, steps_.after, steps_.queued_after, steps_.work_ns, steps_.shares,
          steps_.host_ns, steps_.device_ns, steps_.place, steps_.host_place, steps_.start_ns,
          steps_.end_ns, steps_.group, steps_.kind, steps_.bytes, steps_.sequence,
          steps_.communicator, steps_.peer);
  steps_.iterations.reserve(std::min(ranks * first.iterations.size(), kMostSteps));
}

void StepReader::add(const RankSummary& summary) {
  if (summary.identity.rank < 0) {
    throw Error(shown(summary), "has no rank", "record it with --run, or name its rank");
  }
  constexpr int32_t kMostRanks = 10'000'000;  // of any job; more is a damaged number
  const int32_t world_size = summary.identity.world_size;
  if (summary.identity.rank >= (world_size < 0 ? kMostRanks : world_size) ||
      world_size > kMostRanks) {
    reject(summary, fmt::format("is of rank {} among {}", summary.identity.rank, world_size));
  }
  if (!rank_rows_.try_emplace(summary.identity.rank, static_cast<uint32_t>(steps_.ranks.size()))
           .second) {
    throw Error(shown(summary), fmt::format("rank {} was there already", summary.identity.rank),
                "keep one trace per rank in the folder");
  }
  if (steps_.ranks.empty()) {
    reserve_for(summary);
    steps_.origin_ns = summary.clock_start_ns;
  }
  communicators_.clear();
  for (const Membership& one : summary.communicators) {
    communicators_.push_back(interned(communicator_ids_, one.name));
    steps_.communicators.resize(communicator_ids_.size());
    Communicator& communicator = steps_.communicators[communicators_.back()];
    communicator.name = one.name;
    communicator.size = std::max(communicator.size, one.size);
    if (one.rank >= 0)
      members_.emplace_back(member_key(communicators_.back(), one.rank), summary.identity.rank);
  }
  places_.clear();
  for (const std::string& place : summary.places) {
    places_.push_back(interned(place_ids_, place));
    steps_.places.resize(place_ids_.size());
    steps_.places[places_.back()] = place;
  }
  RankRow rank{
      .identity = summary.identity,
      .incomplete = summary.incomplete,
      .on_clock_of_host = summary.clock_start_ns != 0,
      .shift_ns = summary.clock_start_ns == 0 ? 0 : summary.clock_start_ns - steps_.origin_ns,
      .first_row = static_cast<uint32_t>(steps_.iterations.size()),
      .steady = summary.steady};
  uint32_t number = summary.first_iteration, before = kNone;
  Streams streams;
  for (const RankIteration& iteration : summary.iterations) {
    if (!range_.value_or(summary.steady).contains(number++)) continue;
    if (rank.row_count++ == 0) rank.first_call_ns = first_call_ns(iteration);
    add_iteration(summary, iteration, rank.shift_ns, number - 1, before, streams);
    before = static_cast<uint32_t>(steps_.count() - 1);
  }
  steps_.ranks.push_back(std::move(rank));
}

std::optional<IterationRange> range_in_common(const Steps& steps) {
  if (steps.ranks.empty()) return {};
  IterationRange common;
  std::vector<uint32_t> from, to, length;
  for (const RankRow& rank : steps.ranks) {
    if (rank.row_count == 0) continue;
    common = {std::max(common.from, rank.steady.from), std::min(common.to, rank.steady.to)};
    from.push_back(rank.steady.from);
    to.push_back(rank.steady.to);
    length.push_back(rank.steady.to - rank.steady.from);
  }
  if (from.empty()) return {};
  const auto lower_median = [](std::vector<uint32_t>& values) {
    const auto middle = values.begin() + (values.size() - 1) / 2;
    std::ranges::nth_element(values, middle);
    return *middle;
  };
  if (common.to > common.from && common.to - common.from >= lower_median(length) / 2) return {};
  const IterationRange most{lower_median(from), lower_median(to)};
  return most.to > most.from ? most : IterationRange{std::ranges::min(from), std::ranges::max(to)};
}

Steps StepReader::take() {
  // Rank rows by number; the rows of iterations keep their places and learn the new ones.
  std::vector<uint32_t> order(steps_.ranks.size()), position(order.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [&](uint32_t row) { return steps_.ranks[row].identity.rank; });
  std::vector<RankRow> ranks;
  for (uint32_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
    ranks.push_back(std::move(steps_.ranks[order[i]]));
  }
  steps_.ranks = std::move(ranks);
  for (IterationRow& row : steps_.iterations) row.rank = position[row.rank];
  find_peers();
  order_groups();
  return std::move(steps_);
}

void StepReader::find_peers() {
  if (std::ranges::all_of(steps_.peer, [](int32_t peer) { return peer < 0; })) return;
  std::ranges::sort(members_);
  for (uint32_t step = 0; step < steps_.count(); ++step) {
    int32_t& peer = steps_.peer[step];
    if (peer < 0) continue;
    const uint64_t key = member_key(steps_.communicator[step], peer);
    const auto member = std::ranges::lower_bound(members_, std::pair(key, INT32_MIN));
    peer = member == members_.end() || member->first != key ? -1 : member->second;
  }
}

void StepReader::order_groups() {
  constexpr uint64_t kUnseen = UINT64_MAX;
  std::vector<std::pair<uint64_t, uint32_t>> order(steps_.group_count, {kUnseen, 0});
  for (uint32_t step = 0; step < steps_.count(); ++step) {
    const IterationRow& row = steps_.iterations[steps_.row[step]];
    const uint64_t when = uint64_t{row.number} << 32 | (step - row.first_step);
    std::pair<uint64_t, uint32_t>& entry = order[steps_.group[step]];
    if (entry.first == kUnseen) entry = {when, steps_.group[step]};
  }
  std::ranges::sort(order);
  std::vector<uint32_t> number(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) number[order[i].second] = i;
  for (uint32_t& group : steps_.group) group = number[group];
}

}  // namespace streamscope::job
