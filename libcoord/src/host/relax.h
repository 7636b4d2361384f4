// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// For threads that look for something again and again.
#pragma once

#include <thread>

namespace coord {

/// Whether a thread may look while there is nothing to do: only where that takes nothing from the
/// program and from the thread that looks at the device.
inline bool can_look_for_more() {
  static const bool can = std::thread::hardware_concurrency() > 2;
  return can;
}

/// Tells the processor that the thread only looks: between two looks.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace coord
