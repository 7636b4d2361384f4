// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Queries to the driver and to CUPTI about handles of the program, made while the program cannot
// destroy them.
//
// The program may destroy a handle at any time, and a query of a destroyed one can crash it. So a
// call that destroys handles is announced before it is made, and lets queries in progress finish
// first; a query knows when the program last used the handle successfully, and is made only if no
// call that could have destroyed it has begun since.
#pragma once

#include <cstdint>

namespace streamscope::collect {

/// Every handle.
inline constexpr uint64_t kAllHandles = 0;

/// The program is about to destroy `handle` (a stream or an event), or kAllHandles of some context.
/// Waits for queries in progress, 1 s at most: one that takes longer hangs, and no one waits for it
/// again. Thread-safe.
void about_to_end(uint64_t handle);

/// The program is about to begin a capture, during which queries break it. Waits as about_to_end()
/// does. Thread-safe.
void about_to_capture();

/// While one exists and is allowed, `handle` stays valid. Thread-safe; short-lived.
class Asking {
 public:
  /// `since`: ticks at which a call began that used the handle successfully; for kAllHandles: one
  /// that used a context.
  Asking(uint64_t handle, uint64_t since);
  ~Asking();
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  /// False: the handle may be gone.
  bool allowed() const { return allowed_; }

 private:
  bool allowed_;
};

void forget_questions_after_fork();

}  // namespace streamscope::collect
