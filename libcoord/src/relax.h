// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// For threads that look for something again and again.
#pragma once

namespace coord {

/// Tells the processor that the thread only looks: between two looks.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace coord
