// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "vocabulary/threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

#include "support/sanitized.h"

namespace streamscope {
namespace {

TEST(ForEachPart, DoesEachPartOnce) {
  for (const size_t count : {0, 1, 2, 1000}) {
    std::vector<int> done(count);
    for_each_part(count, [&](size_t part) { ++done[part]; });
    EXPECT_THAT(done, testing::Each(1)) << count;
  }
}

TEST(ForEachPart, ThrowsWhatAPartThrew) {
  for (const size_t bad : {0, 1, 99}) {
    const auto fail = [&](size_t part) {
      if (part == bad) throw std::runtime_error("no memory");
    };
    EXPECT_THROW(for_each_part(100, fail), std::runtime_error) << bad;
  }
}

// Stacks of threads need 8 MiB of addresses.
void leave_no_room_for_threads() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t room = rlim_t{1} << 20;
  const rlimit limit{pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + room, RLIM_INFINITY};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  EXPECT_THROW(std::thread([] {}).join(), std::system_error);
}

TEST(ForEachPart, DoesAllWhereNoThreadCanBeStarted) {
  if (test::kSanitized) GTEST_SKIP() << "needs much more room";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    leave_no_room_for_threads();
    std::vector<int> done(100);
    for_each_part(done.size(), [&](size_t part) { ++done[part]; });
    const bool ok = run_beside([] { return 7; }).get() == 7 && done == std::vector<int>(100, 1);
    _exit(ok && !testing::Test::HasFailure() ? 0 : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace streamscope
