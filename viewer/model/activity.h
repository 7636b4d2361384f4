// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How busy the devices of a trace are over time, for overviews.
#pragma once

#include <vector>

#include "item_facts.h"

namespace streamscope::viewer {

/// The mean number of concurrent kernels (copies) in each bucket of the extent.
struct Activity {
  static constexpr size_t kBuckets = 2048;

  Activity(const trace::Trace& trace, TimeRange extent, const ItemFacts& items);

  std::vector<float> kernels, copies;
};

}  // namespace streamscope::viewer
