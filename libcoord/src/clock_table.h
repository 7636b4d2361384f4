// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Vector clocks over streams: which work is already ordered before which, so that no wait is issued
// twice.
//
// Each operation of a stream has a ticket, counted from 1. The row of a stream holds, for every
// stream, the highest ticket that is ordered before whatever the stream gets next.
// Thread-compatible.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace coord {

/// One operation's place: what it names is done when the stream has passed the ticket.
struct Point {
  std::uint32_t stream = 0;
  std::uint64_t ticket = 0;
};

using Clock = std::vector<std::uint64_t>;  // ticket by stream; streams beyond its end count 0

/// True if whatever `clock` belongs to comes after the point.
[[nodiscard]] bool covers(std::span<const std::uint64_t> clock, Point point) noexcept;

class ClockTable {
 public:
  std::uint32_t add_stream();

  /// True if work that `stream` gets next comes after the point anyhow.
  [[nodiscard]] bool implied(std::uint32_t stream, Point point) const noexcept;
  /// Orders what `stream` gets next after everything that `clock` is after.
  void join(std::uint32_t stream, std::span<const std::uint64_t> clock);
  /// Takes the stream's next ticket.
  Point advance(std::uint32_t stream);
  [[nodiscard]] const Clock& row(std::uint32_t stream) const noexcept { return rows_[stream]; }

  /// The host has seen that everything `clock` is after has ended.
  void prove(std::span<const std::uint64_t> clock);
  [[nodiscard]] bool proved(Point point) const noexcept { return covers(proved_, point); }

 private:
  std::vector<Clock> rows_;
  Clock proved_;
};

}  // namespace coord
