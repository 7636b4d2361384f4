// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// NVTX in a program that another tool records too: both get every call, and the program and the
// tool see what they see without us.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "observed.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;
using ::testing::ElementsAre;

std::vector<std::string> texts(const Observed& run, RecordKind kind) {
  std::vector<std::string> found;
  for (const auto& range : run.all<ring::RangeRecord>(kind)) found.push_back(run.text(range.name));
  return found;
}

class NvtxChain : public ::testing::Test {
 protected:
  void SetUp() override {
    NEEDS_PRELOADING();
    prepare(run_, COLLECT_LIBRARY);
  }
  void prepare(Observed& run, const std::string& preloaded) {
    run.control().tier = Tier::kStructure;
    run.set("LD_PRELOAD", COLLECT_CALLS_LIBRARY ":" + preloaded);
  }

  // What program and tool print without us.
  std::string alone(const std::vector<std::string>& command) {
    Observed other;
    other.set("LD_PRELOAD", "");
    other.set("NVTX_INJECTION64_PATH", COLLECT_NVTX_TOOL);
    EXPECT_EQ(other.run(command), 0) << other.error_text();
    EXPECT_THAT(other.output_text(), ::testing::HasSubstr("tool: push step\n"));
    return other.output_text();
  }
  void expect_ours() {
    EXPECT_THAT(texts(run_, RecordKind::kRangePush),
                ElementsAre("step", "registered", "registered"));
    EXPECT_EQ(texts(run_, RecordKind::kRangePop).size(), 3u);
    EXPECT_THAT(texts(run_, RecordKind::kMark), ElementsAre("here", "only ours"));
    const auto pushes = run_.all<ring::RangeRecord>(RecordKind::kRangePush);
    EXPECT_EQ(run_.text(pushes.at(1).domain), "my domain");
    const auto starts = run_.all<ring::RangeRecord>(RecordKind::kRangeStart);
    const auto ends = run_.all<ring::RangeRecord>(RecordKind::kRangeEnd);
    ASSERT_EQ(starts.size(), 1u);
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(starts[0].id, ends[0].id);
    EXPECT_EQ(run_.text(starts[0].name), "interval");
  }

  Observed run_;
};

TEST_F(NvtxChain, BothGetEveryCall) {
  run_.set("NVTX_INJECTION64_PATH", COLLECT_NVTX_TOOL);
  ASSERT_EQ(run_.run({COLLECT_NVTX_PROGRAM}), 0) << run_.error_text();
  EXPECT_EQ(run_.output_text(), alone({COLLECT_NVTX_PROGRAM}));
  EXPECT_EQ(run_.error_text(), "");
  expect_ours();
}

TEST_F(NvtxChain, APreloadedToolThatNamesItsLibraryItselfIsPassedOnTo) {
  for (const char* order :
       {COLLECT_NVTX_TOOL ":" COLLECT_LIBRARY, COLLECT_LIBRARY ":" COLLECT_NVTX_TOOL}) {
    Observed run;
    prepare(run, order);
    run.set("FAKE_TOOL_NAMES", COLLECT_NVTX_TOOL);
    ASSERT_EQ(run.run({COLLECT_NVTX_PROGRAM}), 0) << run.error_text();
    EXPECT_EQ(run.output_text(), alone({COLLECT_NVTX_PROGRAM})) << order;
    EXPECT_THAT(texts(run, RecordKind::kRangePush), ElementsAre("step", "registered", "registered"))
        << order;
  }
}

TEST_F(NvtxChain, AToolThatRefusesGetsNothing) {
  run_.set("NVTX_INJECTION64_PATH", COLLECT_NVTX_TOOL);
  run_.set("FAKE_TOOL_REFUSES", "1");
  ASSERT_EQ(run_.run({COLLECT_NVTX_PROGRAM}), 0) << run_.error_text();
  EXPECT_THAT(run_.output_text(), ::testing::Not(::testing::HasSubstr("tool:")));
  EXPECT_THAT(run_.output_text(), ::testing::HasSubstr("push 0\npop 0\n"));
  expect_ours();
}

TEST_F(NvtxChain, AToolThatCannotBeLoadedIsLeftOut) {
  run_.set("NVTX_INJECTION64_PATH", "/nonexistent/libtool.so");
  ASSERT_EQ(run_.run({COLLECT_NVTX_PROGRAM}), 0) << run_.error_text();
  EXPECT_THAT(run_.output_text(), ::testing::HasSubstr("extension 0, version 2 0\n"));
  expect_ours();
}

TEST_F(NvtxChain, AProgramThatItBecomesIsRecordedByBothToo) {
  const std::vector<std::string> command = {COLLECT_NVTX_PROGRAM, COLLECT_NVTX_PROGRAM};
  run_.set("NVTX_INJECTION64_PATH", COLLECT_NVTX_TOOL);
  ASSERT_EQ(run_.run(command), 0) << run_.error_text();
  EXPECT_EQ(run_.output_text(), alone(command));
  EXPECT_THAT(texts(run_, RecordKind::kRangePush),
              ElementsAre("step", "registered", "registered", "step", "registered", "registered"));
}

// Such as ncu, which refuses to go on where a library is named that would share the driver.
TEST_F(NvtxChain, AnotherToolFindsItsOwnVariable) {
  const std::filesystem::path tool = run_.folder() / "nsys";
  std::filesystem::create_symlink("/usr/bin/env", tool);
  run_.set("NVTX_INJECTION64_PATH", COLLECT_NVTX_TOOL);
  ASSERT_EQ(run_.run({"/usr/bin/env", "sh", "-c", "exec " + tool.string()}), 0)
      << run_.error_text();
  EXPECT_THAT(run_.output_text(),
              ::testing::HasSubstr("NVTX_INJECTION64_PATH=" COLLECT_NVTX_TOOL "\n"));
  EXPECT_THAT(run_.output_text(), ::testing::Not(::testing::HasSubstr("STREAMSCOPE_OTHER_NVTX")));
}

}  // namespace
}  // namespace streamscope::collect
