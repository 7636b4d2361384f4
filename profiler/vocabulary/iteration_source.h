// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How iterations are found.
#pragma once

#include <cstdint>

namespace streamscope {

/// Stored in traces, in iteration.source, except kNone: append only.
enum class IterationSource : uint8_t {
  kNone,
  kRange,     ///< NVTX ranges of one name
  kSequence,  ///< a sequence of work that repeats
  kGraph,     ///< launches of one graph
};

}  // namespace streamscope
