// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Addresses and kinds of memory, for tests of what work touches.
#pragma once

#include "trace/read/reader.h"

namespace streamscope::analysis {

/// Two buffers.
inline constexpr trace::Int kA = 0x7f0000000000, kB = 0x7f1000000000;

/// As in op.memory_kinds and op.detail.
inline constexpr trace::Small kPageable = 1, kPinned = 2, kDevice = 3, kManaged = 5;

}  // namespace streamscope::analysis
