// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A parent that uses CUDA and forks: a child that leaves by _exit, one that leaves by exit, both
// without CUDA, and one that executes this program again and uses CUDA. Every process with CUDA
// prints its own line.
//   forker [--child]
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

namespace {

int wait_for(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  const bool child = counted::flag(argc, argv, "--child");
  const driver::Functions functions = driver::load();
  driver::take_turns(functions, child ? 10 : 20);
  if (child) {
    counted::report("forker_child");
    return 0;
  }
  pid_t quick = fork();
  if (quick == 0) _exit(3);
  counted::expect("exit code of the child that left by _exit", 3, wait_for(quick));
  pid_t orderly = fork();
  if (orderly == 0) std::exit(4);
  counted::expect("exit code of the child that left by exit", 4, wait_for(orderly));
  pid_t again = fork();
  if (again == 0) {
    execl("/proc/self/exe", argv[0], "--child", static_cast<char*>(nullptr));
    _exit(127);
  }
  counted::expect("exit code of the child that used CUDA", 0, wait_for(again));
  driver::take_turns(functions, 20);
  counted::report("forker");
}
