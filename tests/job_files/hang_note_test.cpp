// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/files/hang_note.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "job/files/packed_file.h"
#include "support/scratch.h"
#include "trace/error.h"

namespace streamscope::job {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

HangNote note_of(int32_t rank, const std::string& host = "node1") {
  HangNote note;
  note.rank.identity = {.rank = rank,
                        .world_size = 4,
                        .local_rank = 0,
                        .host = host,
                        .gpu = {},
                        .told_by = "RANK",
                        .trace = fmt::format("rank-{:05}.sqlite", rank)};
  note.rank.state = RankState::kQuiet;
  note.rank.reason = "makes no progress";
  note.rank.calls = {{.communicator = "0xd0",
                      .size = 4,
                      .sequence = 12,
                      .issued = 14,
                      .kind = CollectiveKind::kAllReduce,
                      .bytes = 4096,
                      .started = true}};
  note.pid = 4711;
  note.progress_ns = 1'790'000'000'000'000'000;
  note.written_ns = note.progress_ns + 1'500'000'000;
  note.asked_for_ms = 5000;
  note.renewed_within_ms = 3000;
  note.verdict = "rank 2 has not called all-reduce 12";
  return note;
}

FoundNote found(int32_t rank, std::chrono::milliseconds before, const std::string& host = "node1") {
  const HangNote note = note_of(rank, host);
  return {note, fs::file_time_type(1'000'000s) - before, note.written_ns};
}

TEST(HangNote, SurvivesItsFile) {
  const HangNote note = note_of(3);
  EXPECT_EQ(unpack_note(pack(note), "note"), note);
  const test::Scratch scratch;
  write_note(note, scratch.path() / "rank-00003.hang");
  const std::vector<FoundNote> notes = read_notes(scratch.path());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].note, note);
}

TEST(HangNote, StaysSmallAndKeepsWhatOthersWaitFor) {
  HangNote note = note_of(3);
  note.rank.calls.clear();
  for (uint32_t i = 0; i < 10'000; ++i) {
    note.rank.calls.push_back({.communicator = fmt::format("{:#018x}", i),
                               .sequence = 400'000 + i,
                               .issued = 500'000,
                               .bytes = uint64_t{1} << 40,
                               .started = true,
                               .ended = i != 9'876});
  }
  note.rank.reason = std::string(100'000, 'x');
  note.verdict = std::string(899, 'x') + "äöü" + std::string(5'000, 'y');
  note.rank.identity.host = std::string(5'000, 'h');
  const std::string bytes = pack(note);
  EXPECT_LE(bytes.size(), kMostNoteBytes);
  const HangNote read = unpack_note(bytes, "note");
  ASSERT_GT(read.rank.calls.size(), 20u);
  EXPECT_EQ(read.rank.calls[0].communicator, fmt::format("{:#018x}", 9'876));
  EXPECT_TRUE(read.rank.calls_are_missing);
  EXPECT_THAT(read.verdict, testing::EndsWith("…"));
}

TEST(HangNote, RefusesDamagedBytes) {
  const std::string good = pack(note_of(1));
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_THROW((void)unpack_note(good.substr(0, length), "note"), Error);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    EXPECT_THROW((void)unpack_note(bad, "note"), Error) << i;
  }
  // With a valid checksum: random messages are refused, or what they say can be written again.
  std::mt19937 random(1);
  const std::string_view message = std::string_view(good).substr(kPackedHeaderBytes);
  PackedKind kind{.magic = {}, .version = kHangNoteVersion, .what = "", .remedy = ""};
  std::copy_n(good.begin(), sizeof kind.magic, kind.magic);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bad(message);
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes)
      bad[random() % bad.size()] = static_cast<char>(random());
    try {
      const HangNote read = unpack_note(with_header(kind, bad), "note");
      EXPECT_LE(pack(read).size(), kMostNoteBytes);
      ++accepted;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(accepted, 100);
  std::string other = good;
  other[4] = 9;
  try {
    (void)unpack_note(other, "note");
    ADD_FAILURE() << "another version was accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is a note of a rank of version 9, not 2"));
  }
}

TEST(HangNotes, LeaveOutWhatCannotBeRead) {
  const test::Scratch scratch;
  write_note(note_of(0), scratch.path() / "rank-00000.hang");
  std::ofstream(scratch.path() / "rank-00001.hang") << "nonsense";
  std::ofstream(scratch.path() / "rank-00002.hang.part") << pack(note_of(2));
  EXPECT_EQ(read_notes(scratch.path()).size(), 1u);
}

TEST(HangNotes, OfALauncherInATaskOfSlurmAreNoRanks) {
  const test::Scratch scratch;
  HangNote launcher = note_of(1);
  launcher.rank.identity.told_by = "SLURM_PROCID";
  write_note(launcher, scratch.path() / "rank-00001-node-7.hang");
  EXPECT_EQ(read_notes(scratch.path()).size(), 1u);
  write_note(note_of(1), scratch.path() / "rank-00001.hang");
  const std::vector<FoundNote> notes = read_notes(scratch.path());
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].note.rank.identity.told_by, "RANK");
}

TEST(HangNotes, OfRecordersThatNobodyHasAskedAreAsOldAsTheirTraces) {
  const test::Scratch scratch;
  HangNote note = note_of(1);
  note.written_ns = 1;
  note.more_follows = true;
  write_note(note, scratch.path() / "rank-00001.hang");
  EXPECT_EQ(read_notes(scratch.path())[0].last_sign_ns, 1);
  std::ofstream(scratch.path() / "rank-00001.sqlite-wal") << "rows";
  EXPECT_GT(read_notes(scratch.path())[0].last_sign_ns, 1'700'000'000'000'000'000);
}

TEST(HangNotes, ThatAreRenewedAreOfLiveRanks) {
  bool waits = true;
  const auto ranks =
      ranks_of({found(0, 0s), found(1, 900ms), found(2, 2900ms), found(3, 1s)}, &waits);
  for (const RankHang& rank : ranks) EXPECT_EQ(rank.state, RankState::kQuiet);
  EXPECT_FALSE(waits);
}

TEST(HangNotes, SayWhichHostIsSilentAndSinceWhen) {
  const auto ranks =
      ranks_of({found(0, 0s), found(1, 100ms), found(2, 9s, "node7"), found(3, 9s, "node7")});
  EXPECT_EQ(ranks[0].state, RankState::kQuiet);
  EXPECT_EQ(ranks[2].state, RankState::kLost);
  EXPECT_EQ(ranks[2].reason,
            "has written nothing since 14:13:21 UTC, and nobody on its host node7 has");
  EXPECT_EQ(ranks[3].state, RankState::kLost);
}

TEST(HangNotes, SayThatOnlyARecorderIsSilent) {
  const auto ranks = ranks_of({found(0, 0s), found(1, 9s), found(2, 0s), found(3, 0s)});
  EXPECT_EQ(ranks[1].state, RankState::kLost);
  EXPECT_THAT(ranks[1].reason, HasSubstr("though others on its host node1 have"));
}

TEST(HangNotes, AreWaitedForUntilTheyMustHaveCome) {
  FoundNote first = found(0, 0s);
  first.note.asked_for_ms = 1000;
  bool waits = false;
  // Rank 1 wrote one long ago, when nobody asked; ranks 2 and 3 never did.
  (void)ranks_of({first, found(1, 60s)}, &waits);
  EXPECT_TRUE(waits);
  first.note.asked_for_ms = 3100;
  const auto ranks = ranks_of({first, found(1, 60s)}, &waits);
  EXPECT_FALSE(waits);
  ASSERT_EQ(ranks.size(), 4u);
  for (size_t rank = 1; rank < 4; ++rank) EXPECT_EQ(ranks[rank].state, RankState::kLost) << rank;
}

TEST(HangNotes, ThatAreTheLastOfTheirRankStay) {
  FoundNote ended = found(1, 60s);
  ended.note.renewed_within_ms = 0;
  ended.note.asked_for_ms = 0;
  ended.note.rank.state = RankState::kDied;
  bool waits = true;
  const auto ranks = ranks_of({found(0, 0s), ended, found(2, 0s), found(3, 0s)}, &waits);
  EXPECT_EQ(ranks[1].state, RankState::kDied);
  EXPECT_FALSE(waits);
}

TEST(HangNotes, OfARecorderThatReadsItsTraceAreWaitedFor) {
  FoundNote reads = found(1, 8s);
  reads.note.renewed_within_ms = 60'000;
  reads.note.more_follows = true;
  bool waits = false;
  const auto ranks = ranks_of({found(0, 0s), reads, found(2, 0s), found(3, 0s)}, &waits);
  EXPECT_EQ(ranks[1].state, RankState::kQuiet);
  EXPECT_TRUE(waits);
}

}  // namespace
}  // namespace streamscope::job
