// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "analysis/delay/what_if.h"
#include "analysis/iterations/iteration_model.h"
#include "analysis/units.h"
#include "app_report.h"
#include "command.h"
#include "jobs.h"
#include "report/formats/exporter.h"
#include "report/formats/json.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {

namespace {

// Replays the run with all changes combined.
std::string what_if(const trace::Trace& trace, const std::vector<std::string>& texts, bool json,
                    const analysis::IterationRequest& iteration, const std::string& file) {
  analysis::Analyses analyses(trace, iteration);
  analysis::Change change;
  // A graph holds more where nothing synchronizes.
  std::vector<std::string> ordered = texts;
  std::ranges::stable_partition(ordered, [](const std::string& text) { return text != "graph"; });
  for (const std::string& text : ordered) {
    if (!analysis::add_change(analyses, text, change)) {
      throw Error(file, "has nothing that '" + text + "' could change",
                  "see streamscope report --help; ids are those of its tables");
    }
  }
  const trace::Ns before = analyses.replay().recorded_ns(),
                  after = before - analyses.replay().gain_ns(change);
  const analysis::IterationModel& model = analyses.iteration_model();
  const trace::Ns each = model.found() ? model.bare_ns() : 0,
                  changed = model.found() ? model.predicted_ns(change) : 0;
  if (json) {
    report::Json result{{"schema", 1},
                        {"what_if", texts},
                        {"measured_ns", before},
                        {"replayed_ns", after},
                        {"gain_ns", before - after}};
    result["iteration_ns"] = model.found() ? report::Json(each) : report::Json();
    result["repaired_iteration_ns"] = model.found() ? report::Json(changed) : report::Json();
    return report::dump(result);
  }
  std::string text = fmt::format(
      "{}: {} instead of {}, {} {} ({})\n", fmt::join(texts, ", "),
      analysis::format_duration(after), analysis::format_duration(before),
      analysis::format_duration(std::abs(before - after)), after > before ? "more" : "less",
      analysis::format_percent(std::abs(before - after), before));
  if (model.found())
    text += fmt::format("an iteration: {} instead of {}, both without recording\n",
                        analysis::format_duration(changed), analysis::format_duration(each));
  return text;
}

struct ReportArguments {
  std::string file, output, format = "text", by = "stream", show, iteration = "auto", range;
  std::vector<std::string> what_if;
  std::optional<double> max_mb;
  bool quiet = false;
};

int write_app_report(const ReportArguments& options) {
  if (is_run(options.file))
    throw Error("--format", "app takes a single trace, not a folder",
                "name a trace of the folder, or use html");
  write_app({.file = options.file,
             .output = options.output,
             .range = options.range,
             .max_mb = options.max_mb.value_or(kDefaultMaxMb),
             .quiet = options.quiet});
  return kDone;
}

int write_report(const ReportArguments& options) {
  if (!options.what_if.empty() && options.format != "text" && options.format != "json") {
    throw Error("--format", "'" + options.format + "' does not work with --what-if",
                "use text or json");
  }
  if (options.format == kAppFormat) return write_app_report(options);
  if (!options.range.empty() || options.max_mb)
    throw Error(options.max_mb ? "--max-mb" : "--range", "works only with --format app",
                "leave it out, or add --format app");
  const report::Exporter& exporter = named(report::exporters(), options.format);
  if (is_run(options.file)) {
    if (!options.what_if.empty())
      throw Error("--what-if", "changes a single trace, not a job", "name a trace of the folder");
    const report::JobReport job = load_job(options.file, options.iteration, options.quiet);
    write_output(exporter.write_job(job, style_for(options.output)), options.output, options.file);
    return kDone;
  }
  const trace::Trace trace = load_to_analyze(options.file, options.quiet);
  if (!options.what_if.empty()) {
    write_output(what_if(trace, options.what_if, options.format == "json",
                         iteration_request(options.iteration), options.file),
                 options.output, options.file);
    return kDone;
  }
  const report::Options look{
      .by = options.by == "nvtx"     ? report::By::kNvtx
            : options.by == "kernel" ? report::By::kKernel
                                     : report::By::kStream,
      .look = style_for(options.output),
      .show_possible = !options.show.empty(),
  };
  write_output(
      exporter.write(trace, report::summarize(trace, iteration_request(options.iteration)), look),
      options.output, options.file);
  return kDone;
}

}  // namespace

std::function<int()> define_report(CommandLine& line, ProgramArguments&) {
  auto options = std::make_shared<ReportArguments>();
  std::vector<std::string> formats = names_of(report::exporters());
  formats.emplace_back(kAppFormat);
  const std::vector<std::string> kinds{"stream", "nvtx", "kernel"};
  line.option("TRACE", &options->file, kTraceOrRun, {.required = true});
  line.option("--format", &options->format,
              alternatives(formats) + "; app: the viewer with the trace inside, for a browser",
              {.one_of = formats});
  line.option("--by", &options->by, "what to break down by: " + alternatives(kinds),
              {.one_of = kinds});
  add_iteration_option(line, options->iteration);
  line.option(
      "--what-if", &options->what_if,
      "estimate the duration of the run with a change: drop-edge:ID, drop-sync:ID, "
      "scale-op:ID=FACTOR, drop-op:ID, add-stream:ID (one more stream for the work of "
      "stream ID), split-stream:ID (the same, but only for branches that are known not to "
      "depend on each other), add-copy-engine, graph (what each iteration launches between "
      "synchronizations as a CUDA graph) or no-sync (no synchronizations in iterations, "
      "nor copies of the values that they read); ids as in the trace's tables; repeat to combine. "
      "Text or json only",
      {.takes = "CHANGE"});
  line.option("--show", &options->show,
              "possible: list the findings from indirect evidence, such as kernel parameters, "
              "instead of one line for all of them",
              {.one_of = {"possible"}});
  line.option("--range", &options->range,
              "app: only this part of the trace, such as 10ms:12.5ms or 40%:60%",
              {.takes = "FROM:TO"});
  line.option(
      "--max-mb", &options->max_mb,
      fmt::format("app: embed an overview if the page were larger (default {:g})", kDefaultMaxMb),
      {.takes = "N", .positive = true});
  line.option("-o,--output", &options->output, "write to a file", {.takes = "FILE"});
  line.option("--quiet", &options->quiet, "no progress");
  return [options] { return write_report(*options); };
}

}  // namespace streamscope::cli
