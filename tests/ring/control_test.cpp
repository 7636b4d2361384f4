// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What collectors wait for.
#include "ring/control.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace streamscope::ring {
namespace {

using namespace std::chrono_literals;
using WaitClock = std::chrono::steady_clock;

constexpr int64_t kLimitNs = 900'000'000;

class ControlFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "control-XXXXXX";
    file_ = ::mkstemp(pattern.data());
    ASSERT_GE(file_, 0);
    ::unlink(pattern.c_str());
    ASSERT_EQ(::ftruncate(file_, sizeof(Control)), 0);
    control_ = map(PROT_READ | PROT_WRITE);
    ASSERT_NE(control_, nullptr);
  }
  void TearDown() override { ::close(file_); }

  Control* map(int access) const {
    void* const mapped = ::mmap(nullptr, sizeof(Control), access, MAP_SHARED, file_, 0);
    return mapped == MAP_FAILED ? nullptr : static_cast<Control*>(mapped);
  }

  int file_ = -1;
  Control* control_ = nullptr;
};

TEST_F(ControlFile, WakesAProcessThatMayOnlyReadIt) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Control* const own = map(PROT_READ);
    if (own == nullptr) _exit(2);
    const auto begin = WaitClock::now();
    wait_for_change(*own, 0, kLimitNs);
    _exit(own->changes.load() == 1 && WaitClock::now() - begin < 600ms ? 0 : 1);
  }
  std::this_thread::sleep_for(100ms);
  announce_change(*control_);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(ControlFile, IsNotWaitedForIfItHasChanged) {
  const uint32_t seen = control_->changes.load();
  announce_change(*control_);
  const auto begin = WaitClock::now();
  wait_for_change(*control_, seen, kLimitNs);
  EXPECT_LT(WaitClock::now() - begin, 600ms);
}

TEST_F(ControlFile, IsWaitedForUpToTheLimit) {
  const auto begin = WaitClock::now();
  wait_for_change(*control_, control_->changes.load(), 50'000'000);
  EXPECT_GE(WaitClock::now() - begin, 49ms);
}

}  // namespace
}  // namespace streamscope::ring
