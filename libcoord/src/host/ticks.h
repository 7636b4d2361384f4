// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The cheapest clock of the machine: stamps are ticks, converted to CLOCK_MONOTONIC when read.
#pragma once

#include <cstdint>
#include <ctime>

#include "coord/types.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace coord {

inline std::int64_t monotonic_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

/// True if the processor's counter runs at one rate on all cores and in all power states.
bool has_invariant_counter() noexcept;

/// The processor's counter, if it is known to be invariant.
inline std::uint64_t counter() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return 0;
#endif
}

inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  static const bool invariant = has_invariant_counter();
  if (invariant) return counter();
#endif
  return static_cast<std::uint64_t>(monotonic_ns());
}

/// The time of a stamp on CLOCK_MONOTONIC. Thread-safe.
TimeNs time_of_ticks(std::uint64_t stamp) noexcept;
/// Length of `count` ticks.
Nanoseconds length_of_ticks(std::uint64_t count) noexcept;

}  // namespace coord
