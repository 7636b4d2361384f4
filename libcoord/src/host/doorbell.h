// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Lets one thread sleep while there is nothing to do, and others wake it.
#pragma once

#include <cstdint>

#include "futex.h"

namespace coord {

/// One thread sleeps, any thread rings. No ring is lost: a ringing thread counts the ring before it
/// checks whether the sleeper sleeps, the sleeper announces that it sleeps before it checks the
/// count, and both are sequentially consistent.
template <typename Platform>
class BasicDoorbell {
 public:
  /// Rings so far: read this before checking for work.
  std::uint64_t rings() noexcept { return rings_.load(); }
  /// The work must be visible before.
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
