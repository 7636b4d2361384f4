// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "installed_page.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "job/files/run_folder.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {

namespace {

// Installed, or built in the folder `beside` ours; nothing if there is none.
std::optional<report::ViewerPage> find_page(const char* name, const char* beside) {
  for (const auto& place : {std::filesystem::path("../" STREAMSCOPE_DATADIR "/streamscope"),
                            std::filesystem::path("../..") / beside}) {
    const std::filesystem::path file = program_folder() / place / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error)) return report::read_viewer_page(file);
  }
  return std::nullopt;
}

// By STREAMSCOPE_WEB_VIEWER.
const char* named_page() {
  const char* named = std::getenv("STREAMSCOPE_WEB_VIEWER");
  return named != nullptr && *named != '\0' ? named : nullptr;
}

}  // namespace

report::ViewerPage installed_page() {
  if (const char* named = named_page()) return report::read_viewer_page(named);
  if (std::optional<report::ViewerPage> page = find_page("viewer.html", "build-web"))
    return std::move(*page);
  throw Error("viewer.html", "the viewer for browsers was not built or not installed",
              "./dev web builds it; STREAMSCOPE_WEB_VIEWER names the file if it is elsewhere");
}

std::optional<report::ViewerPage> installed_page_with_threads() {
  if (named_page() != nullptr) return std::nullopt;
  return find_page("viewer-threads.html", "build-web-threads");
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
