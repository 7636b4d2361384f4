// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Memory that the collector never frees: not from the program's malloc, so that the program's leak
// checkers and statistics do not see it.
#pragma once

#include <cstddef>

namespace streamscope::collect {

/// Zeroed memory aligned to a pair of cache lines (128 bytes) that lives as long as the process;
/// null if there is none. Thread-safe.
void* permanent_memory(size_t bytes);

void forget_memory_after_fork();

}  // namespace streamscope::collect
