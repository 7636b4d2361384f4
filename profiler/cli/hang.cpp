// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/hang/hang.h"

#include <fmt/format.h>

#include <memory>

#include "analysis/labels.h"
#include "command.h"
#include "hang_of_job.h"
#include "jobs.h"
#include "record/run/remote.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

int report(const trace::Trace& trace) {
  analysis::Analyses analyses(trace);
  const std::vector<trace::HangReport> reports = analysis::explain_hangs(analyses);
  bool alarm = false;
  for (const trace::HangReport& report : reports) {
    fmt::print("{}", report.text);
    alarm |= report.alarm;
  }
  if (reports.empty()) fmt::print("no process was hung when this trace ended\n");
  return alarm ? kFound : kDone;
}

}  // namespace

std::function<int()> define_hang(CommandLine& line, ProgramArguments&) {
  struct Options {
    std::string file;
    int pid = 0;
    bool quiet = false;
  };
  auto options = std::make_shared<Options>();
  line.option("TRACE", &options->file, kTraceOrRun);
  line.option("--pid", &options->pid,
              "a process that is being recorded: query its recorder now, without stopping it",
              {.takes = "PID", .positive = true});
  line.option("--quiet", &options->quiet, "no progress");
  return [options]() -> int {
    if ((options->pid > 0) == !options->file.empty()) {
      throw Error("hang", "needs either a trace or a process",
                  "use streamscope hang TRACE or streamscope hang --pid PID");
    }
    if (options->file.empty()) {
      const record::Recorder recorder = record::Recorder::of(options->pid);
      const trace::HangReport report = recorder.explain();
      fmt::print("{}", analysis::printable(report.text, true));
      return report.alarm ? kFound : kDone;
    }
    if (is_run(options->file)) return report_job_hang(options->file, options->quiet);
    return report(load(options->file, options->quiet));
  };
}

}  // namespace streamscope::cli
