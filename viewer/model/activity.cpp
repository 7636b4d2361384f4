// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "activity.h"

#include <algorithm>

namespace streamscope::viewer {

Activity::Activity(const trace::Trace& trace, TimeRange extent, const ItemFacts& items)
    : kernels(kBuckets), copies(kBuckets) {
  const double width = extent.span_ns() / kBuckets;
  for (Id id = 0; id < trace.op.size(); ++id) {
    const Item item{ItemKind::kOp, id};
    const auto range = items.time(item);
    if (!range) continue;
    const Category kind = items.category(item);
    const bool copy = kind == Category::kCopyToDevice || kind == Category::kCopyToHost ||
                      kind == Category::kCopyOnDevice || kind == Category::kMemset;
    std::vector<float>& into = copy ? copies : kernels;
    const double from = difference_ns(extent.begin_ns, range->begin_ns) / width;
    const double to = difference_ns(extent.begin_ns, range->end_ns) / width;
    for (auto bucket = static_cast<size_t>(from);
         bucket < kBuckets && static_cast<double>(bucket) < to; ++bucket) {
      into[bucket] += static_cast<float>(std::min(to, static_cast<double>(bucket + 1)) -
                                         std::max(from, static_cast<double>(bucket)));
    }
  }
}

}  // namespace streamscope::viewer
