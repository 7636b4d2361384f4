// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Values over time: whether a device is busy, concurrent kernels, operations in the queues of a
// device, how much of a pool is in use.
//
// LaneBuilder makes a lane of each; the timeline draws it as steps. Packed, with
// sums and maxima of blocks, so that a picture costs its pixels and not the steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/timeline_layout.h"
#include "trace/model.h"
#include "trace/packed.h"

namespace streamscope::viewer {

using trace::Packed;

/// A step function: 0 before the first step, each step holds until the next. Thread-safe once
/// finished: all const.
class Counter {
 public:
  enum class Unit : uint8_t {
    kCount,
    kBytes,
    kBusy,  ///< 1 or 0: its mean is the share of time that something was busy
  };
  Counter() = default;
  /// `capacity`: the upper limit; kNoInt: none.
  explicit Counter(trace::Int capacity, Unit unit = Unit::kCount)
      : capacity_(capacity), unit_(unit) {}

  /// The counter has this value from `at` on. Times must ascend.
  void push(Ns at, int64_t value);
  /// Call once after the last push; the counter is read only after that.
  void finish();

  /// True if its means are shares of time. Its maxima say nothing then.
  bool is_share() const { return unit_ == Unit::kBusy; }
  bool empty() const { return at_ns_.empty(); }
  size_t size() const { return at_ns_.size(); }
  int64_t most() const { return most_; }
  /// The top of its scale: the capacity, or the maximum if that is higher; at least 1.
  int64_t top() const;
  int64_t value_at(Ns at) const;
  /// What a pixel shows: the mean, weighted by time, and the maximum.
  struct Column {
    double mean = 0;
    int64_t most = 0;
    bool is_steady() const { return mean == static_cast<double>(most); }
    bool operator==(const Column&) const = default;
  };
  /// One per pixel of the window, from the left, as many as `columns` has.
  void in_pixels(const TimeWindow& window, std::vector<Column>& columns) const;
  /// "3", "1.5 MiB", "100 %".
  std::string text(int64_t value) const;
  /// "0.33", "1.5 MiB", "33 %".
  std::string text_of_mean(double value) const;
  /// The value with the capacity: "3 of 64".
  std::string text_of_capacity(int64_t value) const;

 private:
  static constexpr size_t kBlock = 16;  // values of a level per value of the next
  /// Calls `add` with levels and the indexes in them that make up the steps [first, last).
  template <class Add>
  void add_up(size_t first, size_t last, Add add) const;
  int64_t most_of(size_t first, size_t last) const;
  double area_of(size_t first, size_t last) const;
  double step_area(size_t step) const;

  trace::Int capacity_ = trace::kNoInt;
  Unit unit_ = Unit::kCount;
  int64_t most_ = 0;
  int64_t last_ = 0;  // value of the last step
  Packed<Ns> at_ns_;
  std::vector<Packed<int64_t>> levels_{1};  // values, then the maximum of each whole block below
  std::vector<std::vector<double>> areas_;  // the same for values times ns; [0] is of levels_[1]
};

/// How many things are open at each instant: each starts at one of `begins` and ends at one of
/// `ends`, and is no longer counted at its end.
Counter count_open(std::vector<Ns> begins, std::vector<Ns> ends);
/// Whether anything is open at each instant.
Counter any_open(std::vector<Ns> begins, std::vector<Ns> ends);

}  // namespace streamscope::viewer
