// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the panel of pools says of a pool beside its curve.
#pragma once

#include <string>
#include <vector>

#include "analysis/usage/pool_usage.h"
#include "render/theme.h"

namespace streamscope::viewer {

/// So many of a pool: elements, or bytes of memory.
std::string amount(const analysis::PoolUsage& pool, trace::Int value);

struct PoolFact {
  Color color;
  std::string text;
};
/// How much was in use, how long was waited for it, and what is left; a line each.
std::vector<PoolFact> pool_facts(const analysis::PoolUsage& pool);

}  // namespace streamscope::viewer
