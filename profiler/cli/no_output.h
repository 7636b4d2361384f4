// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// For programs that run again and again.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "ring/descriptor.h"
#include "trace/descriptor.h"

namespace streamscope::cli {

/// What programs print on standard output while it exists is lost.
class NoOutput {
 public:
  NoOutput() {
    const Descriptor nothing(ring::open_high("/dev/null", O_WRONLY | O_CLOEXEC));
    std::fflush(stdout);
    ::dup2(nothing.get(), STDOUT_FILENO);
  }
  ~NoOutput() { ::dup2(before_.get(), STDOUT_FILENO); }
  NoOutput(const NoOutput&) = delete;
  NoOutput& operator=(const NoOutput&) = delete;

 private:
  Descriptor before_{::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
};

}  // namespace streamscope::cli
