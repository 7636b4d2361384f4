// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What `record` and `demo` share: run a program under the recorder, finish its trace, say in one
// line what came of it.
#pragma once

#include <string>
#include <vector>

#include "record/launcher.h"

namespace streamscope::cli {

/// Runs the program and computes the derived tables of its trace. The summary goes to standard
/// error, unless quiet.
record::Outcome record_program(const record::Options& options,
                               const std::vector<std::string>& program);

/// Computes the derived tables of a trace that has just been recorded and returns its summary:
/// "wrote t.sqlite: 61,672 ops on 4 streams, 1,200 event edges; nothing lost".
std::string finish_trace(const std::filesystem::path& file, bool quiet);

}  // namespace streamscope::cli
