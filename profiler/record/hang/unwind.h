// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Call stacks of another process's threads, taken from outside.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace streamscope::record {

struct SeenFrame {
  uint64_t address = 0;  ///< in the module's own file; in the process if no module is known
  std::string module;    ///< path
  std::string symbol;    ///< as Symbolizer::name()
};

struct SeenStacks {
  std::map<uint32_t, std::vector<SeenFrame>> by_tid;  ///< innermost frame first
  std::string failure;  ///< why there are none, or not all; empty if complete
};

/// Stops each of the threads while its stack is read (ptrace, about a millisecond) and continues
/// it. Threads that wait in the kernel cannot be stopped; leave them out. Returns after `limit`
/// with the stacks so far: a thread of ours that the kernel blocks then remains.
SeenStacks unwind(pid_t process, const std::vector<uint32_t>& tids,
                  std::chrono::milliseconds limit);

}  // namespace streamscope::record
