// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Whether this is still the process that created an object.
//
// CUDA does not survive fork(): objects with handles of the parent must neither use nor free them
// in the child. A number that fork() changes detects this at the cost of one load.
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
