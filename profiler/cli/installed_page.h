// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The page of the viewer that is installed or built beside this program, and the traces that it
// shows.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/app/viewer_page.h"

namespace streamscope::cli {

/// The page that opens anywhere: the file that STREAMSCOPE_WEB_VIEWER names, else
/// share/streamscope/viewer.html beside the folder of this program, else what ./dev web made beside
/// the build folder. Throws Error.
report::ViewerPage installed_page();

/// The page with threads, for a server that isolates it: viewer-threads.html in the same places.
/// Nothing if there is none. Throws Error if it cannot be read.
std::optional<report::ViewerPage> installed_page_with_threads();

/// A trace in a page.
struct PageTrace {
  std::filesystem::path file;
  std::string run;  ///< name of the run that it is a rank of, or empty
  std::string name() const { return file.filename().string(); }
};

/// The trace, or those of the folder of a run.
std::vector<PageTrace> page_traces(const std::filesystem::path& given);

}  // namespace streamscope::cli
