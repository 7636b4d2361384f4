// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/job_hang.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "job/files/hang_note.h"
#include "job/rank_words.h"
#include "support/sanitized.h"

namespace streamscope::job {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

enum class HangFault { kNone, kDies, kSkips, kSwaps, kNeverRecorded, kLock, kEndless, kOtherKind };
constexpr HangFault kFaults[] = {HangFault::kDies,          HangFault::kSkips, HangFault::kSwaps,
                                 HangFault::kNeverRecorded, HangFault::kLock,  HangFault::kEndless,
                                 HangFault::kOtherKind};

// Ranks that call collectives of the communicators of rows and columns of a grid and of all ranks,
// or that are the stages of pipelines and send to each other. The host of each runs ahead of its
// device, which begins a collective once those before it ended; a collective ends once all ranks of
// its communicator have begun the same number, a message once both have.
class HungJob {
 public:
  HungJob(int ranks, int columns, int iterations) : ranks_(static_cast<size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<Call>& calls = ranks_[static_cast<size_t>(rank)].calls;
      for (int i = 0; i < iterations; ++i) {
        for (int layer = 0; layer < 3; ++layer)
          calls.push_back({fmt::format("tp{}", rank / columns), CollectiveKind::kAllReduce});
        calls.push_back({fmt::format("dp{}", rank % columns), CollectiveKind::kReduceScatter});
        calls.push_back({"world", CollectiveKind::kAllReduce});
      }
    }
    count_ranks();
  }
  static HungJob of_pipelines(int stages, int pipelines, int iterations) {
    HungJob job;
    for (int rank = 0; rank < stages * pipelines; ++rank) {
      const int stage = rank / pipelines;
      const std::string pipeline = fmt::format("pp{}", rank % pipelines);
      std::vector<Call>& calls = job.ranks_.emplace_back().calls;
      const auto message = [&](CollectiveKind kind, int other) {
        if (other < 0 || other >= stages) return;
        const bool sends = kind == CollectiveKind::kSend;
        calls.push_back(
            {pipeline, kind, stage, other,
             fmt::format("{} {}>{}", pipeline, sends ? stage : other, sends ? other : stage)});
      };
      for (int i = 0; i < iterations; ++i) {
        for (const int direction : {1, -1}) {  // all microbatches forward, then backward
          for (int batch = 0; batch < 3; ++batch) {
            message(CollectiveKind::kReceive, stage - direction);
            message(CollectiveKind::kSend, stage + direction);
          }
        }
        calls.push_back({fmt::format("dp{}", stage), CollectiveKind::kAllReduce});
      }
    }
    job.count_ranks();
    return job;
  }
  size_t calls_of(size_t rank) const { return ranks_[rank].calls.size(); }

  void plant(HangFault fault, size_t rank, size_t at) {
    Rank& faulty = ranks_[rank];
    faulty.fault = fault;
    faulty.at = at;
    if (fault == HangFault::kSkips)
      faulty.calls.erase(faulty.calls.begin() + static_cast<ptrdiff_t>(at));
    if (fault == HangFault::kSwaps) std::swap(faulty.calls[at], faulty.calls[at + 1]);
    if (fault == HangFault::kOtherKind) faulty.calls[at].kind = CollectiveKind::kAllGather;
  }
  const std::string& communicator_at(size_t rank, size_t at) const {
    return ranks_[rank].calls[at].communicator;
  }

  // Until nothing moves.
  std::vector<RankHang> run(size_t ahead) {
    for (bool moves = true; moves;) {
      moves = false;
      for (Rank& rank : ranks_) moves |= step(rank, ahead);
    }
    std::vector<RankHang> result;
    for (size_t rank = 0; rank < ranks_.size(); ++rank) result.push_back(state_of(rank));
    return result;
  }

 private:
  struct Call {
    std::string communicator;
    CollectiveKind kind;
    int rank = -1, peer = -1;  // in it, of messages
    std::string channel{};     // of messages
    size_t group = 0;          // of those that meet in it
  };
  struct Meeting {
    int arrived = 0;
    CollectiveKind kind{};
    bool is_broken = false;
  };
  struct Group {
    std::string name{};
    int size = 0;
    std::vector<Meeting> meetings{};
  };
  struct Rank {
    std::vector<Call> calls;
    std::vector<uint32_t> met;                // by group, calls that were begun
    size_t issued = 0, begun = 0, ended = 0;  // calls
    HangFault fault = HangFault::kNone;
    size_t at = 0;
  };

  HungJob() = default;

  void count_ranks() {
    std::map<std::string, size_t> numbers;
    for (Rank& rank : ranks_) {
      std::set<size_t> groups;
      for (Call& call : rank.calls) {
        const std::string& name = call.channel.empty() ? call.communicator : call.channel;
        call.group = numbers.try_emplace(name, numbers.size()).first->second;
        groups.insert(call.group);
      }
      groups_.resize(numbers.size());
      for (const size_t group : groups) ++groups_[group].size;
    }
    for (const auto& [name, group] : numbers) groups_[group].name = name;
    for (Rank& rank : ranks_) rank.met.resize(groups_.size());
  }

  bool step(Rank& rank, size_t ahead) {
    bool moves = false;
    const bool host_stops = rank.fault == HangFault::kDies || rank.fault == HangFault::kLock;
    const bool device_stops =
        rank.fault == HangFault::kNeverRecorded || rank.fault == HangFault::kEndless;
    while (rank.issued < rank.calls.size() && rank.issued < rank.ended + ahead &&
           !(host_stops && rank.issued == rank.at)) {
      ++rank.issued;
      moves = true;
    }
    if (rank.begun == rank.ended && rank.begun < rank.issued &&
        !(device_stops && rank.begun == rank.at)) {
      const Call& call = rank.calls[rank.begun++];
      const uint32_t number = rank.met[call.group]++;
      std::vector<Meeting>& meetings = groups_[call.group].meetings;
      if (number == meetings.size()) meetings.push_back({.kind = call.kind});
      ++meetings[number].arrived;
      meetings[number].is_broken |= call.channel.empty() && meetings[number].kind != call.kind;
      moves = true;
    }
    if (rank.ended < rank.begun) {
      const size_t number = rank.calls[rank.ended].group;
      const Group& group = groups_[number];
      const Meeting& meeting = group.meetings[rank.met[number] - 1];
      if (meeting.arrived == group.size && !meeting.is_broken) {
        ++rank.ended;
        moves = true;
      }
    }
    return moves;
  }

  RankHang state_of(size_t number) const {
    const Rank& rank = ranks_[number];
    RankHang hang;
    hang.identity = {.rank = static_cast<int32_t>(number),
                     .world_size = static_cast<int32_t>(ranks_.size())};
    hang.state = RankState::kHangs;
    if (rank.fault == HangFault::kDies) {
      hang.state = RankState::kDied;
      hang.reason = "ended by signal 11";
    } else if (rank.ended == rank.calls.size()) {
      hang.state = RankState::kEnded;
      hang.reason = "ended";
    } else if (rank.fault != HangFault::kNone) {
      hang.reason = "waits for the fault";
    }
    std::map<std::string_view, LastCall> calls;
    for (size_t i = 0; i < rank.issued; ++i) {
      const Call& issued = rank.calls[i];
      const auto [at, is_new] = calls.try_emplace(groups_[issued.group].name);
      LastCall& call = at->second;
      call.communicator = issued.communicator;
      call.size = issued.channel.empty() ? groups_[issued.group].size : -1;
      call.rank = issued.rank;
      call.peer = issued.peer;
      if (!is_new) ++call.issued;
      if (!is_new && !call.ended) continue;  // it has not left this one
      call.sequence = call.issued;
      call.kind = issued.kind;
      call.started = i < rank.begun;
      call.ended = i < rank.ended;
    }
    for (auto& [name, call] : calls) hang.calls.push_back(call);
    return hang;
  }

  std::vector<Rank> ranks_;
  std::vector<Group> groups_;
};

TEST(JobHang, IsSilentAboutAJobThatEnded) {
  const JobHang hang = explain(HungJob(8, 2, 4).run(3));
  EXPECT_EQ(hang.kind, JobHangKind::kNone) << hang.headline;
  EXPECT_TRUE(hang.culprits.empty());
}

TEST(JobHang, SaysWhichRankIsMissingAndWhy) {
  HungJob job(4, 2, 4);
  job.plant(HangFault::kLock, 2, 7);
  const JobHang hang = explain(job.run(8));
  EXPECT_EQ(hang.kind, JobHangKind::kMissing);
  EXPECT_EQ(hang.headline,
            "rank 2 has not called reduce-scatter 1 of communicator dp0 and all-reduce 5 of "
            "communicator tp1: it waits for the fault");
  EXPECT_THAT(hang.lines, testing::Contains("rank 3 waits in all-reduce 5 of communicator tp1"));
}

TEST(JobHang, AJobThatWasKilledIsExplainedAsItWasBefore) {
  const auto killed = [](int32_t rank, uint32_t sequence) {
    RankHang hang{.identity = {.rank = rank, .world_size = 3}, .state = RankState::kDied};
    hang.reason = "ended abruptly, and may have been killed";
    hang.calls = {{.communicator = "world", .size = 3, .sequence = sequence, .issued = sequence}};
    return hang;
  };
  std::vector<RankHang> ranks{killed(0, 7), killed(1, 6), killed(2, 7)};
  for (const size_t waiting : {0, 2}) ranks[waiting].calls[0].started = true;
  ranks[1].calls[0].started = ranks[1].calls[0].ended = true;
  ranks[1].reason += ", and was at loader.py:12 load when it was sampled last";
  const JobHang hang = explain(ranks);
  EXPECT_EQ(hang.kind, JobHangKind::kMissing);
  EXPECT_THAT(hang.culprits, ElementsAre(1));
  EXPECT_THAT(hang.headline,
              HasSubstr("rank 1 has not called collective 7 of communicator world: it ended "
                        "abruptly, and may have been killed, and was at loader.py:12 load"));
  EXPECT_THAT(hang.lines, ElementsAre("so it was when the ranks were ended",
                                      "ranks 0 and 2 wait in collective 7 of communicator world"));
  // With one that still waits it is the dead rank.
  ranks[2].state = RankState::kQuiet;
  EXPECT_EQ(explain(ranks).kind, JobHangKind::kDeadRank);
  // Where nobody was in a collective, nothing else is known than that they ended.
  for (RankHang& rank : ranks) {
    rank.state = RankState::kDied;
    rank.calls.clear();
  }
  EXPECT_EQ(explain(ranks).kind, JobHangKind::kOnOneRank);
}

TEST(JobHang, ARankMayLeaveACollectiveWithTheDataOfAnotherOne) {
  const auto rank = [](int32_t number, CollectiveKind kind, bool ended) {
    RankHang hang{.identity = {.rank = number, .world_size = 2}, .state = RankState::kQuiet};
    hang.calls = {{.communicator = "world", .size = 2, .sequence = 7, .issued = 7}};
    hang.calls[0].kind = kind;
    hang.calls[0].started = true;
    hang.calls[0].ended = ended;
    return hang;
  };
  const JobHang hang = explain(
      {rank(0, CollectiveKind::kAllReduce, true), rank(1, CollectiveKind::kAllGather, false)});
  EXPECT_EQ(hang.kind, JobHangKind::kMismatch);
  EXPECT_THAT(hang.headline, HasSubstr("as collective 7 of communicator world"));
  EXPECT_EQ(explain({rank(0, CollectiveKind::kAllReduce, true),
                     rank(1, CollectiveKind::kAllReduce, false)})
                .kind,
            JobHangKind::kNone);
}

TEST(JobHang, SaysWhichRankDied) {
  HungJob job(4, 2, 4);
  job.plant(HangFault::kDies, 1, 4);
  const JobHang hang = explain(job.run(2));
  EXPECT_EQ(hang.kind, JobHangKind::kDeadRank);
  EXPECT_EQ(hang.headline,
            "rank 1 has not called all-reduce 0 of communicator world: it ended by signal 11");
}

TEST(JobHang, ARankWithoutATraceIsLost) {
  HungJob job(4, 4, 2);
  job.plant(HangFault::kDies, 3, 4);
  std::vector<RankHang> ranks = job.run(2);
  ranks.pop_back();
  for (RankHang& rank : ranks)
    std::erase_if(rank.calls, [](const LastCall& call) { return call.communicator != "world"; });
  const JobHang hang = explain(ranks);
  EXPECT_EQ(hang.headline,
            "rank 3 is missing in all-reduce 0 of communicator world: it has no trace");
}

TEST(JobHang, SaysWhoCallsAnotherKind) {
  HungJob job(4, 2, 4);
  job.plant(HangFault::kOtherKind, 1, 4);
  const JobHang hang = explain(job.run(2));
  EXPECT_EQ(hang.kind, JobHangKind::kMismatch);
  EXPECT_EQ(hang.headline,
            "rank 1 calls all-gather as collective 0 of communicator world, where ranks 0, 2 and 3 "
            "call all-reduce");
}

TEST(JobHang, ACollectiveOfAllThatDoesNotEndAccusesNobody) {
  std::vector<RankHang> ranks(2);
  for (int32_t rank = 0; rank < 2; ++rank) {
    ranks[static_cast<size_t>(rank)] = {.identity = {.rank = rank, .world_size = 2},
                                        .state = RankState::kHangs,
                                        .calls = {{.communicator = "world",
                                                   .size = 2,
                                                   .sequence = 4,
                                                   .issued = 4,
                                                   .kind = CollectiveKind::kBroadcast,
                                                   .started = true}}};
  }
  const JobHang hang = explain(ranks);
  EXPECT_EQ(hang.kind, JobHangKind::kCollective);
  EXPECT_TRUE(hang.culprits.empty());
  EXPECT_EQ(hang.headline,
            "all ranks are in broadcast 4 of communicator world, and it does not end");
}

TEST(JobHang, SaysWhichMessageIsMissing) {
  // Stages of two pipelines; ranks 3 and 1 are those of the second one.
  const auto rank = [](int32_t number, std::vector<LastCall> calls) {
    return RankHang{.identity = {.rank = number, .world_size = 4},
                    .state = RankState::kQuiet,
                    .reason = "is outside CUDA",
                    .calls = std::move(calls)};
  };
  const auto call = [](CollectiveKind kind, int32_t self, uint32_t sequence, bool ended) {
    return LastCall{.communicator = "pp1",
                    .rank = self,
                    .peer = 1 - self,
                    .sequence = sequence,
                    .issued = sequence,
                    .kind = kind,
                    .started = true,
                    .ended = ended};
  };
  std::vector<RankHang> ranks{rank(0, {}), rank(1, {call(CollectiveKind::kReceive, 1, 5, false)}),
                              rank(2, {}), rank(3, {call(CollectiveKind::kSend, 0, 4, true)})};
  JobHang hang = explain(ranks);
  EXPECT_EQ(hang.kind, JobHangKind::kMissing);
  EXPECT_THAT(hang.culprits, ElementsAre(3));
  EXPECT_EQ(hang.headline,
            "rank 3 has not called send 5 of communicator pp1 to rank 1: it is outside CUDA");
  EXPECT_THAT(hang.lines, ElementsAre("rank 1 waits in receive 5 of communicator pp1 from rank 3"));
  // It never sent anything to it, but to others of the communicator.
  ranks[3].calls[0].peer = 2;
  EXPECT_THAT(explain(ranks).culprits, ElementsAre(3));
  // It is in it as well.
  ranks[3].calls = {call(CollectiveKind::kSend, 0, 5, false)};
  hang = explain(ranks);
  EXPECT_EQ(hang.kind, JobHangKind::kCollective);
  EXPECT_EQ(hang.headline,
            "rank 1 is in receive 5 of communicator pp1 from rank 3, and it does not end");
  // That it left an earlier one is not reported yet, but the other one has.
  ranks[3].calls = {call(CollectiveKind::kSend, 0, 2, false)};
  hang = explain(ranks);
  EXPECT_THAT(hang.culprits, ElementsAre(3));
  EXPECT_THAT(hang.lines, ElementsAre("rank 1 waits in receive 5 of communicator pp1 from rank 3"));
  // Nobody knows who the other one is.
  ranks[3].calls.clear();
  EXPECT_EQ(explain(ranks).kind, JobHangKind::kNone);
  EXPECT_THAT(explain(ranks).lines,
              ElementsAre("rank 1 waits in receive 5 of communicator pp1 from its rank 0"));
}

TEST(JobHang, DoesNotSayThatAllRanksAreInACollectiveThatSomeNeverCalled) {
  std::vector<RankHang> ranks(4);
  for (int32_t number = 0; number < 4; ++number) {
    RankHang& rank = ranks[static_cast<size_t>(number)];
    rank = {.identity = {.rank = number, .world_size = 4}, .state = RankState::kQuiet};
    if (number < 2)
      rank.calls = {{.communicator = "tp0",
                     .size = 3,
                     .sequence = 4,
                     .issued = 4,
                     .kind = CollectiveKind::kAllReduce,
                     .started = true}};
  }
  const JobHang hang = explain(ranks);
  EXPECT_NE(hang.kind, JobHangKind::kCollective) << hang.headline;
}

// As the recorders of other ranks read them.
std::vector<RankHang> through_notes(const std::vector<RankHang>& ranks) {
  std::vector<FoundNote> notes;
  for (const RankHang& rank : ranks) {
    HangNote note;
    note.rank = rank;
    note.renewed_within_ms = 3000;
    note.asked_for_ms = 4000;
    const std::string bytes = pack(note);
    EXPECT_LE(bytes.size(), kMostNoteBytes);
    notes.push_back({unpack_note(bytes, "note"), {}, 0});
  }
  return ranks_of(notes);
}

TEST(JobHang, ARankIsNotInWhatOthersHaveLeft) {
  std::vector<RankHang> ranks(3);
  for (int32_t rank = 0; rank < 3; ++rank) {
    const bool late = rank == 1;
    ranks[static_cast<size_t>(rank)] = {.identity = {.rank = rank, .world_size = 3},
                                        .state = RankState::kQuiet,
                                        .reason = "is outside CUDA",
                                        .calls = {{.communicator = "world",
                                                   .size = 3,
                                                   .sequence = late ? 4u : 5u,
                                                   .issued = late ? 4u : 5u,
                                                   .kind = CollectiveKind::kAllReduce,
                                                   .started = true}}};
  }
  EXPECT_EQ(explain(ranks).headline,
            "rank 1 has not called all-reduce 5 of communicator world: it is outside CUDA");
  // The root of a reduction waits for the others, which do not wait for each other.
  for (RankHang& rank : ranks) rank.calls[0].kind = CollectiveKind::kReduce;
  EXPECT_EQ(explain(ranks).kind, JobHangKind::kCollective);
}

// One fault in a job; how far the host runs ahead, where and which are random.
// Two ranks cannot tell which of them calls in the wrong order or another kind: then both are
// named.
void plant_faults(int ranks, int columns, int all_jobs) {
  const int jobs = test::sample_of(all_jobs);
  std::mt19937 random(static_cast<unsigned>(ranks));
  const auto below = [&](size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random);
  };
  int right = 0, hung = 0;
  for (int i = 0; i < jobs; ++i) {
    constexpr int kIterations = 4;
    HungJob job(ranks, columns, kIterations);
    const HangFault fault = kFaults[static_cast<size_t>(i) % std::size(kFaults)];
    const size_t rank = below(static_cast<size_t>(ranks));
    size_t at = below(5 * kIterations - 1);
    if (fault == HangFault::kSwaps) at = at / 5 * 5 + 3;  // collectives that depend on each other
    job.plant(fault, rank, at);
    const std::vector<RankHang> ends = job.run(1 + below(12));
    if (std::ranges::all_of(ends, [](const RankHang& of) { return of.state == RankState::kEnded; }))
      continue;
    ++hung;
    const JobHang hang = explain(through_notes(ends));
    const bool both = ranks == 2 && hang.kind == JobHangKind::kOrder;
    right += both ? hang.culprits.size() == 2
                  : hang.culprits == std::vector<int32_t>{static_cast<int32_t>(rank)};
  }
  EXPECT_GE(hung, jobs * 7 / 10);
  EXPECT_GE(right, hung * 95 / 100) << ranks << " ranks: " << right << " of " << hung;
}

// The same of jobs whose ranks send to each other.
void plant_in_pipelines(int stages, int pipelines, int all_jobs) {
  const int jobs = test::sample_of(all_jobs);
  std::mt19937 random(static_cast<unsigned>(stages * 100 + pipelines));
  const auto below = [&](size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random);
  };
  constexpr HangFault kPlanted[] = {HangFault::kDies, HangFault::kSkips, HangFault::kNeverRecorded,
                                    HangFault::kLock, HangFault::kEndless};
  int right = 0, hung = 0;
  for (int i = 0; i < jobs; ++i) {
    HungJob job = HungJob::of_pipelines(stages, pipelines, 3);
    const size_t rank = below(static_cast<size_t>(stages) * static_cast<size_t>(pipelines));
    job.plant(kPlanted[static_cast<size_t>(i) % std::size(kPlanted)], rank,
              below(job.calls_of(rank)));
    const std::vector<RankHang> ends = job.run(1 + below(12));
    if (std::ranges::all_of(ends, [](const RankHang& of) { return of.state == RankState::kEnded; }))
      continue;
    ++hung;
    const JobHang hang = explain(through_notes(ends));
    const auto culprit = static_cast<int32_t>(rank);
    // Of two ranks that wait for each other, neither is known to have left out a message.
    right += hang.kind == JobHangKind::kOrder
                 ? hang.culprits.size() == 2 && std::ranges::count(hang.culprits, culprit) == 1
                 : hang.culprits == std::vector{culprit};
  }
  EXPECT_GE(hung, jobs * 7 / 10);
  EXPECT_GE(right, hung * 95 / 100) << stages << " stages: " << right << " of " << hung;
}

TEST(JobHang, FindsTheCulpritOf2Stages) { plant_in_pipelines(2, 1, 500); }
TEST(JobHang, FindsTheCulpritOf4PipelinesOf4Stages) { plant_in_pipelines(4, 4, 500); }
TEST(JobHang, FindsTheCulpritOf8PipelinesOf32Stages) { plant_in_pipelines(32, 8, 100); }

TEST(JobHang, FindsTheCulpritOf2Ranks) { plant_faults(2, 2, 700); }
TEST(JobHang, FindsTheCulpritOf8Ranks) { plant_faults(8, 4, 700); }
TEST(JobHang, FindsTheCulpritOf64Ranks) { plant_faults(64, 8, 210); }
TEST(JobHang, FindsTheCulpritOf1000Ranks) { plant_faults(1000, 8, 28); }

TEST(RanksText, NamesRanges) {
  EXPECT_EQ(ranks_text({17}), "rank 17");
  EXPECT_EQ(ranks_text({1, 0}), "ranks 0 and 1");
  EXPECT_EQ(ranks_text({0, 1, 2, 5, 7, 8, 9}), "ranks 0–2, 5 and 7–9");
  EXPECT_EQ(ranks_text({0, 2, 4, 6, 8, 10, 12, 14}), "ranks 0, 2, 4, 6, 8, 10 and 2 more");
}

}  // namespace
}  // namespace streamscope::job
