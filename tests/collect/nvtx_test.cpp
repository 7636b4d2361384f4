// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// NVTX as the collector records it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "observed.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;
using ::testing::SizeIs;

TEST(Nvtx, RangesMarksAndNamesAreRecorded) {
  Observed run;
  ASSERT_EQ(run.run_child("nvtx"), 0) << run.error_text();
  const auto pushes = run.all<ring::RangeRecord>(RecordKind::kRangePush);
  ASSERT_THAT(pushes, SizeIs(2));
  EXPECT_EQ(run.text(pushes[0].name), "open at start");  // opened before CUDA was loaded
  EXPECT_EQ(run.text(pushes[1].name), "registered");
  EXPECT_EQ(run.text(pushes[1].domain), "my domain");
  EXPECT_EQ(pushes[1].category, 7);
  EXPECT_EQ(pushes[1].color, 0xff102030);
  EXPECT_EQ(pushes[1].payload, 99u);
  EXPECT_LT(pushes[0].begin, pushes[1].begin);
  EXPECT_THAT(run.all<ring::RangeRecord>(RecordKind::kRangePop), SizeIs(2));
  const auto marks = run.all<ring::RangeRecord>(RecordKind::kMark);
  ASSERT_THAT(marks, SizeIs(1));
  EXPECT_EQ(run.text(marks[0].name),
            "gr\xc3\xb6\xc3\x9f"
            "e");
  const auto starts = run.all<ring::RangeRecord>(RecordKind::kRangeStart);
  const auto ends = run.all<ring::RangeRecord>(RecordKind::kRangeEnd);
  ASSERT_THAT(starts, SizeIs(1));
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_EQ(starts[0].id, ends[0].id);
  EXPECT_NE(starts[0].tid, ends[0].tid);
  std::map<int, std::string> names;
  for (const auto& name : run.all<ring::NameRecord>(RecordKind::kName))
    names[name.object_kind] = run.text(name.name);
  EXPECT_EQ(names[static_cast<int>(ring::ObjectKind::kStream)], "copies");
  EXPECT_EQ(names[static_cast<int>(ring::ObjectKind::kEvent)], "done");
  EXPECT_EQ(names[static_cast<int>(ring::ObjectKind::kThread)], "the main thread");
}

}  // namespace
}  // namespace streamscope::collect
