// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "ring/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/descriptor_limit.h"

namespace streamscope::ring {
namespace {

TEST(Process, IsKnownByPidAndStartTime) {
  const uint64_t start = process_start(getpid());
  EXPECT_GT(start, 0u);
  EXPECT_TRUE(process_alive(getpid(), start));
  EXPECT_FALSE(process_alive(getpid(), start + 1));
  EXPECT_EQ(process_start(0x7fffffff), 0u);

  const pid_t child = fork();
  if (child == 0) _exit(0);
  const uint64_t child_start = process_start(child);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(process_alive(child, child_start)) << "a zombie runs no code";
  waitpid(child, nullptr, 0);
}

TEST(Process, IsAssumedAliveWhileNoDescriptorIsFree) {
  const uint64_t start = process_start(getpid());
  const DescriptorLimit none(0);
  EXPECT_TRUE(process_alive(getpid(), start));
  EXPECT_FALSE(process_alive(0x7fffffff, start));
}

}  // namespace
}  // namespace streamscope::ring
