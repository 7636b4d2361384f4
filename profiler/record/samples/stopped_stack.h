// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The native call stack of a thread of another process, unwound from a copy of its registers and of
// the top of its stack.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sampled_stack.h"

namespace streamscope::record {

struct StackCopy {
  static constexpr size_t kRegisters = 33;  ///< numbered as in DWARF
  uint64_t registers[kRegisters] = {};
  uint32_t known = 0;  ///< bit i: register i is known, of the first 32
  uint64_t pc = 0, sp = 0;
  std::vector<unsigned char> memory;  ///< from `sp` up
};

/// Stops running threads while they are copied. All calls must come from one thread; when it ends,
/// the system continues what is still stopped.
class Stopper {
 public:
  /// Stops a thread while its registers and at most 32 KiB of its stack are copied (tens of µs) and
  /// lets it continue. A signal that arrives meanwhile is delivered, and a call in which the thread
  /// waits meanwhile goes on. False if that is not permitted, the thread is traced by another, or
  /// it does not stop: then release() continues it.
  bool copy(pid_t process, pid_t thread, StackCopy& copy);
  /// Continues threads that stopped later than copy() waited for. Call it often while there are
  /// any: they are stopped until then.
  void release();
  bool has_late() const { return !late_.empty(); }
  /// How long threads were stopped.
  int64_t stopped_ns() const { return stopped_ns_; }

 private:
  struct Late {
    pid_t process, thread;
  };
  std::vector<Late> late_;
  int64_t stopped_ns_ = 0;
};

/// Copies a thread that waits in the kernel, without stopping it: the kernel tells where it waits.
/// `pc`, `sp`: as in /proc/PID/task/TID/syscall. Other registers are not known.
bool copy_waiting(pid_t process, uint64_t pc, uint64_t sp, StackCopy& copy);

/// Unwinds copies of one process. Thread-compatible.
class Unwinder {
 public:
  explicit Unwinder(pid_t process);
  ~Unwinder();
  Unwinder(const Unwinder&) = delete;
  Unwinder& operator=(const Unwinder&) = delete;

  /// Fills `frames`, innermost first; empty if this build has no libdw.
  void unwind(const StackCopy& copy, std::vector<SampledFrame>& frames);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace streamscope::record
