// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The threads of another process as the system reports them, without stopping any: state, CPU time,
// the mutex that one waits for and its owner.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace streamscope::record {

struct ThreadSnapshot {
  uint32_t tid = 0;
  std::string name;
  char state = '?';           ///< as in /proc: R runs, S sleeps, D waits in the kernel, T stopped
  int64_t processor_ns = 0;   ///< used so far
  uint64_t lock_address = 0;  ///< pthread_mutex_t that it waits for, 0 if none
  uint32_t lock_owner = 0;    ///< thread of the same process that holds it
};

/// All threads, in order of their ids. Locks are left out if the system denies access.
std::vector<ThreadSnapshot> sample_threads(pid_t process);

/// True if a debugger or a signal has stopped the process.
bool is_stopped(pid_t process);

}  // namespace streamscope::record
