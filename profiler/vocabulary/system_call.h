// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The system calls of Linux in which a thread is said to wait. A trace numbers them as x86-64 does,
// so that every machine reads it alike.
#pragma once

namespace streamscope {

/// CALL(name, number on x86-64): those that every architecture has.
#define STREAMSCOPE_SYSTEM_CALLS(CALL) \
  CALL(read, 0)                        \
  CALL(write, 1)                       \
  CALL(ioctl, 16)                      \
  CALL(pread64, 17)                    \
  CALL(readv, 19)                      \
  CALL(writev, 20)                     \
  CALL(sched_yield, 24)                \
  CALL(nanosleep, 35)                  \
  CALL(sendto, 44)                     \
  CALL(recvfrom, 45)                   \
  CALL(sendmsg, 46)                    \
  CALL(recvmsg, 47)                    \
  CALL(wait4, 61)                      \
  CALL(futex, 202)                     \
  CALL(clock_nanosleep, 230)           \
  CALL(waitid, 247)                    \
  CALL(pselect6, 270)                  \
  CALL(ppoll, 271)                     \
  CALL(epoll_pwait, 281)

/// As in a trace, which has others too.
struct SystemCall {
#define STREAMSCOPE_NUMBER(name, number) static constexpr int name = number;
  STREAMSCOPE_SYSTEM_CALLS(STREAMSCOPE_NUMBER)
#undef STREAMSCOPE_NUMBER
  // Of x86-64 alone, under the names that the system gives them.
  static constexpr int poll = 7, select = 23, epoll_wait = 232;  // NOLINT(*-identifier-naming)
  static constexpr int kNone = -1,                               // waits elsewhere in the kernel
      kOther = -2;  // of another architecture, and not among these
};

}  // namespace streamscope
