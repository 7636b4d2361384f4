// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Several connections to a trace that all see the same state of it, so that threads can read parts
// of it concurrently, also while it is being recorded.
#pragma once

#include <memory>
#include <vector>

#include "sqlite.h"

namespace streamscope::trace {

/// Each in a transaction of its own; the first is `first`. At most `count`: fewer if another
/// process writes continuously or no more can be opened.
std::vector<std::unique_ptr<Database>> snapshot(std::unique_ptr<Database> first, size_t count);

}  // namespace streamscope::trace
