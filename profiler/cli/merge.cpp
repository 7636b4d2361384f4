// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace/write/merge.h"

#include <algorithm>
#include <memory>
#include <span>

#include "command.h"
#include "job/common_clock.h"
#include "jobs.h"
#include "recording.h"
#include "terminal.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

struct MergeArguments {
  std::vector<std::filesystem::path> files;
  std::string output;
  double wait_s = kDefaultWaitS;
  bool force = false, no_redact = false, quiet = false;
};

void merge_traces(const MergeArguments& options, std::span<const std::filesystem::path> files,
                  trace::MergeOptions wanted) {
  const Progress progress("merging into " + options.output, options.quiet);
  wanted.overwrite = options.force;
  wanted.redact = !options.no_redact;
  trace::merge(files, options.output, wanted);
}

// All ranks on one clock.
void merge_run(const MergeArguments& options) {
  const std::filesystem::path& folder = options.files.front();
  wait_for_run(folder, options.wait_s);
  const job::RunFolder run = read_run(folder);
  const job::Job job = load_job(folder, run, "auto", options.quiet).job;
  report_refused_clocks(job);
  const job::CommonClock clock(job);
  std::vector<std::filesystem::path> files;
  trace::MergeOptions wanted{.started_ns = clock.started_ns()};
  for (uint32_t row = 0; row < job.steps.ranks.size(); ++row) {
    files.push_back(folder / job.steps.ranks[row].identity.trace);
    wanted.clocks.push_back([&clock, row](trace::Ns ns) { return clock.of(row, ns); });
  }
  merge_traces(options, files, std::move(wanted));
}

}  // namespace

std::function<int()> define_merge(CommandLine& line, ProgramArguments&) {
  auto options = std::make_shared<MergeArguments>();
  line.option(
      "TRACE", &options->files,
      "traces of ranks, machines or runs; a single trace is copied; or the folder of a run of "
      "many ranks",
      {.required = true});
  line.option("-o,--output", &options->output, "the trace to write",
              {.takes = "FILE", .required = true});
  add_wait_option(line, options->wait_s);
  line.option("--force", &options->force, "replace an existing trace");
  line.option("--no-redact", &options->no_redact,
              "keep the command lines and environment variables of the processes");
  line.option("--quiet", &options->quiet, "no progress and no summary");
  return [options]() -> int {
    if (std::ranges::any_of(options->files, is_run)) {
      if (options->files.size() > 1)
        throw Error("merge", "a folder of a run is merged alone", "name its traces to add others");
      merge_run(*options);
    } else {
      for (const auto& file : options->files) wait_for_end(file, options->wait_s);
      merge_traces(*options, options->files, {});
    }
    finish_trace(options->output, options->quiet);
    return kDone;
  };
}

}  // namespace streamscope::cli
