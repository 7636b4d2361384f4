// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The 8 ranks of PARAM's DLRM job, which other people published: $STREAMSCOPE_RANKS names the
// folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/usage/collectives.h"
#include "chain.h"
#include "import/importer.h"
#include "job/summarize.h"
#include "job/summary_file.h"
#include "trace/read/reader.h"

namespace streamscope::job {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::SizeIs;

class PublicJob : public testing::Test {
 protected:
  void SetUp() override {
    const char* ranks = std::getenv("STREAMSCOPE_RANKS");
    const fs::path archive =
        fs::path(ranks != nullptr ? ranks : "") / "dlrm-8-ranks/dlrm_kineto.tar.gz";
    if (!fs::exists(archive)) GTEST_SKIP() << "STREAMSCOPE_RANKS names no folder of public jobs";
    std::string name = (fs::path(testing::TempDir()) / "job-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    const std::string unpack = "tar -xzf '" + archive.string() + "' -C '" + folder_.string() + "'";
    ASSERT_EQ(std::system(unpack.c_str()), 0);
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.path().extension() == ".json") profiles_.push_back(entry.path());
    }
    std::ranges::sort(profiles_);
    ASSERT_THAT(profiles_, SizeIs(8));
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  trace::Trace import(const fs::path& profile) {
    const fs::path file = folder_ / "trace.sqlite";
    import::import_file(import::importer_of(profile), profile, file, true);
    return trace::read(file);
  }

  fs::path folder_;
  std::vector<fs::path> profiles_;
};

TEST_F(PublicJob, HasTheSameCollectivesOnAllRanks) {
  for (const fs::path& profile : profiles_) {
    std::vector<std::string> found;
    for (const analysis::Collective& one : analysis::collectives(import(profile))) {
      found.push_back(one.communicator + " " + std::to_string(one.sequence) + " " +
                      std::string(streamscope::name_of(kCollectiveKinds, one.kind)));
      EXPECT_GT(one.bytes, 0);
      EXPECT_LT(one.issued_ns, one.start_ns);
    }
    EXPECT_THAT(found,
                ElementsAre("default 0 all-to-all", "default 1 all-to-all", "default 2 all-to-all",
                            "default 3 all-to-all", "default 4 all-reduce", "default 5 all-to-all",
                            "default 6 all-reduce", "default 7 all-reduce"))
        << profile;
  }
}

TEST_F(PublicJob, IsSummarizedSoThatTheTimesAddUp) {
  size_t waited_for_first = 0;
  for (const fs::path& profile : profiles_) {
    const trace::Trace trace = import(profile);
    analysis::Analyses analyses(trace);
    const RankSummary summary = summarize(analyses, {});
    expect_sums(summary, profile.filename());
    EXPECT_EQ(unpack(pack(summary), profile), summary);
    ASSERT_THAT(summary.iterations, SizeIs(1));  // one step was profiled
    const RankIteration& step = summary.iterations[0];
    EXPECT_THAT(step.collectives, SizeIs(8));
    EXPECT_LT(pack(summary).size(), 3000u);
    // In the collectives the ranks wait for each other up to 7.6 ms, their hosts with them. None of
    // it is in their own work.
    for (const Segment& segment : step.segments)
      EXPECT_LT(segment.shares[static_cast<size_t>(analysis::TimeShare::kSynchronizing)], 100'000)
          << profile;
    waited_for_first += step.segments[1].after == 0;
  }
  EXPECT_EQ(waited_for_first, 5u);  // three were late themselves
}

}  // namespace
}  // namespace streamscope::job
