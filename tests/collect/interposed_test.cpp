// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Calls through wrapped functions, with a stand-in driver that has every function.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "observed.h"

namespace streamscope::collect {
namespace {

class Interposed : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    NEEDS_PRELOADING();
    run_.control().tier = Tier::kStructure;
    run_.set("LD_PRELOAD", COLLECT_CALLS_LIBRARY ":" COLLECT_LIBRARY);
  }
  int run(const std::string& scenario) { return run_.run({COLLECT_INTERPOSED_CHILD, scenario}); }

  Observed run_;
};

// The child checks that the driver is reached once, with the same arguments and result.
TEST_P(Interposed, EveryFunctionIsRecordedOnce) {
  ASSERT_EQ(run(GetParam()), 0) << run_.output_text() << run_.error_text();
  std::istringstream lines(run_.output_text());
  std::string name;
  int per_thread = 0, result = 0;
  size_t next = 0;
  const std::vector<ring::CallRecord> calls = run_.calls();
  while (lines >> name >> per_thread >> result) {
    ASSERT_LT(next, calls.size()) << name;
    EXPECT_EQ(name_of(calls[next]), name);
    EXPECT_EQ((calls[next].flags & ring::kPerThread) != 0, per_thread != 0) << name;
    EXPECT_EQ(calls[next].result, result) << name;
    ++next;
  }
  EXPECT_EQ(next, calls.size());
  EXPECT_GT(next, 200u);
  EXPECT_EQ(run_.error_text(), "");
}
INSTANTIATE_TEST_SUITE_P(Ways, Interposed,
                         ::testing::Values("linked", "dlsym", "dlvsym", "default", "address"),
                         [](const auto& way) { return std::string(way.param); });

}  // namespace
}  // namespace streamscope::collect
