// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "clock_table.h"

#include <algorithm>

namespace coord {

namespace {

void raise(Clock& clock, std::span<const std::uint64_t> to) {
  if (clock.size() < to.size()) clock.resize(to.size(), 0);
  for (std::size_t i = 0; i < to.size(); ++i) clock[i] = std::max(clock[i], to[i]);
}

}  // namespace

bool covers(std::span<const std::uint64_t> clock, Point point) noexcept {
  return point.stream < clock.size() && clock[point.stream] >= point.ticket;
}

std::uint32_t ClockTable::add_stream() {
  rows_.emplace_back();
  return static_cast<std::uint32_t>(rows_.size() - 1);
}

bool ClockTable::implied(std::uint32_t stream, Point point) const noexcept {
  return covers(rows_[stream], point) || proved(point);
}

void ClockTable::join(std::uint32_t stream, std::span<const std::uint64_t> clock) {
  raise(rows_[stream], clock);
}

Point ClockTable::advance(std::uint32_t stream) {
  Clock& row = rows_[stream];
  if (row.size() <= stream) row.resize(stream + 1, 0);
  return {stream, ++row[stream]};
}

void ClockTable::prove(std::span<const std::uint64_t> clock) { raise(proved_, clock); }

}  // namespace coord
