// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A time limit for tests whose failure would be a hang: threads that wait for each other, a device
// that makes no progress. Waits without a time limit cannot be aborted, so the program ends.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>

namespace streamscope::test {

/// Unless it is destroyed in time, the program prints which test hangs and where, and exits with 1.
/// One at a time; in the child of a fork() it must be created again.
class Deadline {
 public:
  explicit Deadline(const std::string& what, unsigned seconds = 30) {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    message() = std::string("[  FAILED  ] ") + test.test_suite_name() + "." + test.name() +
                ": hangs for " + std::to_string(seconds) + " s: " + what + "\n";
    std::signal(SIGALRM, [](int) {
      (void)!::write(STDERR_FILENO, message().data(), message().size());
      ::_exit(1);
    });
    ::alarm(seconds);
  }
  ~Deadline() { ::alarm(0); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  static std::string& message() {
    static std::string text;
    return text;
  }
};

}  // namespace streamscope::test
