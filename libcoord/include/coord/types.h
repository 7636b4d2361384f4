// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Identifiers and times: distinct types that do not convert into each other.
//
// Ids are never reused in the life of a process, unlike the handles of a driver.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>

namespace coord {

template <typename Tag>
struct Id {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t value = kNone;

  [[nodiscard]] constexpr bool valid() const noexcept { return value != kNone; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using DeviceId = Id<struct DeviceTag>;
using StreamId = Id<struct StreamTag>;
using EventId = Id<struct EventTag>;
using OperationId = Id<struct OperationTag>;

/// A length of time.
using Nanoseconds = std::chrono::nanoseconds;

/// A point in time on the clock of a device's host side: virtual for a simulated device.
struct TimeNs {
  std::int64_t value = 0;

  friend constexpr auto operator<=>(TimeNs, TimeNs) = default;
  friend constexpr Nanoseconds operator-(TimeNs a, TimeNs b) {
    return Nanoseconds(a.value - b.value);
  }
};

}  // namespace coord
/// \cond INTERNAL
template <typename Tag>
struct std::hash<coord::Id<Tag>> {
  std::size_t operator()(coord::Id<Tag> id) const noexcept {
    return std::hash<std::uint64_t>()(id.value);
  }
};
/// \endcond
// Left out of the reference, because Doxygen 1.9 fails on a specialization outside its namespace.
