// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Kills a process just before the n-th system call by which it changes what is stored in files.
// Between two of these calls nothing stored changes, so a sweep over n meets every state that a
// kill can leave.
#pragma once

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace kill_points {

/// A normal run of a test uses only one point in this many; ./dev nightly uses all.
inline long stride(long usual) { return std::getenv("STREAMSCOPE_ALL_KILLS") ? 1 : usual; }

inline bool changes_files(unsigned long call) {
  switch (call) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_copy_file_range:
    case SYS_sendfile:
    case SYS_ioctl:
    case SYS_fallocate:
    case SYS_ftruncate:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_rename:
    case SYS_renameat2:
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_rmdir:
    case SYS_mkdir:
    case SYS_chmod:
    case SYS_fchmod:
    case SYS_fchown:
    case SYS_close:  // gives locks back
      return true;
    default:
      return false;
  }
}

#if defined(__x86_64__)

/// Runs `body` in a child and kills it before its `n`-th such call, n from 1. Returns the child's
/// wait status: SIGKILL if it got that far. Follows its threads, not its children.
template <class Body>
int run(long n, const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    try {
      body();
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr,
           PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
  ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  for (pid_t thread; (thread = ::waitpid(-1, &status, __WALL)) > 0;) {
    if (!WIFSTOPPED(status)) {
      if (thread == child) break;
      continue;
    }
    int signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | 0x80)) {
      signal = 0;
      __ptrace_syscall_info info{};
      ::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info);
      if (info.op == PTRACE_SYSCALL_INFO_ENTRY && changes_files(info.entry.nr) && --n == 0)
        ::kill(child, SIGKILL);
    } else if (signal == SIGTRAP || signal == SIGSTOP) {
      signal = 0;  // a new thread or image
    }
    ::ptrace(PTRACE_SYSCALL, thread, nullptr, signal);
  }
  return status;
}

#endif

}  // namespace kill_points
