// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Shared by `record`, `demo`, `import` and `merge`: make a trace, finish it, report the result in
// one line.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "command_line.h"
#include "record/run/launcher.h"

namespace streamscope::cli {

/// Runs the program and finishes its trace. If the trace cannot be written, reports that on
/// standard error and turns exit code 0 into 2.
record::Outcome record_program(const record::Options& options,
                               const std::vector<std::string>& program);

/// What `record` does without options, into a file that may exist.
record::Options default_record_options(const std::filesystem::path& file);

/// Declares the options of `record` that say what is recorded. The returned function gives all
/// options, after parsing; it may throw Error.
std::function<record::Options()> define_recorded(CommandLine& line);

/// Makes the recorder explain a program without progress for `timeout_s` (0: only on request), on
/// standard error and in the trace.
void watch_for_hangs(record::Options& options, double timeout_s);

/// Computes the derived tables of a new recording and, unless quiet, reports on standard error what
/// it contains and lacks: "wrote t.sqlite: 61,672 ops on 4 streams, 1,200 event edges; complete,
/// nothing lost". Errors are also only reported there: the program has already run, and its exit
/// code is what counts.
void finish_trace(const record::Outcome& outcome, const record::Options& options);

/// The same for a trace made of other files. Throws Error.
void finish_trace(const std::filesystem::path& file, bool quiet);

}  // namespace streamscope::cli
