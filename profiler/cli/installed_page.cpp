// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "installed_page.h"

#include <cstdlib>
#include <filesystem>

#include "job/run_folder.h"
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

std::vector<PageTrace> page_traces(const std::filesystem::path& given) {
  if (!std::filesystem::is_directory(given)) return {{given, ""}};
  const std::filesystem::path folder =
      (std::filesystem::absolute(given) / "").lexically_normal().parent_path();
  std::vector<PageTrace> traces;
  for (const std::string& name : job::traces_in(folder))
    traces.push_back({folder / name, folder.filename().string()});
  return traces;
}

}  // namespace streamscope::cli
