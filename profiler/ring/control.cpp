// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace streamscope::ring {

void announce_change(Control& control) {
  control.changes.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &control.changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void wait_for_change(const Control& control, uint32_t seen, int64_t limit_ns) {
  constexpr int64_t kPollNs = 10'000'000;
  timespec limit{0, limit_ns};
  if (::syscall(SYS_futex, &control.changes, FUTEX_WAIT, seen, &limit, nullptr, 0) == 0 ||
      errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR)
    return;
  limit.tv_nsec = std::min(limit_ns, kPollNs);  // a sandbox forbids it, or the file was truncated
  ::nanosleep(&limit, nullptr);
}

}  // namespace streamscope::ring
