// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "report/info.h"

#include <memory>

#include "command.h"
#include "traces.h"

namespace streamscope::cli {

std::function<int()> define_info(CommandLine& line, ProgramArguments&) {
  struct Options {
    std::string file;
    bool json = false, quiet = false;
  };
  auto options = std::make_shared<Options>();
  line.option("TRACE", options->file, "a recorded trace").required();
  line.flag("--json", options->json, "for programs");
  line.flag("--quiet", options->quiet, "no progress");
  return [options]() -> int {
    const trace::Trace trace = load(options->file, options->quiet);
    const report::Info info = report::info_of(trace);
    write_output(options->json ? report::info_json(info) : report::info_text(trace, info), "",
                 options->file);
    return kDone;
  };
}

}  // namespace streamscope::cli
