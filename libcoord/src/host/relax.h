// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// For polling threads.
#pragma once

#include <thread>

namespace coord {

/// Whether an idle thread may poll: only if that takes no processor from the program and the thread
/// that polls the device.
inline bool can_look_for_more() {
  static const bool can = std::thread::hardware_concurrency() > 2;
  return can;
}

/// Tells the processor that the thread is polling; call between polls.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace coord
