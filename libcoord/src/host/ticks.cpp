// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace coord {

namespace {

struct Anchor {
  std::uint64_t ticks_then = ticks();
  std::int64_t ns = monotonic_ns();
};

/// Set at first use; the rate becomes more accurate with time.
const Anchor& anchor() noexcept {
  static const Anchor first;
  return first;
}

double ns_per_tick() noexcept {
  if (!has_invariant_counter()) return 1;
  const Anchor& first = anchor();
  std::int64_t ns = monotonic_ns() - first.ns;
  while (ns < 1'000'000) ns = monotonic_ns() - first.ns;  // once, right after the start
  return static_cast<double>(ns) / static_cast<double>(ticks() - first.ticks_then);
}

}  // namespace

bool has_invariant_counter() noexcept {
#if defined(__x86_64__)
  static const bool known = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
  }();
  return known;
#else
  return false;
#endif
}

TimeNs time_of_ticks(std::uint64_t stamp) noexcept {
  const Anchor& first = anchor();
  const auto since = static_cast<std::int64_t>(stamp - first.ticks_then);
  return {first.ns + static_cast<std::int64_t>(static_cast<double>(since) * ns_per_tick())};
}

Nanoseconds length_of_ticks(std::uint64_t count) noexcept {
  return Nanoseconds(static_cast<std::int64_t>(static_cast<double>(count) * ns_per_tick()));
}

}  // namespace coord
