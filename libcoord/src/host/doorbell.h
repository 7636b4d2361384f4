// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How one thread sleeps while there is nothing to do, and others wake it.
#pragma once

#include <cstdint>

#include "futex.h"

namespace coord {

/// One thread sleeps, any thread rings. No ring is lost: whoever rings counts it before looking
/// whether the sleeper sleeps, the sleeper says that it sleeps before it looks at the count, and
/// both are sequentially consistent.
template <typename Platform>
class BasicDoorbell {
 public:
  /// Rings so far: to be read before looking for what there is to do.
  std::uint64_t rings() noexcept { return rings_.load(); }
  /// What there is to do must be visible before.
  void ring() noexcept {
    rings_.fetch_add(1);
    if (asleep_.load() != 0 && asleep_.exchange(0) != 0) Platform::wake(asleep_);
  }
  /// Sleeps until `until_ns` (CLOCK_MONOTONIC) or until there were more than `heard` rings.
  void sleep(std::uint64_t heard, std::int64_t until_ns) noexcept {
    asleep_.store(1);
    if (rings_.load() == heard) Platform::wait(asleep_, 1, until_ns);
    asleep_.store(0);
  }

 private:
  typename Platform::template Atomic<std::uint64_t> rings_{0};
  typename Platform::template Atomic<std::uint32_t> asleep_{0};
};

using Doorbell = BasicDoorbell<Futex>;

}  // namespace coord
