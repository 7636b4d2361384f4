// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "clock_table.h"

#include <algorithm>

namespace coord {

void ClockRef::give_back() noexcept { row_->unused->push_back(row_); }

ClockRow& ClockTable::own_row(Stream& stream) {
  if (stream.row.empty() || stream.row.shared()) {
    if (unused_.empty()) {
      rows_.emplace_back().unused = &unused_;
      unused_.push_back(&rows_.back());
    }
    ClockRow& row = *unused_.back();
    unused_.pop_back();
    row.tickets.clear();
    if (!stream.row.empty()) row.tickets = stream.row->tickets;
    stream.row = ClockRef(&row);
  }
  return *stream.row.operator->();
}

std::uint32_t ClockTable::add_stream() {
  streams_.emplace_back();
  return static_cast<std::uint32_t>(streams_.size() - 1);
}

void ClockTable::join(std::uint32_t stream, Point point, const ClockRef& before) {
  std::vector<std::uint64_t>& to = own_row(streams_[stream]).tickets;
  if (to.size() < streams_.size()) to.resize(streams_.size(), 0);
  if (!before.empty()) {
    const std::vector<std::uint64_t>& from = before->tickets;
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
  }
  to[point.stream] = std::max(to[point.stream], point.ticket);
}

void ClockTable::prove(Point point, const ClockRef& before) {
  if (!before.empty()) {
    const std::vector<std::uint64_t>& from = before->tickets;
    for (std::size_t i = 0; i < from.size(); ++i)
      streams_[i].proved = std::max(streams_[i].proved, from[i]);
  }
  streams_[point.stream].proved = std::max(streams_[point.stream].proved, point.ticket);
}

}  // namespace coord
