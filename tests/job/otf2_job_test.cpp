// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Jobs of MPI that were recorded as OTF2 archives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#if STREAMSCOPE_OTF2

#include <filesystem>

#include "chain.h"
#include "import/importer.h"
#include "job/job.h"
#include "job/summarize.h"
#include "support/otf2_archive.h"
#include "trace/read/reader.h"

namespace streamscope::job {
namespace {

namespace fs = std::filesystem;
using test::Otf2Archive;
using testing::ElementsAre;
using testing::IsEmpty;

class Otf2Job : public testing::Test {
 protected:
  static constexpr int kRanks = 4;

  Otf2Job() {
    std::string name = (fs::path(testing::TempDir()) / "otf2-job-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Otf2Job() override { fs::remove_all(folder_); }

  /// Twelve iterations of all ranks: they read their input, compute on the device and meet in an
  /// all-reduce; with `exchange` each sends to the next one before. Durations of the first two in
  /// µs, by rank.
  fs::path archive(const std::vector<int64_t>& reading, const std::vector<int64_t>& computing,
                   bool exchange = false) {
    Otf2Archive archive(folder_ / "a", {.ranks = kRanks});
    const uint32_t step = archive.region("step", OTF2_PARADIGM_USER), read = archive.region("read"),
                   exchanges = archive.region("MPI_Sendrecv", OTF2_PARADIGM_MPI);
    int64_t begin = 100;
    for (int iteration = 0; iteration < 12; ++iteration) {
      const auto computed = [&](size_t rank) {
        return begin + 2 + reading[rank] + 20 + computing[rank] + 10;
      };
      const auto arrival = [&](size_t rank) {
        return exchange ? std::max(computed(rank), computed((rank + 3) % kRanks)) + 10
                        : computed(rank);
      };
      int64_t end = 0;
      for (size_t rank = 0; rank < kRanks; ++rank) end = std::max(end, arrival(rank) + 50);
      for (size_t rank = 0; rank < kRanks; ++rank) {
        const uint64_t thread = rank;
        archive.enter(thread, begin + 1, step);
        archive.enter(thread, begin + 2, read);
        const int64_t launch = begin + 2 + reading[rank];
        archive.leave(thread, launch, read);
        archive.call(thread, "cudaLaunchKernel", launch, launch + 5, {.stream = 0});
        archive.call(thread, "cudaStreamSynchronize", launch + 6, computed(rank) - 5,
                     {.stream = 0});
        archive.kernel(Otf2Archive::stream(static_cast<int>(rank)), "compute()", launch + 20,
                       launch + 20 + computing[rank]);
        if (exchange) {
          const auto next = static_cast<uint32_t>((rank + 1) % kRanks),
                     before = static_cast<uint32_t>((rank + 3) % kRanks);
          archive.enter(thread, computed(rank), exchanges);
          OTF2_EvtWriter_MpiSend(archive.events(thread), nullptr,
                                 Otf2Archive::ticks(computed(rank)), next, Otf2Archive::kWorld, 1,
                                 4096);
          OTF2_EvtWriter_MpiRecv(archive.events(thread), nullptr, Otf2Archive::ticks(arrival(rank)),
                                 before, Otf2Archive::kWorld, 1, 4096);
          archive.leave(thread, arrival(rank), exchanges);
        }
        archive.collective(static_cast<int>(rank), "MPI_Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE,
                           arrival(rank), end, 64);
        archive.leave(thread, end + 1, step);
      }
      begin = end + 1;
    }
    return archive.close();
  }
  Job job_of(const fs::path& file) {
    StepReader reader;
    const fs::path out = folder_ / "part.sqlite";
    int32_t rank = 0;
    import::import_processes(
        import::importer_of(file), file, out, [&](const RankClaim& claim) {
          const trace::Trace trace = trace::read(out);
    analysis::Analyses analyses(trace);
    const RankSummary summary =
        summarize(analyses, {.rank = claim.rank, .world_size = claim.world_size});
    EXPECT_EQ(claim.rank, rank++);
    EXPECT_EQ(summary.incomplete, "");
    expect_sums(summary, "rank " + std::to_string(claim.rank));
    reader.add(summary);
  });
  EXPECT_EQ(rank, kRanks);
  return analyze(reader.take());
}

fs::path folder_;
};  // namespace

TEST_F(Otf2Job, NamesTheRankThatArrivesLastInMpiWithItsRegion) {
  const Job job = job_of(archive({200, 200, 3200, 200}, {1000, 1000, 1000, 1000}));
  EXPECT_THAT(job.matching.mismatches, IsEmpty());
  ASSERT_FALSE(job.delays.empty());
  EXPECT_THAT(job.delays[0].ranks, ElementsAre(2));
  EXPECT_EQ(job.delays[0].place, "read");
  EXPECT_NEAR(job.delays[0].cost_ns, 3'000'000, 100'000);
}

TEST_F(Otf2Job, FollowsADelayThroughMessages) {
  const Job job = job_of(archive({200, 200, 3200, 200}, {1000, 1000, 1000, 1000}, true));
  EXPECT_THAT(job.matching.mismatches, IsEmpty());
  ASSERT_FALSE(job.delays.empty());
  EXPECT_THAT(job.delays[0].ranks, ElementsAre(2));
  ASSERT_EQ(job.stragglers.size(), 1u);
  EXPECT_EQ(job.stragglers[0].rank_row, 2u);
  EXPECT_NEAR(job.stragglers[0].caused_ns, 3 * 3'000'000, 300'000);
}

TEST_F(Otf2Job, NamesTheRankWhoseKernelTakesLonger) {
  const Job job = job_of(archive({200, 200, 200, 200}, {1000, 2500, 1000, 1000}));
  ASSERT_FALSE(job.delays.empty());
  EXPECT_THAT(job.delays[0].ranks, ElementsAre(1));
  EXPECT_EQ(job.delays[0].share, analysis::TimeShare::kKernels);
  EXPECT_NEAR(job.delays[0].cost_ns, 1'500'000, 100'000);
}

TEST_F(Otf2Job, AccusesNobodyWhereAllArriveTogether) {
  const Job job = job_of(archive({200, 200, 200, 200}, {1000, 1000, 1000, 1000}));
  EXPECT_THAT(job.delays, IsEmpty());
}

}  // namespace streamscope::job
}  // namespace streamscope::job

#else

TEST(Otf2Job, NeedsTheLibrary) { GTEST_SKIP() << "built without libopen-trace-format2-dev"; }

#endif
