// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How commands come by a trace, and where their output goes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "trace/reader.h"

namespace streamscope::cli {

/// Makes a trace ready for reading: what a dead recorder left in the rings beside it is added
/// first.
void recover(const std::filesystem::path& file);
/// recover(), then reads it all, with progress.
trace::Trace load(const std::filesystem::path& file, bool quiet);

/// Writes to standard output, or to `file` if it is not empty. `input` and other traces are never
/// overwritten.
void write_output(std::string_view text, const std::filesystem::path& file,
                  const std::filesystem::path& input);

/// The folder of the running program.
std::filesystem::path program_folder();

}  // namespace streamscope::cli
