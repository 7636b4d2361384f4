// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "command.h"
#include "job/run_summaries.h"
#include "trace/error.h"
#include "trace/read/query.h"
#include "traces.h"

namespace streamscope::cli {

std::function<int()> define_view(CommandLine&, ProgramArguments& arguments) {
  // The viewer has its own options; all are passed on.
  return [&arguments]() -> int {
    // Traces come first. Reject an unreadable one here, not in a window.
    for (const std::string& argument : arguments) {
      if (argument.starts_with('-')) break;
      if (std::filesystem::is_directory(argument)) {
        for (const job::RankIdentity& rank :
             job::first_traces(job::read_run_folder(argument), argument))
          recover(std::filesystem::path(argument) / rank.trace);
        continue;
      }
      recover(argument);
      trace::Query(argument, "SELECT 1");
    }
    const std::filesystem::path viewer = program_folder() / "streamscope-viewer";
    std::error_code error;
    if (!std::filesystem::exists(viewer, error)) {
      throw Error(viewer.string(), "the viewer was not built",
                  "install Dear ImGui and GLFW, configure with STREAMSCOPE_VIEWER=ON and build");
    }
    std::vector<char*> words{const_cast<char*>(viewer.c_str())};
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    execv(viewer.c_str(), words.data());
    throw Error(viewer.string(), std::strerror(errno), "check that it is executable", errno);
  };
}

}  // namespace streamscope::cli
