// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "job/files/rank_summary.h"

#include <gtest/gtest.h>

namespace streamscope::job {
namespace {

TEST(RankSummary, NamesACollective) {
  RankSummary summary;
  summary.communicators = {{.name = "dp0"}, {.name = "tp0"}};
  EXPECT_EQ(
      name_of(summary, {.communicator = 1, .sequence = 17, .kind = CollectiveKind::kAllReduce}),
      "all-reduce 17 of tp0");
}

}  // namespace
}  // namespace streamscope::job
