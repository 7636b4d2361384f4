// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "lane_order.h"

#include <algorithm>
#include <numeric>

#include "model/labels.h"

namespace streamscope::viewer {

void LaneOrder::toggle_pinned(const LaneSet& lanes, size_t lane) {
  if (lane >= lanes.size() || is_group(lanes[lane].kind)) return;
  pinned_.resize(lanes.size());
  pinned_[lane] = !pinned_[lane];
}

void LaneOrder::move(const LaneSet& lanes, size_t lane, size_t to) {
  if (lane == to || lane >= lanes.size() || to >= lanes.size() ||
      lanes[lane].parent != lanes[to].parent)
    return;
  if (order_.size() != lanes.size()) {
    order_.resize(lanes.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
  }
  // A lane stays together with its descendants: the deeper lanes that follow it.
  const auto block_of = [&](size_t which) {
    const auto first = std::ranges::find(order_, which);
    const auto last = std::find_if(first + 1, order_.end(), [&](size_t each) {
      return lanes[each].depth <= lanes[which].depth;
    });
    return std::pair(first, last);
  };
  const auto [first, last] = block_of(lane);
  const auto [other_first, other_last] = block_of(to);
  if (first < other_first) {
    std::rotate(first, last, other_last);
  } else {
    std::rotate(other_first, first, last);
  }
}

LaneOrder::Shown LaneOrder::shown(const LaneSet& lanes, const std::vector<bool>& collapsed) const {
  const auto is_collapsed = [&](size_t lane) { return lane < collapsed.size() && collapsed[lane]; };
  std::vector<char> left_out(lanes.size(), 0), kept(lanes.size(), 0);
  if (!filter_.empty()) {
    // A group is kept if any of its lanes is; these follow it.
    for (size_t lane = lanes.size(); lane-- > 0;) {
      left_out[lane] =
          is_group(lanes[lane].kind) ? !kept[lane] : !contains_text(lanes[lane].title, filter_);
      if (!left_out[lane] && lanes[lane].parent >= 0)
        kept[static_cast<size_t>(lanes[lane].parent)] = 1;
    }
  }
  Shown shown;
  const auto for_each = [&](auto act) {
    for (size_t i = 0; i < lanes.size(); ++i) act(order_.size() == lanes.size() ? order_[i] : i);
  };
  for_each([&](size_t lane) {
    if (is_pinned(lane) && !left_out[lane]) shown.lanes.push_back(lane);
  });
  shown.pinned_count = shown.lanes.size();
  std::vector<char> hidden(lanes.size(), 0);
  for_each([&](size_t lane) {
    const int parent = lanes[lane].parent;
    hidden[lane] = parent >= 0 && (hidden[static_cast<size_t>(parent)] ||
                                   is_collapsed(static_cast<size_t>(parent)));
    if (!hidden[lane] && !left_out[lane] && !is_pinned(lane)) shown.lanes.push_back(lane);
  });
  return shown;
}

}  // namespace streamscope::viewer
