// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the pools panel shows about a pool beside its curve.
#pragma once

#include <string>
#include <vector>

#include "analysis/usage/pool_usage.h"
#include "render/theme.h"

namespace streamscope::viewer {

/// An amount of a pool: elements, or bytes of memory.
std::string amount(const analysis::PoolUsage& pool, trace::Int value);

struct PoolFact {
  Color color;
  std::string text;
};
/// How much was in use, how long the program waited for it, and what was not returned; one line
/// each.
std::vector<PoolFact> pool_facts(const analysis::PoolUsage& pool);

}  // namespace streamscope::viewer
