// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace/write/cut.h"

#include <filesystem>
#include <memory>

#include "command.h"
#include "recording.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {

std::function<int()> define_cut(CommandLine& line, ProgramArguments&) {
  struct Options {
    std::string file, range, output;
    bool force = false, quiet = false;
  };
  auto options = std::make_shared<Options>();
  line.option("TRACE", &options->file, "a trace, also one that is still being recorded",
              {.required = true});
  line.option("--range", &options->range,
              "the part is what the last NVTX range of this name, numbered or not, covers that has "
              "ended: what its process did meanwhile, in all threads",
              {.takes = "NAME", .required = true});
  line.option("-o,--output", &options->output, "the trace to write",
              {.takes = "FILE", .required = true});
  line.option("--force", &options->force, "replace an existing trace");
  line.option("--quiet", &options->quiet, "no progress and no summary");
  return [options]() -> int {
    std::error_code ignored;
    if (std::filesystem::equivalent(options->file, options->output, ignored))
      throw Error(options->output, "is the trace to cut", "name another output file");
    recover(options->file);
    trace::Trace trace = load_to_analyze(options->file, options->quiet);
    const trace::Part part = trace::part_of_range(trace, options->range);
    trace::cut(std::move(trace), part, options->output, options->force);
    finish_trace(options->output, options->quiet);
    return kDone;
  };
}

}  // namespace streamscope::cli
