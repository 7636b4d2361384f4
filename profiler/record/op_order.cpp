// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "op_order.h"

#include <algorithm>

namespace streamscope::record {

trace::Id OpOrder::store_now(const trace::Op& op, trace::Id operation) {
  const trace::Id id = writer_.append(op);
  if (operation != trace::kNoId) writer_.append(trace::OperationOp{operation, id});
  return id;
}

void OpOrder::store(size_t count) {
  for (size_t i = 0; i < count; ++i) store_now(held_[i].op, held_[i].operation);
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(count));
}

void OpOrder::store_settled() {
  const auto earlier = [](const Held& a, const Held& b) { return a.op.start_ns < b.op.start_ns; };
  if (!std::is_sorted(held_.begin(), held_.end(), earlier))
    std::stable_sort(held_.begin(), held_.end(), earlier);
  const auto unsettled = std::partition_point(held_.begin(), held_.end(), [&](const Held& held) {
    return held.op.start_ns < newest_before_;
  });
  const trace::Ns newest = held_.empty() ? newest_before_ : held_.back().op.start_ns;
  store(static_cast<size_t>(unsettled - held_.begin()));
  newest_before_ = std::max(newest_before_, newest);
}

void OpOrder::store_all() {
  trace::Ns newest = newest_before_;
  for (const Held& held : held_) newest = std::max(newest, held.op.start_ns);
  newest_before_ = std::numeric_limits<trace::Ns>::max();
  store_settled();
  newest_before_ = newest;
}

}  // namespace streamscope::record
