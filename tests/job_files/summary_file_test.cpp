// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/files/summary_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "trace/error.h"

namespace streamscope::job {
namespace {

using testing::HasSubstr;

RankSummary sample() {
  RankSummary summary;
  summary.identity = {.rank = 17,
                      .world_size = 64,
                      .local_rank = 1,
                      .host = "node2",
                      .gpu = "GPU-1",
                      .told_by = "RANK",
                      .trace = "rank17.sqlite"};
  summary.communicators = {{"dp0", 8, 3}, {"tp3", -1, -1}};
  summary.places = {"", "train.py:41 step"};
  summary.first_iteration = 5;
  summary.incomplete = "records are missing";
  summary.clock_start_ns = 1'790'000'000'000'000'000;
  RankIteration iteration{.start_ns = 1'000'000'000'000, .end_ns = 1'000'000'900'000};
  iteration.collectives = {{.communicator = 1,
                            .sequence = 288686,
                            .kind = CollectiveKind::kSend,
                            .bytes = uint64_t{1} << 40,
                            .peer = 3,
                            .stream = 7,
                            .issued_ns = 999'999'999'000,
                            .start_ns = 1'000'000'100'000,
                            .end_ns = 1'000'000'200'000},
                           {.sequence = 3}};
  iteration.segments.resize(3);
  iteration.segments[0].shares[0] = 100'000;
  iteration.segments[2].after = 0;
  iteration.segments[2].place = 1;
  iteration.segments[1].host_place = 1;
  iteration.segments[1].host_ns = 70'000;
  iteration.segments[2].device_ns = 650'000;
  iteration.alone_ns = 40'000;
  iteration.segments[2].shares[12] = 600'000;
  iteration.segments[2].shares[3] = 100'000;
  summary.iterations = {iteration, iteration};
  return summary;
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
std::string error_of_bytes(const std::string& bytes) {
  return error_of([&] { unpack(bytes, "rank17.summary"); });
}

TEST(SummaryFile, GivesBackWhatWasPacked) {
  EXPECT_EQ(unpack(pack(sample()), "x"), sample());
  RankSummary nothing;
  nothing.places = {""};
  EXPECT_EQ(unpack(pack(nothing), "x"), nothing);
}

TEST(SummaryFile, IsReadFromTheFileThatWasWritten) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "rank17.summary";
  write_summary(sample(), file);
  write_summary(sample(), file);
  EXPECT_EQ(read_summary(file), sample());
  std::filesystem::remove(file);
  EXPECT_THAT(error_of([&] { read_summary(file); }), HasSubstr("cannot be read"));
  EXPECT_THAT(error_of([&] { write_summary(sample(), file / "below"); }),
              HasSubstr("cannot be written"));
}

TEST(SummaryFile, RefusesOtherFilesAndVersions) {
  EXPECT_THAT(error_of_bytes(""), HasSubstr("rank17.summary: is not a summary of a rank"));
  EXPECT_THAT(error_of_bytes("SQLite format 3 and more"), HasSubstr("is not a summary of a rank"));
  std::string other = pack(sample());
  other[4] = 9;
  EXPECT_THAT(error_of_bytes(other), HasSubstr("is a summary of a rank of version 9, not 4"));
}

TEST(SummaryFile, RefusesDamagedBytes) {
  const std::string whole = pack(sample());
  for (size_t i = 8; i < whole.size(); ++i) {
    EXPECT_THAT(error_of_bytes(whole.substr(0, i)), HasSubstr("summary of a rank")) << i;
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    EXPECT_THAT(error_of_bytes(changed), HasSubstr("is a damaged summary of a rank")) << i;
  }
}

TEST(SummaryFile, RefusesInvalidValues) {
  const auto refused = [](const std::function<void(RankSummary&)>& change) {
    RankSummary summary = sample();
    change(summary);
    return error_of_bytes(pack(summary)).find("damaged") != std::string::npos;
  };
  EXPECT_FALSE(refused([](RankSummary&) {}));
  EXPECT_TRUE(refused([](RankSummary& s) { s.iterations[0].collectives[0].communicator = 2; }));
  EXPECT_TRUE(refused([](RankSummary& s) {
    s.iterations[0].collectives[0].kind = static_cast<CollectiveKind>(99);
  }));
  EXPECT_TRUE(refused([](RankSummary& s) { s.iterations[0].collectives[0].end_ns = 0; }));
  EXPECT_TRUE(refused([](RankSummary& s) { s.iterations[0].segments.pop_back(); }));
  EXPECT_TRUE(refused([](RankSummary& s) { s.iterations[0].segments[1].after = 1; }));
  EXPECT_TRUE(refused([](RankSummary& s) { s.iterations[0].segments[1].place = 2; }));
  EXPECT_TRUE(refused([](RankSummary& s) { s.iterations[0].segments[1].host_place = 2; }));
  EXPECT_TRUE(refused([](RankSummary& s) { s.iterations[0].segments[1].host_ns = -1; }));
  EXPECT_TRUE(refused([](RankSummary& s) { s.iterations[0].segments[1].device_ns = -1; }));
  EXPECT_TRUE(refused([](RankSummary& s) { s.iterations[0].alone_ns = -1; }));
  EXPECT_TRUE(refused([](RankSummary& s) { s.iterations[0].segments[1].shares[2] = Ns{1} << 62; }));
  EXPECT_TRUE(refused([](RankSummary& s) { s.iterations[0].start_ns = Ns{1} << 61; }));
  EXPECT_TRUE(refused([](RankSummary& s) { s.iterations[0].end_ns = 0; }));
  EXPECT_TRUE(refused([](RankSummary& s) { s.clock_start_ns = -1; }));
}

}  // namespace
}  // namespace streamscope::job
