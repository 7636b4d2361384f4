// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "counters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "labels.h"

namespace streamscope::viewer {

using trace::kNoInt;

void Counter::push(Ns at, int64_t value) {
  if (value == last_) return;
  last_ = value;
  most_ = std::max(most_, value);
  at_ns_.push(at);
  levels_[0].push(value);
}

void Counter::finish() {
  at_ns_.finish();
  levels_[0].finish();
  while (levels_.back().size() >= kBlock) {
    const Packed<int64_t>& fine = levels_.back();
    Packed<int64_t> coarse;
    std::vector<double> areas;
    for (size_t first = 0; first + kBlock <= fine.size(); first += kBlock) {
      int64_t most = 0;
      double area = 0;
      for (size_t i = first; i < first + kBlock; ++i) {
        most = std::max(most, fine[i]);
        area += areas_.empty() ? step_area(i) : areas_.back()[i];
      }
      coarse.push(most);
      areas.push_back(area);
    }
    coarse.finish();
    levels_.push_back(std::move(coarse));
    areas_.push_back(std::move(areas));
  }
}

int64_t Counter::top() const {
  return std::max({capacity_, most_, int64_t{1}});  // kNoInt is less than any value
}

int64_t Counter::value_at(Ns at) const {
  const auto next = std::upper_bound(at_ns_.begin(), at_ns_.end(), at);
  return next == at_ns_.begin() ? 0 : levels_[0][static_cast<size_t>(next - at_ns_.begin()) - 1];
}

// For the steps [first, last): whole blocks on the level above, the rest one by one.
template <class Add>
void Counter::add_up(size_t first, size_t last, Add add) const {
  for (size_t level = 0; first < last; ++level) {
    const bool is_last = level + 1 == levels_.size();
    while (first < last && (is_last || first % kBlock != 0)) add(level, first++);
    while (first < last && last % kBlock != 0) add(level, --last);
    first /= kBlock;
    last /= kBlock;
  }
}

int64_t Counter::most_of(size_t first, size_t last) const {
  int64_t most = 0;
  add_up(first, last,
         [&](size_t level, size_t i) { most = std::max<int64_t>(most, levels_[level][i]); });
  return most;
}

// Value times ns until the next step; 0 for the last step, which has no next one.
double Counter::step_area(size_t step) const {
  if (step + 1 >= at_ns_.size()) return 0;
  return static_cast<double>(levels_[0][step]) * difference_ns(at_ns_[step], at_ns_[step + 1]);
}

// The same for the steps [first, last).
double Counter::area_of(size_t first, size_t last) const {
  double area = 0;
  add_up(first, last,
         [&](size_t level, size_t i) { area += level == 0 ? step_area(i) : areas_[level - 1][i]; });
  return area;
}

void Counter::in_pixels(const TimeWindow& window, std::vector<Column>& columns) const {
  size_t next = 0;  // first step after the start of the pixel
  Ns begin = window.to_ns(0);
  for (size_t column = 0; column < columns.size(); ++column) {
    const Ns end = window.to_ns(static_cast<double>(column + 1));
    next = first_not_before(at_ns_, next, size(), add_ns(begin, 1));
    const int64_t held = next > 0 ? levels_[0][next - 1] : 0;
    const size_t last = first_not_before(at_ns_, next, size(), end);
    Column& result = columns[column];
    result.most = std::max(held, most_of(next, last));
    result.mean = static_cast<double>(held);
    if (next < last) {
      const double area =
          static_cast<double>(held) * difference_ns(begin, at_ns_[next]) + area_of(next, last - 1) +
          static_cast<double>(levels_[0][last - 1]) * difference_ns(at_ns_[last - 1], end);
      result.mean = area / difference_ns(begin, end);
    }
    next = last;
    begin = end;
  }
}

std::string Counter::text(int64_t value) const {
  switch (unit_) {
    case Unit::kBytes:
      return format_bytes(value);
    case Unit::kBusy:
      return format_percent(static_cast<double>(value));
    case Unit::kCount:
      break;
  }
  return format_count(value);
}

std::string Counter::text_of_mean(double value) const {
  if (unit_ == Unit::kBytes) return format_bytes(static_cast<int64_t>(std::llround(value)));
  if (unit_ == Unit::kBusy) return format_percent(value);
  std::array<char, 32> text;
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string Counter::text_of_capacity(int64_t value) const {
  return capacity_ == kNoInt ? text(value) : text(value) + " of " + text(capacity_);
}

namespace {

// Pushes how many things are open into a counter, at most `most`.
void push_open(std::vector<Ns> begins, std::vector<Ns> ends, int64_t most, Counter& counter) {
  for (std::vector<Ns>* times : {&begins, &ends}) {
    if (!std::ranges::is_sorted(*times)) std::ranges::sort(*times);
  }
  for (size_t begun = 0, ended = 0; begun < begins.size() || ended < ends.size();) {
    const Ns at = ended == ends.size()     ? begins[begun]
                  : begun == begins.size() ? ends[ended]
                                           : std::min(begins[begun], ends[ended]);
    while (begun < begins.size() && begins[begun] == at) ++begun;
    while (ended < ends.size() && ends[ended] == at) ++ended;
    counter.push(at, begun > ended ? std::min(static_cast<int64_t>(begun - ended), most) : 0);
  }
  counter.finish();
}

}  // namespace

Counter count_open(std::vector<Ns> begins, std::vector<Ns> ends) {
  Counter counter;
  push_open(std::move(begins), std::move(ends), std::numeric_limits<int64_t>::max(), counter);
  return counter;
}

Counter any_open(std::vector<Ns> begins, std::vector<Ns> ends) {
  Counter counter(trace::kNoInt, Counter::Unit::kBusy);
  push_open(std::move(begins), std::move(ends), 1, counter);
  return counter;
}

}  // namespace streamscope::viewer
