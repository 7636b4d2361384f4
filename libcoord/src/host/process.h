// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Whether this is still the process in which something was made.
//
// CUDA does not survive fork(): what holds handles of the parent must neither use nor free them in
// the child. A number that fork() changes tells, for the price of one load.
#pragma once

#include <atomic>
#include <cstdint>

namespace coord {

extern std::atomic<std::uint32_t> process_generation_value;

/// Starts counting forks; call it before keeping process_generation(). Thread-safe.
void watch_forks() noexcept;

/// Changes in the child of every fork().
inline std::uint32_t process_generation() noexcept {
  return process_generation_value.load(std::memory_order_relaxed);
}

}  // namespace coord
