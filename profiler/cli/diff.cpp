// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "report/diff_document.h"

#include <memory>

#include "command.h"
#include "terminal.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {

std::function<int()> define_diff(CommandLine& line, ProgramArguments&) {
  struct Options {
    std::string base, now, output, format = "text";
    std::vector<std::string> runs;
    double max_slowdown = 5;
    bool quiet = false;
  };
  auto options = std::make_shared<Options>();
  line.option("BASE", options->base, "a trace of the program as it was").required();
  line.option("NEW", options->now, "a trace of the program as it is").required();
  line.option("--base-run", options->runs,
              "another trace of the program as it was; a regression must then exceed the slowest. "
              "May be repeated")
      .one_at_a_time()
      .takes("TRACE");
  line.option("--max-slowdown", options->max_slowdown,
              "exit code 1 if the run takes so much longer (default 5)")
      .not_negative()
      .takes("PERCENT");
  line.option("--format", options->format, "text (default), markdown or json")
      .one_of({"text", "markdown", "json"});
  line.option("-o,--output", options->output, "write to a file").takes("FILE");
  line.flag("--quiet", options->quiet, "no progress");
  return [options]() -> int {
    const trace::Trace base = load(options->base, options->quiet);
    std::vector<trace::Ns> runs{analysis::makespan_ns(base)};
    for (const std::string& file : options->runs)
      runs.push_back(analysis::makespan_ns(load(file, options->quiet)));
    const trace::Trace now = load(options->now, options->quiet);
    for (const trace::Trace* trace : {&base, &now}) {
      if (analysis::makespan_ns(*trace) == 0) {
        throw Error(trace->file, "has no device times, so nothing can be compared",
                    "record it with --tier times");
      }
    }
    analysis::Analyses before(base), after(now);
    const report::DiffVerdict verdict =
        report::judge(analysis::diff(before, after), std::move(runs), options->max_slowdown / 100);
    const bool to_terminal = options->output.empty();
    std::string text;
    if (options->format == "json") {
      text = report::diff_json(verdict);
    } else if (options->format == "markdown") {
      text = report::to_markdown(report::diff_document(verdict));
    } else {
      text = report::to_text(
          report::diff_document(verdict),
          {.colour = to_terminal && wants_colour(), .width = to_terminal ? terminal_width() : 0});
    }
    write_output(text, options->output, options->now);
    return verdict.regressed ? kFound : kDone;
  };
}

}  // namespace streamscope::cli
