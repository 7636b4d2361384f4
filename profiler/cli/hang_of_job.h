// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// `streamscope hang DIR`.
#pragma once

#include <filesystem>

namespace streamscope::cli {

/// Explains which rank keeps the job of a folder from going on, if any does; an exit code. Reads
/// the notes of the ranks' recorders, and the trace of a rank that has none.
int report_job_hang(const std::filesystem::path& folder, bool quiet);

}  // namespace streamscope::cli
