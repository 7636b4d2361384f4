// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "pool_facts.h"

#include "labels.h"

namespace streamscope::viewer {

std::string amount(const analysis::PoolUsage& pool, trace::Int value) {
  return pool.kind == trace::kMemoryPool ? format_bytes(value) : format_count(value);
}

std::vector<PoolFact> pool_facts(const analysis::PoolUsage& pool) {
  std::vector<PoolFact> facts;
  facts.push_back(
      {Color::kTextDim,
       "at most " + amount(pool, pool.high_water) +
           (pool.capacity == trace::kNoInt ? "" : " of " + amount(pool, pool.capacity)) +
           " in use, acquired " + format_count(pool.taken, "time")});
  if (pool.waits > 0) {
    facts.push_back({Color::kWaiting, format_count(pool.waits, "wait") + " for a free one, " +
                                          format_duration(pool.wait_ns)});
  } else if (!pool.derived) {
    facts.push_back({Color::kTextDim, "no waits for a free one"});
  }
  facts.push_back(pool.left > 0
                      ? PoolFact{Color::kWarning, amount(pool, pool.left) + " not returned"}
                      : PoolFact{Color::kTextDim, "all returned"});
  return facts;
}

}  // namespace streamscope::viewer
