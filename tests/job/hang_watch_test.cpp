// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/hang_watch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "support/scratch.h"

namespace streamscope::job {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Clock = HangWatch::Clock;

// Recorders of ranks that all call the same collectives, with times as in use, but shorter.
class WatchedJob {
 public:
  explicit WatchedJob(int32_t ranks) {
    for (int32_t number = 0; number < ranks; ++number) {
      auto rank = std::make_unique<Rank>();
      rank->hang.calls = {{.communicator = "0xd0", .size = ranks, .started = true}};
      rank->hang.state = RankState::kQuiet;
      rank->status = {.is_watched = true,
                      .has_ended = false,
                      .is_final = false,
                      .pid = 100 + number,
                      .moved = 1};
      rank->watch = std::make_unique<HangWatch>(
          scratch_.path() / fmt::format("rank-{:05}.hang", number),
          RankIdentity{.rank = number,
                       .world_size = ranks,
                       .local_rank = number,
                       .host = "node1",
                       .gpu = {},
                       .told_by = "RANK",
                       .trace = {}},
          HangWatch::Work{
              .ask = [rank = rank.get()] { rank->status.is_asking = rank->device_answers_late; },
              .look =
                  [rank = rank.get()](bool) {
                    ++rank->looks;
                    return rank->hang;
                  },
              .report =
                  [rank = rank.get()](const std::string& text) { rank->reports.push_back(text); }},
          HangWatchTimes{
              .quiet_s = 0.15s, .between_notes = 60ms, .between_looks = 30ms, .verdict_s = 0.3s});
      ranks_.push_back(std::move(rank));
    }
  }

  struct Rank {
    std::unique_ptr<HangWatch> watch;
    RankHang hang;
    RankStatus status;
    bool recorder_runs = true, moves = false, device_answers_late = false;
    int looks = 0;
    std::vector<std::string> reports;
  };
  Rank& operator[](size_t rank) { return *ranks_[rank]; }
  const std::filesystem::path& folder() const { return scratch_.path(); }

  void run(Clock::duration time) {
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
      for (const auto& rank : ranks_) {
        rank->status.moved += rank->moves;
        if (rank->recorder_runs) rank->watch->step(rank->status);
      }
      std::this_thread::sleep_for(5ms);
    }
  }
  void all_move(bool move) {
    for (const auto& rank : ranks_) rank->moves = move;
  }

 private:
  test::Scratch scratch_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

TEST(HangWatch, SaysOnlyWhoItIsWhileItsRankMoves) {
  WatchedJob job(2);
  const std::vector<FoundNote> before = read_notes(job.folder());
  job.all_move(true);
  job.run(500ms);
  EXPECT_EQ(read_notes(job.folder()), before);
  ASSERT_THAT(before, SizeIs(2));
  EXPECT_EQ(before[1].note.rank.identity.host, "node1");
  EXPECT_TRUE(before[1].note.more_follows);
  EXPECT_EQ(job[0].looks, 0);
}

TEST(HangWatch, ReportsTheRankThatOthersWaitForOnEachRank) {
  WatchedJob job(3);
  job[1].hang.calls[0].started = false;
  job[1].hang.reason = "is outside CUDA";
  job.run(600ms);
  for (size_t rank = 0; rank < 3; ++rank) {
    ASSERT_THAT(job[rank].reports, SizeIs(1)) << rank;
    EXPECT_THAT(job[rank].reports[0], HasSubstr("the job has made no progress for 0."));
    EXPECT_THAT(job[rank].reports[0],
                HasSubstr("rank 1 has not begun collective 0 of communicator 0xd0: it is outside "
                          "CUDA\n  ranks 0 and 2 wait in"));
    EXPECT_THAT(job[rank].reports[0],
                HasSubstr("rank 1 is process 101 on node1; its last progress"));
  }
  EXPECT_THAT(read_notes(job.folder())[0].note.verdict, HasSubstr("rank 1 has not begun"));
}

TEST(HangWatch, LooksOnceTheDeviceHasAnswered) {
  WatchedJob job(2);
  job[1].hang.calls[0].started = false;
  job[0].device_answers_late = true;
  job.run(450ms);
  EXPECT_EQ(job[0].looks, 0);
  EXPECT_EQ(job[1].looks, 1);
  // What the answer brings is not progress.
  job[0].status.moved += 3;
  job[0].status.is_asking = false;
  job.run(100ms);
  EXPECT_EQ(job[0].looks, 1);
  EXPECT_THAT(job[0].reports, SizeIs(1));
}

TEST(HangWatch, ReportsADeadRankAsSoonAsAllHaveAnswered) {
  WatchedJob job(3);
  job[2].hang.state = RankState::kDied;
  job[2].hang.reason = "was ended by signal 9 (Killed)";
  job[2].hang.calls[0].started = false;
  job[2].status = {
      .is_watched = false, .has_ended = true, .is_final = true, .pid = 102, .moved = 2};
  job.run(280ms);
  ASSERT_THAT(job[0].reports, SizeIs(1));
  EXPECT_THAT(job[0].reports[0], HasSubstr("the job hangs: rank 2 has not begun collective 0"));
  EXPECT_THAT(job[0].reports[0], HasSubstr("was ended by signal 9 (Killed)"));
  EXPECT_THAT(job[2].reports, IsEmpty());
}

TEST(HangWatch, AsksRanksThatMoveAndBlamesNoneOfThem) {
  WatchedJob job(3);
  job[1].hang.calls[0].started = false;
  job[1].moves = true;
  job.run(600ms);
  const std::vector<FoundNote> notes = read_notes(job.folder());
  ASSERT_THAT(notes, SizeIs(3));
  EXPECT_EQ(notes[1].note.rank.state, RankState::kRuns);
  for (size_t rank = 0; rank < 3; ++rank) EXPECT_THAT(job[rank].reports, IsEmpty()) << rank;
}

TEST(HangWatch, ReportsAgainOnlyAfterProgressAndThenLater) {
  WatchedJob job(2);
  job[1].hang.calls[0].started = false;
  job.run(450ms);
  EXPECT_THAT(job[0].reports, SizeIs(1));
  job.all_move(true);
  job.run(100ms);
  job.all_move(false);
  job.run(450ms);
  EXPECT_THAT(job[0].reports, SizeIs(1));  // it takes twice the time now
  job.run(450ms);
  EXPECT_THAT(job[0].reports, SizeIs(2));
}

TEST(HangWatch, ARecorderThatIsGoneIsNoticed) {
  WatchedJob job(3);
  job[1].recorder_runs = false;
  job.run(2000ms);
  EXPECT_THAT(job[0].reports, IsEmpty());  // it may still answer
  job.run(1200ms);
  ASSERT_THAT(job[0].reports, SizeIs(1));
  EXPECT_THAT(job[0].reports[0], HasSubstr("rank 1 is missing in collective 0"));
  EXPECT_THAT(job[0].reports[0], HasSubstr("it has written nothing since "));
  EXPECT_THAT(job[0].reports[0], HasSubstr(", though others on its host node1 have"));
}

TEST(HangWatch, TheLastNoteSaysHowTheRankEnded) {
  WatchedJob job(2);
  job[0].hang.state = RankState::kEnded;
  job[0].status.has_ended = true;
  job[0].status.is_final = true;
  job.run(100ms);
  const std::vector<FoundNote> notes = read_notes(job.folder());
  ASSERT_THAT(notes, SizeIs(2));
  EXPECT_EQ(notes[0].note.rank.state, RankState::kEnded);
  EXPECT_EQ(notes[0].note.renewed_within_ms, 0u);
  EXPECT_FALSE(notes[0].note.more_follows);
  EXPECT_EQ(job[0].looks, 1);
}

}  // namespace
}  // namespace streamscope::job
