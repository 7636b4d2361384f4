// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "report/export/export.h"

#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "jobs.h"
#include "report/export/export_job.h"
#include "terminal.h"
#include "trace/error.h"
#include "trace/loss.h"
#include "traces.h"
#include "vocabulary/time_text.h"

namespace streamscope::cli {
namespace {

using trace::Ns;

std::pair<Ns, Ns> parse_range(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon != text.npos) {
    const auto from = parse_time_ns(std::string_view(text).substr(0, colon));
    const auto to = parse_time_ns(std::string_view(text).substr(colon + 1));
    if (from && to && *from < *to) return {*from, *to};
  }
  throw Error("--range", "'" + text + "' is not a range", "write FROM:TO, such as 1.5ms:20ms");
}

struct ExportArguments {
  std::string file, output, to, range, view;
  int64_t around = -1;
  bool no_redact = false, quiet = false;
};

void export_run(const ExportArguments& options, const report::ExportOptions& wanted) {
  const std::filesystem::path folder = options.file;
  const job::RunFolder run = read_run(folder);
  const report::JobReport report = load_job(folder, run, "auto", options.quiet);
  const job::Job& job = report.job;
  for (const report::Notice& notice : report::notices_of(report))
    message("{}: {}", options.file, notice.text);
  const job::CommonClock clock(job);
  report::PerfettoJob out(job, clock, wanted);
  report_refused_clocks(job);
  const auto write_ranks = [&](const Sink& sink) {
    for (uint32_t row = 0; row < job.steps.ranks.size(); ++row) {
      sink(out.rank(row, load(folder / job.steps.ranks[row].identity.trace, options.quiet)));
    }
    if (out.events() == 0) report::refuse_empty(folder, wanted);
  };
  write_pieces(write_ranks, options.output, folder);
}

// As simulators expect them: FILE.0.et, FILE.1.et, ...
void export_each_rank(const ExportArguments& options, const report::ExportFormat& format,
                      const report::ExportOptions& wanted) {
  if (options.output.empty())
    throw Error("-o", fmt::format("is missing: {} has a file for each rank", format.name),
                "-o FILE writes FILE.0.et, FILE.1.et, …");
  const std::filesystem::path folder = options.file;
  for (const job::RankIdentity& identity : read_run(folder).ranks) {
    const std::filesystem::path file = folder / identity.trace;
    const trace::Trace trace = load(file, options.quiet);
    if (trace::is_unfinished(trace)) note_unfinished(file);
    write_output(format.write(trace, wanted),
                 fmt::format("{}.{}.et", options.output, identity.rank), file);
  }
}

}  // namespace

std::function<int()> define_export(CommandLine& line, ProgramArguments&) {
  auto options = std::make_shared<ExportArguments>();
  line.option("TRACE", &options->file, kTraceOrRun, {.required = true});
  line.option("--to", &options->to, "output format; " + described(report::export_formats()),
              {.one_of = names_of(report::export_formats()), .required = true});
  line.option("--view", &options->view,
              "csv: the view (default v_op); docs/trace-format.md lists them", {.takes = "NAME"});
  line.option("--range", &options->range,
              "export only this time range, relative to the start of the trace: 1.5ms:20ms; plain "
              "numbers are ns",
              {.takes = "FROM:TO"});
  line.option("--around", &options->around,
              "dot: only this op and the ops nearest to it in the graph",
              {.takes = "OP", .not_negative = true});
  line.option("-o,--output", &options->output,
              "write to a file; chakra of a folder: to FILE.0.et, FILE.1.et, …, one for each rank",
              {.takes = "FILE"});
  line.option("--no-redact", &options->no_redact,
              "chrome, perfetto: keep the command lines of the processes");
  line.option("--quiet", &options->quiet, "no progress");
  return [options]() -> int {
    report::ExportOptions wanted;
    wanted.redact = !options->no_redact;
    if (!options->view.empty()) wanted.view = options->view;
    if (!options->range.empty()) wanted.range = parse_range(options->range);
    if (options->around >= 0) {
      wanted.around = options->around < trace::kNoId ? static_cast<trace::Id>(options->around)
                                                     : trace::kNoId - 1;
    }
    if (!options->view.empty() && options->to != "csv")
      throw Error("--view", "works only with --to csv", "leave it out");
    if (options->around >= 0 && options->to != "dot")
      throw Error("--around", "works only with --to dot", "leave it out, or use --range");
    const report::ExportFormat& format = named(report::export_formats(), options->to);
    if (is_run(options->file)) {
      if (format.write_job != nullptr) {
        if (!options->range.empty())
          throw Error("--range", "does not work with --to sqlite", "select what you need by SQL");
        write_output(format.write_job(load_job(options->file, "auto", options->quiet)),
                     options->output, options->file);
        return kDone;
      }
      switch (format.ranks) {
        case report::ExportFormat::kOneFile:
          export_run(*options, wanted);
          return kDone;
        case report::ExportFormat::kFileForEach:
          export_each_rank(*options, format, wanted);
          return kDone;
        case report::ExportFormat::kNoRanks:
          break;
      }
      throw Error("--to", fmt::format("{} takes a single trace, not a folder", format.name),
                  "use perfetto, chakra or sqlite, or name a trace of the folder");
    }
    const trace::Trace trace = load(options->file, options->quiet);
    if (trace::is_unfinished(trace)) note_unfinished(options->file);  // the formats cannot say so
    write_output(format.write(trace, wanted), options->output, options->file);
    return kDone;
  };
}

}  // namespace streamscope::cli
