// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "installed_page.h"

#include <cstdlib>
#include <filesystem>

#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {

report::ViewerPage installed_page() {
  if (const char* named = std::getenv("STREAMSCOPE_WEB_VIEWER"); named != nullptr && *named != '\0')
    return report::read_viewer_page(named);
  for (const char* place : {"../" STREAMSCOPE_DATADIR "/streamscope", "../../build-web"}) {
    const std::filesystem::path file = program_folder() / place / "viewer.html";
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error)) return report::read_viewer_page(file);
  }
  throw Error("viewer.html", "the viewer for browsers was not built or not installed",
              "./dev web builds it; STREAMSCOPE_WEB_VIEWER names the file if it is elsewhere");
}

}  // namespace streamscope::cli
