// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace/write/merge.h"

#include <memory>

#include "command.h"
#include "recording.h"
#include "terminal.h"
#include "traces.h"

namespace streamscope::cli {

std::function<int()> define_merge(CommandLine& line, ProgramArguments&) {
  struct Options {
    std::vector<std::filesystem::path> files;
    std::string output;
    double wait_s = kDefaultWaitS;
    bool force = false, no_redact = false, quiet = false;
  };
  auto options = std::make_shared<Options>();
  line.option("TRACE", &options->files,
              "traces of ranks, machines or runs; a single trace is copied", {.required = true});
  line.option("-o,--output", &options->output, "the trace to write",
              {.takes = "FILE", .required = true});
  add_wait_option(line, options->wait_s);
  line.option("--force", &options->force, "replace an existing trace");
  line.option("--no-redact", &options->no_redact,
              "keep the command lines and environment variables of the processes");
  line.option("--quiet", &options->quiet, "no progress and no summary");
  return [options]() -> int {
    for (const auto& file : options->files) wait_for_end(file, options->wait_s);
    {
      const Progress progress("merging into " + options->output, options->quiet);
      trace::merge(options->files, options->output,
                   {.overwrite = options->force, .redact = !options->no_redact});
    }
    finish_trace(options->output, options->quiet);
    return kDone;
  };
}

}  // namespace streamscope::cli
