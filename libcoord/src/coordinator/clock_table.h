// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Vector clocks over streams: they record which work is already ordered before which, so that no
// redundant wait is issued.
//
// Each operation of a stream has a ticket, counted from 1. The row of a stream holds, for every
// other stream, the highest ticket that is ordered before the stream's next work. Operations
// between two joins of their stream share one row, so that storing an operation's clock copies
// nothing. Thread-compatible.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace coord {

/// Position of an operation: its work has ended once the stream has passed the ticket.
struct Point {
  std::uint32_t stream = 0;
  std::uint64_t ticket = 0;
};

/// Tickets by stream; 0 for streams beyond its end. Never changed while shared.
struct ClockRow {
  std::uint32_t references = 0;
  std::vector<ClockRow*>* unused = nullptr;  // where it goes when the last reference ends
  std::vector<std::uint64_t> tickets;

  [[nodiscard]] bool covers(Point point) const noexcept {
    return point.stream < tickets.size() && tickets[point.stream] >= point.ticket;
  }
};

/// Shares a row; counted without atomics, so all copies are made under one lock.
class ClockRef {
 public:
  ClockRef() = default;
  explicit ClockRef(ClockRow* row) noexcept : row_(row) { ++row_->references; }
  ClockRef(const ClockRef& other) noexcept : row_(other.row_) {
    if (row_ != nullptr) ++row_->references;
  }
  ClockRef(ClockRef&& other) noexcept : row_(std::exchange(other.row_, nullptr)) {}
  ClockRef& operator=(ClockRef other) noexcept {
    std::swap(row_, other.row_);
    return *this;
  }
  ~ClockRef() { reset(); }

  /// Same as assignment, for an empty reference.
  void share(const ClockRef& other) noexcept {
    row_ = other.row_;
    if (row_ != nullptr) ++row_->references;
  }
  void reset() noexcept {
    if (row_ == nullptr) return;
    if (--row_->references == 0) give_back();
    row_ = nullptr;
  }

  [[nodiscard]] bool covers(Point point) const noexcept {
    return row_ != nullptr && row_->covers(point);
  }
  [[nodiscard]] bool shared() const noexcept { return row_ != nullptr && row_->references > 1; }
  [[nodiscard]] ClockRow* operator->() const noexcept { return row_; }
  [[nodiscard]] bool empty() const noexcept { return row_ == nullptr; }

 private:
  void give_back() noexcept;

  ClockRow* row_ = nullptr;
};

/// Must outlive all references to its rows.
class ClockTable {
 public:
  ClockTable() = default;
  ClockTable(const ClockTable&) = delete;
  ClockTable& operator=(const ClockTable&) = delete;

  std::uint32_t add_stream();
  [[nodiscard]] std::size_t size() const noexcept { return streams_.size(); }

  /// True if the next work of `stream` is already ordered after the point.
  [[nodiscard]] bool implied(std::uint32_t stream, Point point) const noexcept {
    return point.stream == stream || streams_[stream].row.covers(point) || proved(point);
  }
  /// Orders the next work of `stream` after the point and everything that `before` covers.
  void join(std::uint32_t stream, Point point, const ClockRef& before);
  /// The stream's last ticket.
  [[nodiscard]] std::uint64_t ticket(std::uint32_t stream) const noexcept {
    return streams_[stream].ticket;
  }
  /// Takes the stream's next ticket.
  Point advance(std::uint32_t stream) noexcept { return {stream, ++streams_[stream].ticket}; }
  /// What the last submitted work of `stream` comes after, in other streams.
  [[nodiscard]] const ClockRef& row(std::uint32_t stream) const noexcept {
    return streams_[stream].row;
  }
  /// Exchanges the row of `stream`, such as when a capture begins or ends.
  ClockRef exchange_row(std::uint32_t stream, ClockRef row) {
    return std::exchange(streams_[stream].row, std::move(row));
  }

  /// The host knows that the point and everything that `before` covers has ended.
  void prove(Point point, const ClockRef& before);
  [[nodiscard]] bool proved(Point point) const noexcept {
    return proved(point.stream) >= point.ticket;
  }
  /// The last ticket of `stream` that is known to have ended.
  [[nodiscard]] std::uint64_t proved(std::uint32_t stream) const noexcept {
    return streams_[stream].proved;
  }

 private:
  struct Stream {
    ClockRef row;
    std::uint64_t ticket = 0;  // the last one taken
    std::uint64_t proved = 0;
  };
  /// The row of a stream for modification: a copy if it is shared.
  ClockRow& own_row(Stream& stream);

  std::deque<ClockRow> rows_;
  std::vector<ClockRow*> unused_;
  std::vector<Stream> streams_;
};

}  // namespace coord
