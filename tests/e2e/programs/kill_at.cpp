// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

//   kill_at N COMMAND [ARG...]
//
// Runs the command and kills it just before the N-th system call by which it changes files. Exit
// code 0: it was killed there; 1: it ended before.
#include <sys/wait.h>

#include <cstdlib>

#include "support/kill_points.h"

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const int status = kill_points::run(std::atol(arguments[1]), [&] {
    ::execvp(arguments[2], arguments + 2);
    ::_exit(127);
  });
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 1;
}
