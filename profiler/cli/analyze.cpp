// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <memory>

#include "analysis/derive.h"
#include "analysis/units.h"
#include "command.h"
#include "jobs.h"
#include "traces.h"

namespace streamscope::cli {

std::function<int()> define_analyze(CommandLine& line, ProgramArguments&) {
  struct Options {
    std::string file;
    bool quiet = false;
  };
  auto options = std::make_shared<Options>();
  line.option(
      "TRACE", &options->file,
      "a recorded trace, whose derived tables are replaced; or the folder of a run, whose ranks "
      "get summaries: processes that MPI or Slurm starts share them",
      {.required = true});
  line.option("--quiet", &options->quiet, "no progress and no summary");
  return [options]() -> int {
    if (is_run(options->file)) {
      const size_t made = summarize_run(options->file, options->quiet);
      if (!options->quiet)
        fmt::print("{}: made {} of the summaries of its ranks\n", options->file,
                   analysis::format_count(made));
      return kDone;
    }
    const trace::Trace trace = load_to_analyze(options->file, options->quiet);
    analysis::Analyses analyses(trace);
    const analysis::DerivedCounts counts = analysis::write_derived_tables(analyses);
    if (!options->quiet) {
      fmt::print("{}: {} between {}, {}\n", options->file,
                 analysis::format_count(counts.edges, "ordering edge"),
                 analysis::format_count(trace.op.size(), "op"),
                 analysis::format_count(counts.findings, "finding"));
    }
    return kDone;
  };
}

}  // namespace streamscope::cli
