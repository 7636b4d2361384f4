// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "clock_table.h"

#include <algorithm>

namespace coord {

ClockRow& ClockRef::own() {
  if (row_ == nullptr || row_->references > 1) {
    auto* copy = row_ == nullptr ? new ClockRow() : new ClockRow(*row_);
    copy->references = 0;
    *this = ClockRef(copy);
  }
  return *row_;
}

std::uint32_t ClockTable::add_stream() {
  streams_.emplace_back();
  return static_cast<std::uint32_t>(streams_.size() - 1);
}

void ClockTable::join(std::uint32_t stream, Point point, const ClockRef& before) {
  std::vector<std::uint64_t>& to = streams_[stream].row.own().tickets;
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
