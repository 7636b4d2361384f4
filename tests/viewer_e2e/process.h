// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Child processes for the tests of the real program.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace streamscope::test {

/// True if the program is on PATH.
bool is_installed(const std::string& program);

/// A child that is ended and reaped when this goes out of scope.
class Process {
 public:
  /// Starts `words`, with `environment` ("NAME=VALUE", "NAME" = removed) changed. `pass_fd` stays
  /// open in the child.
  explicit Process(const std::vector<std::string>& words,
                   const std::vector<std::string>& environment = {},
                   const std::string& stderr_file = "/dev/null", int pass_fd = -1);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Waits for the end and returns the exit code, 128 + n after signal n.
  int wait();
  bool is_running();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int status_ = 0;
};

/// Runs to the end; the exit code.
int run(const std::vector<std::string>& words, const std::vector<std::string>& environment = {},
        const std::string& stderr_file = "/dev/null");

}  // namespace streamscope::test
