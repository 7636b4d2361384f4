// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What `record`, `demo`, `import` and `merge` share: make a trace, finish it, say in one line what
// came of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/run/launcher.h"

namespace streamscope::cli {

/// Runs the program and finishes its trace. One that could not be written is told on standard
/// error and turns exit code 0 into 2.
record::Outcome record_program(const record::Options& options,
                               const std::vector<std::string>& program);

/// Has the recorder explain a program in which nothing happens for so long (0: only one that
/// somebody asks about), on standard error and in the trace.
void watch_for_hangs(record::Options& options, double timeout_s);

/// Computes the derived tables of a trace that has just been recorded and, unless quiet, says on
/// standard error what it holds and lacks: "wrote t.sqlite: 61,672 ops on 4 streams, 1,200 event
/// edges; complete, nothing lost". Trouble is told there too: by now the program has run and its
/// exit code is what counts.
void finish_trace(const record::Outcome& outcome, const record::Options& options);

/// The same for a trace made of other files. Throws Error.
void finish_trace(const std::filesystem::path& file, bool quiet);

}  // namespace streamscope::cli
