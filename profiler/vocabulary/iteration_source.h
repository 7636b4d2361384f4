// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How iterations are found.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// Stored in traces, in iteration.source, except kNone: append only.
enum class IterationSource : uint8_t {
  kNone,
  kRange,     ///< NVTX ranges of one name
  kSequence,  ///< a sequence of work that repeats
  kGraph,     ///< launches of one graph
};

inline constexpr Term kIterationSources[] = {
    {IterationSource::kRange, "nvtx", "ranges of one name"},
    {IterationSource::kSequence, "sequence", "work that repeats"},
    {IterationSource::kGraph, "graph", "launches of one graph"},
};

}  // namespace streamscope
