// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Identifies a process: a pid together with its start time, since pids are reused.
//
// Usable inside the observed process: no allocation, no stdio, no exceptions.
#pragma once

#include <cstdint>

namespace streamscope::ring {

/// Start time of a process in clock ticks since boot (/proc/PID/stat, field 22). 0 if there is no
/// such process; a zombie still has one.
uint64_t process_start(uint32_t pid);

/// True while the process that had this pid and start time can still run code: it exists and is not
/// a zombie.
bool process_alive(uint32_t pid, uint64_t start);

}  // namespace streamscope::ring
