// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Merges traces of several runs, ranks or machines into one, on one timeline.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "trace/model.h"

namespace streamscope::trace {

struct MergeOptions {
  bool overwrite = false;
  /// Leave out how the processes were started: command lines and environment variables.
  bool redact = true;
  /// What turns the times of each trace into those of the result; empty: see merge().
  std::vector<std::function<Ns(Ns)>> clocks;
  Ns started_ns = kUnknownNs;  ///< with `clocks`: Unix time of 0
};

/// Writes `out` from one trace (a copy to pass on) or more; if one is unfinished, so is the result.
/// Without `clocks`, their wall-clock anchors define the offset between their times; a trace
/// without one, or with simulated devices only, starts at 0. Derived tables are left empty. Reads
/// one trace at a time into memory. Throws Error.
void merge(std::span<const std::filesystem::path> files, const std::filesystem::path& out,
           const MergeOptions& options = {});

}  // namespace streamscope::trace
