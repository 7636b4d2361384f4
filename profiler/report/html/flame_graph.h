// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A flame graph of what the host does while the device waits for it. Internal to report.
#pragma once

#include <string>

#include "report/sections/iteration.h"

namespace streamscope::report {

/// A figure with a box for each function, as wide as its share of the host's time; "" without
/// samples.
std::string flame_graph(const IterationSummary& summary);

}  // namespace streamscope::report
