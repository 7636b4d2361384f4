// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reduces a trace to what a viewer draws an overview of it from.
#pragma once

#include <cstddef>
#include <filesystem>

#include "trace/model.h"

namespace streamscope::trace {

/// Writes `out`, which must not exist: the processes, threads, devices, contexts and streams of the
/// trace, and the levels of its table `lod` from `finest_level` on; nothing else. Returns how many
/// cells these have; if there are none, for want of analysis or of levels, nothing is written.
/// Throws Error.
size_t write_overview(const std::filesystem::path& file, Small finest_level,
                      const std::filesystem::path& out);

}  // namespace streamscope::trace
