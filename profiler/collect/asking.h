// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Questions to the driver and to CUPTI about handles of the program, asked while the program cannot
// end them.
//
// The program may end a handle at any time, and a question about a dead one can crash it. So a call
// that ends handles says so before it is made, and lets questions that are under way finish first;
// whoever asks knows when the program last used the handle with success, and asks only if no call
// that could have ended it has begun since.
#pragma once

#include <cstdint>

namespace streamscope::collect {

/// Every handle.
inline constexpr uint64_t kAllHandles = 0;

/// The program is about to end `handle` (a stream or an event), or kAllHandles of some context.
/// Waits for questions that are under way, 1 s at most: one that takes longer hangs, and nobody
/// waits for it again. Thread-safe.
void about_to_end(uint64_t handle);

/// The program is about to begin a capture, during which questions break it. Waits as
/// about_to_end() does. Thread-safe.
void about_to_capture();

/// While one lives and is allowed, `handle` does not end. Thread-safe; short-lived.
class Asking {
 public:
  /// `since`: ticks at which a call began that used the handle with success; kAllHandles: one that
  /// used a context.
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
