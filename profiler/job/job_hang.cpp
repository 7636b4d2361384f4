// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/job_hang.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analysis/units.h"
#include "rank_words.h"
#include "vocabulary/list_text.h"

namespace streamscope::job {
namespace {

// Where the ranks of a communicator are, or the two of one that send to each other in a direction.
struct Place {
  struct Member {
    size_t rank;  // index
    const LastCall* call;
  };
  std::string name;                    // of the communicator
  int32_t sender = -1, receiver = -1;  // of messages: ranks there
  std::vector<Member> members;
  int32_t size = -1;
  uint32_t reached = 0;         // the oldest collective that a rank is in and has not left
  bool is_waited_in = false;    // there is one
  std::vector<size_t> waiting;  // in it
  std::vector<size_t> behind;   // have not begun it
  size_t absent = 0;            // ranks of the communicator that never called anything in it

  bool of_messages() const { return sender >= 0; }
};

bool is_gone(RankState state) {
  return state == RankState::kEnded || state == RankState::kDied || state == RankState::kLost;
}

class Explainer {
 public:
  explicit Explainer(const std::vector<RankHang>& ranks) : ranks_(ranks) {
    add_lost_ranks(ranks_, "has no trace");
    leave_what_others_left();
    find_places();
  }

  JobHang explain() {
    for (const Place& place : places_) {
      if (place.is_waited_in) hang_.lines.push_back(waiting_line(place));
    }
    if (!found_mismatch() && !found_missing() && !found_circle() && !found_endless()) look_at_one();
    std::ranges::sort(hang_.culprits);
    return std::move(hang_);
  }

 private:
  int32_t number(size_t rank) const { return ranks_[rank].identity.rank; }
  std::vector<int32_t> numbers(const std::vector<size_t>& ranks) const {
    std::vector<int32_t> result;
    for (const size_t rank : ranks) result.push_back(number(rank));
    return result;
  }

  // The collectives of a communicator, or the messages of two ranks in a direction.
  struct Channel {
    std::string_view communicator;
    int32_t sender = -1, receiver = -1;  // of messages: ranks there
    auto operator<=>(const Channel&) const = default;
  };
  static Channel channel_of(const LastCall& call) {
    if (!is_message(call.kind)) return {call.communicator};
    const bool sends = call.kind == CollectiveKind::kSend;
    return {call.communicator, sends ? call.rank : call.peer, sends ? call.peer : call.rank};
  }

  // A rank may leave a collective of all ranks, or a message, once another one has left it; that it
  // did may not be reported yet. It may not if it is in another kind of collective of that number.
  void leave_what_others_left() {
    std::map<Channel, uint32_t> entered;  // the newest that a rank has entered or left
    std::map<std::pair<Channel, uint32_t>, std::set<CollectiveKind>> left;
    for (const RankHang& rank : ranks_) {
      for (const LastCall& call : rank.calls) {
        uint32_t& newest = entered[channel_of(call)];
        newest = std::max(newest, call.sequence + (call.ended ? 1 : 0));
        if (call.ended) left[{channel_of(call), call.sequence}].insert(call.kind);
      }
    }
    for (RankHang& rank : ranks_) {
      for (LastCall& call : rank.calls) {
        const bool message = is_message(call.kind);
        if (!call.started || (!needs_all_ranks(call.kind) && !message)) continue;
        const Channel channel = channel_of(call);
        const auto same = left.find({channel, call.sequence});
        const bool differs = !message && same != left.end() && !same->second.contains(call.kind);
        call.ended |= call.sequence < entered[channel] && !differs;
      }
    }
  }

  void find_places() {
    waited_in_.resize(ranks_.size());
    std::map<Channel, Place> found;
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      for (const LastCall& call : ranks_[rank].calls) {
        const Channel channel = channel_of(call);
        Place& place = found[channel];
        place.name = call.communicator;
        place.sender = channel.sender;
        place.receiver = channel.receiver;
        place.size = place.of_messages() ? 2 : std::max(place.size, call.size);
        place.members.push_back({rank, &call});
        const int32_t here = rank_in({call.communicator, call.size, call.rank}, identity(rank));
        if (here >= 0) members_.try_emplace({call.communicator, here}, rank);
        if (call.size == static_cast<int32_t>(ranks_.size())) whole_jobs_.insert(call.communicator);
      }
    }
    for (auto& [key, place] : found) {
      find_reached(place);
      for (const size_t rank : place.waiting)
        waited_in_[rank].push_back(static_cast<uint32_t>(places_.size()));
      places_.push_back(std::move(place));
    }
    for (Place& place : places_) {
      if (place.is_waited_in && place.absent > 0 && place.of_messages()) find_partner(place);
    }
    for (Place& place : places_) {
      if (place.is_waited_in && place.absent > 0) find_absent(place);
      if (place.is_waited_in && place.size < 0 && place.behind.empty()) find_silent(place);
    }
  }

  void find_reached(Place& place) {
    for (const auto& [rank, call] : place.members) {
      if (call->ended || !call->started || is_gone(ranks_[rank].state)) continue;
      if (!place.is_waited_in || call->sequence < place.reached) place.reached = call->sequence;
      place.is_waited_in = true;
    }
    if (!place.is_waited_in) return;
    std::vector<bool> called(ranks_.size());
    for (const auto& [rank, call] : place.members) {
      called[rank] = true;
      if (has_left(*call, place.reached)) continue;
      const bool waits =
          call->sequence == place.reached && call->started && !is_gone(ranks_[rank].state);
      (waits ? place.waiting : place.behind).push_back(rank);
    }
    place.absent = place.size > static_cast<int32_t>(place.members.size())
                       ? static_cast<size_t>(place.size) - place.members.size()
                       : 0;
  }

  const RankIdentity& identity(size_t rank) const { return ranks_[rank].identity; }
  std::optional<size_t> member_of(std::string_view communicator, int32_t rank) const {
    const auto known = members_.find({communicator, rank});
    if (known != members_.end()) return known->second;
    if (!whole_jobs_.contains(communicator)) return std::nullopt;
    const auto same =
        std::ranges::find(ranks_, rank, [](const RankHang& each) { return each.identity.rank; });
    return same == ranks_.end() ? std::nullopt : std::optional(same - ranks_.begin());
  }

  // The one that never sent to, or received from, the rank that waits for it.
  void find_partner(Place& place) const {
    const LastCall& waits = *place.members.front().call;
    const std::optional<size_t> partner = member_of(place.name, waits.peer);
    if (!partner || ranks_[*partner].calls_are_missing) return;
    place.behind.push_back(*partner);
    place.absent = 0;
  }

  // Which ranks never called anything in a communicator of which some are absent: those that cannot
  // any more, or came where they wait in another way than the others there, or wait for nothing.
  void find_absent(Place& place) const {
    std::vector<bool> calls(ranks_.size());
    for (const auto& [rank, call] : place.members) calls[rank] = true;
    std::vector<size_t> gone, odd, idle, others;
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (calls[rank] || ranks_[rank].calls_are_missing) continue;
      const Place* const in = waits_in(rank);
      (is_gone(ranks_[rank].state)       ? gone
       : in == nullptr                   ? idle
       : begun(rank) != usual_begun(*in) ? odd
                                         : others)
          .push_back(rank);
    }
    for (const auto* const ranks : {&gone, &odd, &idle, &others}) {
      if (ranks->empty() || ranks->size() > place.absent) continue;
      place.behind.insert(place.behind.end(), ranks->begin(), ranks->end());
      place.absent -= ranks->size();
    }
  }
  // Where nobody knows how many ranks a communicator has: those that never called anything.
  void find_silent(Place& place) const {
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].calls.empty() && !ranks_[rank].calls_are_missing)
        place.behind.push_back(rank);
    }
  }
  uint64_t usual_begun(const Place& place) const {
    std::vector<uint64_t> counts;
    for (const size_t rank : place.waiting) counts.push_back(begun(rank));
    const auto middle = counts.begin() + static_cast<ptrdiff_t>(counts.size() / 2);
    std::ranges::nth_element(counts, middle);
    return *middle;
  }
  static bool has_left(const LastCall& call, uint32_t sequence) {
    return call.sequence > sequence || (call.sequence == sequence && call.ended);
  }

  // What the rank is in, or should be.
  std::string call_text(const Place& place, size_t rank) const {
    if (!place.of_messages()) return collective_text(place);
    const bool sends = member_of(place.name, place.sender) == rank;
    const int32_t peer = sends ? place.receiver : place.sender;
    const std::optional<size_t> other = member_of(place.name, peer);
    return fmt::format("{} {} of communicator {} {} {}rank {}", sends ? "send" : "receive",
                       place.reached, place.name, sends ? "to" : "from", other ? "" : "its ",
                       other ? number(*other) : peer);
  }
  std::string collective_text(const Place& place) const {
    const auto in_it = std::ranges::find_if(place.members, [&](const Place::Member& member) {
      return member.rank == place.waiting.front();
    });
    return fmt::format("{} {} of communicator {}",
                       streamscope::name_of(kCollectiveKinds, in_it->call->kind), place.reached,
                       place.name);
  }
  std::string waiting_line(const Place& place) const {
    return fmt::format("{} {} in {}", ranks_text(numbers(place.waiting)),
                       place.waiting.size() == 1 ? "waits" : "wait",
                       call_text(place, place.waiting.front()));
  }

  // Ranks in the same collective that do not agree what it is: those that differ from most. One may
  // have left it, with the data of another collective.
  bool found_mismatch() {
    for (const Place& place : places_) {
      if (!place.is_waited_in || place.of_messages()) continue;
      std::map<std::pair<CollectiveKind, uint64_t>, std::vector<size_t>> by_call;
      for (const auto& [rank, call] : place.members) {
        if (call->sequence == place.reached && (call->started || call->ended))
          by_call[{call->kind, compares_bytes(call->kind) ? call->bytes : 0}].push_back(rank);
      }
      if (by_call.size() < 2) continue;
      // Of two ranks the one is odd whose kind no others call.
      const auto most = std::ranges::max_element(by_call, {}, [&](const auto& entry) {
        return std::pair(entry.second.size(), calls_of(entry.first.first));
      });
      hang_.kind = JobHangKind::kMismatch;
      const auto what = [&](const auto& entry) {
        return fmt::format(
            "{}{}", streamscope::name_of(kCollectiveKinds, entry.first.first),
            entry.first.second == 0
                ? ""
                : " of " + analysis::format_bytes(static_cast<int64_t>(entry.first.second)));
      };
      for (auto entry = by_call.begin(); entry != by_call.end(); ++entry) {
        if (entry == most) continue;
        for (const size_t rank : entry->second) hang_.culprits.push_back(number(rank));
        const bool one = entry->second.size() == 1;
        hang_.headline +=
            fmt::format("{}{} {} {} as collective {} of communicator {}",
                        hang_.headline.empty() ? "" : "; ", ranks_text(numbers(entry->second)),
                        one ? "calls" : "call", what(*entry), place.reached, place.name);
      }
      hang_.headline += fmt::format(", where {} {} {}", ranks_text(numbers(most->second)),
                                    most->second.size() == 1 ? "calls" : "call", what(*most));
      return true;
    }
    return false;
  }
  size_t calls_of(CollectiveKind kind) const {
    size_t count = 0;
    for (const Place& place : places_)
      count += static_cast<size_t>(std::ranges::count_if(
          place.members, [&](const Place::Member& member) { return member.call->kind == kind; }));
    return count;
  }
  // The ranks of an all-to-all may give different sizes.
  static bool compares_bytes(CollectiveKind kind) {
    return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduce ||
           kind == CollectiveKind::kBroadcast;
  }

  // The place where this rank waits for others.
  const Place* waits_in(size_t rank) const {
    for (const uint32_t index : waited_in_[rank]) {
      const Place& place = places_[index];
      if (!place.behind.empty() || place.absent > 0) return &place;
    }
    return nullptr;
  }

  // A rank that others wait for and that itself waits for none of them.
  bool found_missing() {
    const Place* of = nullptr;
    std::vector<size_t> culprits;
    std::vector<bool> named(ranks_.size());
    for (const Place& place : places_) {
      if (!place.is_waited_in) continue;
      for (const size_t rank : place.behind) {
        if (waits_in(rank) != nullptr) continue;
        if (named[rank]) continue;
        named[rank] = true;
        if (of == nullptr) of = &place;
        culprits.push_back(rank);
      }
    }
    if (of == nullptr) return false;
    // One that waits for a message may wait for another one of these.
    const auto in_message = [&](size_t rank) { return ranks_[rank].in_message; };
    if (!std::ranges::all_of(culprits, in_message)) std::erase_if(culprits, in_message);
    const bool dead =
        std::ranges::any_of(culprits, [&](size_t rank) { return is_gone(ranks_[rank].state); });
    if (dead) std::erase_if(culprits, [&](size_t rank) { return !is_gone(ranks_[rank].state); });
    hang_.kind = dead ? JobHangKind::kDeadRank : JobHangKind::kMissing;
    hang_.culprits = numbers(culprits);
    const size_t first = culprits.front();
    of = &*std::ranges::find_if(places_, [&](const Place& place) {
      return std::ranges::find(place.behind, first) != place.behind.end();
    });
    const bool one = culprits.size() == 1;
    const bool is_lost = ranks_[first].state == RankState::kLost;
    const std::string_view what = is_lost                  ? "missing in"
                                  : has_called(*of, first) ? "not begun"
                                                           : "not called";
    hang_.headline = fmt::format("{} {} {} {}", ranks_text(hang_.culprits),
                                 is_lost ? (one ? "is" : "are") : (one ? "has" : "have"), what,
                                 calls_that_miss(first));
    if (!ranks_[first].reason.empty()) {
      hang_.headline += one ? ": it " + ranks_[first].reason
                            : fmt::format(": rank {} {}", number(first), ranks_[first].reason);
    }
    return true;
  }

  // "all-reduce 5 of communicator tp1 and reduce-scatter 1 of communicator dp0"
  std::string calls_that_miss(size_t rank) const {
    constexpr size_t kMost = 3;
    std::vector<std::string> calls;
    for (const Place& place : places_) {
      if (std::ranges::find(place.behind, rank) != place.behind.end() && calls.size() < kMost)
        calls.push_back(call_text(place, rank));
    }
    return listed(calls);
  }
  static bool has_called(const Place& place, size_t rank) {
    return std::ranges::any_of(place.members, [&](const Place::Member& member) {
      return member.rank == rank && member.call->issued >= place.reached;
    });
  }

  // Collectives that a rank has begun.
  uint64_t begun(size_t rank) const {
    uint64_t count = 0;
    for (const LastCall& call : ranks_[rank].calls)
      if (!is_message(call.kind)) count += call.sequence + (call.started || call.ended ? 1 : 0);
    return count;
  }

  // Each rank that others wait for waits for others, so they wait in a circle.
  bool found_circle() {
    for (const Place& place : places_) {
      if (!place.is_waited_in || place.behind.empty()) continue;
      std::vector<size_t> path;
      std::vector<const Place*> through;
      size_t rank = place.behind.front();
      while (std::ranges::find(path, rank) == path.end()) {
        const Place* const next = waits_in(rank);
        if (next == nullptr) return false;
        path.push_back(rank);
        through.push_back(next);
        if (next->behind.empty()) return false;
        rank = next->behind.front();
      }
      const auto begin = static_cast<size_t>(std::ranges::find(path, rank) - path.begin());
      hang_.kind = JobHangKind::kOrder;
      bool messages = false;
      for (size_t i = begin; i < path.size(); ++i) {
        const Place& waits_for_it = *through[i == begin ? path.size() - 1 : i - 1];
        messages |= waits_for_it.of_messages();
        if (is_odd(path[i], *through[i], waits_for_it)) hang_.culprits.push_back(number(path[i]));
        hang_.headline += fmt::format("{}rank {} waits in {}", i == begin ? "" : ", ",
                                      number(path[i]), call_text(*through[i], path[i]));
      }
      if (hang_.culprits.empty()) {
        for (size_t i = begin; i < path.size(); ++i) hang_.culprits.push_back(number(path[i]));
        hang_.headline +=
            fmt::format(": each for the next, so {}",
                        messages ? "one leaves out a message, or they call in different orders"
                                 : "they call collectives in different orders");
      } else {
        hang_.headline +=
            fmt::format(": each for the next; the order of {} differs from that of the others",
                        ranks_text(hang_.culprits));
      }
      return true;
    }
    return false;
  }

  // Whether ranks of both communicators begin the collective that others wait in before the one
  // that this rank waits in, or, if they do not tell, came to the latter after more or fewer
  // collectives.
  bool is_odd(size_t rank, const Place& waits_in, const Place& waits_for_it) const {
    if (waits_in.of_messages() || waits_for_it.of_messages()) return false;
    std::vector<const LastCall*> calls(ranks_.size());
    for (const auto& [other, call] : waits_in.members) calls[other] = call;
    size_t as_it = 0, otherwise = 0;
    for (const auto& [other, call] : waits_for_it.members) {
      // Those that called nothing there yet may be no members.
      if (calls[other] == nullptr && waits_in.size != static_cast<int32_t>(ranks_.size())) continue;
      const bool began_that = has_begun(*call, waits_for_it.reached);
      const bool began_this = calls[other] != nullptr && has_begun(*calls[other], waits_in.reached);
      as_it += began_this && !began_that;
      otherwise += began_that && !began_this;
    }
    if (otherwise != 1 || as_it > 1) return otherwise > std::max<size_t>(as_it, 1);
    const uint64_t usual = usual_begun(waits_in);
    const auto as_usual = std::ranges::count_if(
        waits_in.waiting, [&](size_t other) { return begun(other) == usual; });
    return begun(rank) != usual && as_usual > 1;
  }
  static bool has_begun(const LastCall& call, uint32_t sequence) {
    return call.sequence > sequence || (call.sequence == sequence && (call.started || call.ended));
  }

  // All of its ranks are in a collective.
  bool found_endless() {
    for (const Place& place : places_) {
      if (!place.is_waited_in || !place.behind.empty() || place.absent > 0) continue;
      hang_.kind = JobHangKind::kCollective;
      const size_t first = place.waiting.front();
      hang_.headline = fmt::format(
          "{} in {}, and it does not end",
          place.of_messages() ? fmt::format("rank {} is", number(first)) : "all ranks are",
          call_text(place, first));
      return true;
    }
    return false;
  }

  void look_at_one() {
    for (const RankHang& rank : ranks_) {
      if (rank.state != RankState::kHangs && rank.state != RankState::kDied &&
          rank.state != RankState::kLost)
        continue;
      hang_.culprits.push_back(rank.identity.rank);
      if (hang_.culprits.size() > 1) continue;
      hang_.kind = JobHangKind::kOnOneRank;
      hang_.headline = fmt::format("rank {} {}", rank.identity.rank, rank.reason);
    }
  }

  std::vector<RankHang> ranks_;
  std::vector<Place> places_;
  std::map<std::pair<std::string_view, int32_t>, size_t> members_;  // by communicator, rank there
  std::set<std::string_view> whole_jobs_;                           // communicators of all ranks
  std::vector<std::vector<uint32_t>> waited_in_;                    // by rank: places, mostly one
  JobHang hang_;
};

}  // namespace

JobHang explain(const std::vector<RankHang>& ranks) {
  if (!std::ranges::all_of(ranks, [](const RankHang& rank) { return is_gone(rank.state); }) ||
      std::ranges::all_of(ranks,
                          [](const RankHang& rank) { return rank.state == RankState::kEnded; }))
    return Explainer(ranks).explain();
  // The whole job was ended: as it was before, when those that wait were still there.
  std::vector<RankHang> before = ranks;
  for (RankHang& rank : before) {
    if (rank.state == RankState::kDied) rank.state = RankState::kQuiet;
  }
  JobHang hang = Explainer(before).explain();
  if (hang.kind == JobHangKind::kNone || hang.kind == JobHangKind::kOnOneRank)
    return Explainer(ranks).explain();
  hang.lines.insert(hang.lines.begin(), "so it was when the ranks were ended");
  return hang;
}

}  // namespace streamscope::job
