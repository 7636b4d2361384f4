// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "recording.h"

#include <fmt/format.h>

#include "analysis/derive.h"
#include "analysis/hang/hang.h"
#include "analysis/units.h"
#include "command.h"
#include "rank_follower.h"
#include "record/run/rings_folder.h"
#include "report/sections/info.h"
#include "terminal.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {

namespace {

// Relative to the working folder if the file is below it.
std::string short_path(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  const std::filesystem::path near = file.lexically_proximate(here);
  return error || near.begin() == near.end() || *near.begin() == ".." ? file.string()
                                                                      : near.string();
}

// One line with everything a user needs if, say, the disk fills up during recording. `ending`
// describes how the program ended.
std::string failure_line(const record::Outcome& outcome, const Error& failure,
                         const std::string& ending) {
  std::string line = one_line(failure.what()) + "; the program was not affected" + ending;
  const std::filesystem::path rings = record::rings_path(outcome.trace);
  std::error_code error;
  if (std::filesystem::exists(rings, error)) {
    line += fmt::format("; the records are kept in {}: run streamscope info {} to add them",
                        short_path(rings), short_path(outcome.trace));
  }
  return line;
}

// Recording only part of a run may record nothing.
std::string why_empty(const record::Options& options) {
  if (options.capture_range == ring::CaptureRange::kNvtx) {
    return fmt::format("  note: no work was issued inside an NVTX range \"{}\"\n",
                       options.capture_range_name);
  }
  if (options.capture_range == ring::CaptureRange::kCudaProfilerApi)
    return "  note: no work was issued between cudaProfilerStart and cudaProfilerStop\n";
  if (options.delay_s || options.duration_s)
    return "  note: no work was issued in the recorded time\n";
  return "";
}

// Reports a log that another reader still uses, or that could not be removed.
void report_of_log(const std::filesystem::path& file) {
  std::error_code error;
  for (const char* suffix : {"-wal", "-shm"}) {
    const std::filesystem::path log = file.string() + suffix;
    if (!std::filesystem::exists(log, error)) continue;
    message("{}: belongs to the trace; keep it until `streamscope info {}` removes it",
            short_path(log), short_path(file));
    return;
  }
}

// Computes the derived tables and reports what the trace contains and lacks.
report::Info finish(const std::filesystem::path& file, bool quiet) {
  const trace::Trace trace = load(file, quiet);
  analysis::Analyses analyses(trace);
  analysis::write_derived_tables(analyses);
  report_of_log(file);
  report::Info info = report::info_of(trace);
  if (quiet) return info;
  std::string text = fmt::format("streamscope: wrote {}: {} on {}, {}; {}\n", short_path(file),
                                 analysis::format_count(info.counts.op, "op"),
                                 analysis::format_count(info.counts.stream, "stream"),
                                 analysis::format_count(info.counts.event_edge, "event edge"),
                                 report::verdict(info));
  if (info.stack_count > 0) text += fmt::format("  {}\n", report::stack_cost(info));
  for (const report::LossFact& loss : info.losses) {
    if (loss.severity < trace::Severity::kNotice) continue;
    text += fmt::format("  {}: {}{}\n", trace::to_string(loss.severity), loss.text,
                        loss.advice.empty() ? "" : " " + loss.advice);
  }
  write_message(text);
  return info;
}

}  // namespace

record::Outcome record_program(const record::Options& options,
                               const std::vector<std::string>& program) {
  if (options.inject_library.empty()) {
    message(
        "libstreamscope_inject.so was not found, so only programs that link it are recorded; "
        "install all of StreamScope, or set STREAMSCOPE_INJECT to the path of the library");
  }
  record::Outcome outcome = record::run(options, program);
  if (outcome.failure) {
    message("{}", failure_line(outcome, *outcome.failure,
                               fmt::format(" and ended with exit code {}", outcome.exit_code)));
    // An error of the program takes precedence over ours.
    if (outcome.exit_code == 0) outcome.exit_code = kUnusable;
  } else if (outcome.trace_written) {
    finish_trace(outcome, options);
  } else if (!options.quiet && outcome.left_running) {
    message(
        "{} ended without a CUDA call; processes that it left running are "
        "recorded into {} once they use CUDA",
        program.front(), short_path(outcome.trace));
  } else if (!options.quiet && options.on_demand) {
    if (outcome.parts == 0)
      message("{} ended, and the recording was never started, so there is no trace",
              program.front());
  } else if (!options.quiet && outcome.ranks == 0) {
    message("no CUDA call of {} was recorded, so there is no trace", program.front());
  }
  return outcome;
}

void watch_for_hangs(record::Options& options, double timeout_s) {
  options.hangs.explain = [](const trace::Trace& trace, trace::Id process,
                             const trace::HangReport* coord) {
    analysis::Analyses analyses(trace);
    return analysis::explain_hang(analyses, process, coord);
  };
  if (!(timeout_s > 0)) return;
  options.hangs.timeout_s = timeout_s;
  options.hangs.follow = [timeout_s](const std::filesystem::path& trace) {
    return follow_rank(trace, timeout_s);
  };
  options.hangs.reported = [](uint32_t pid, const trace::HangReport& report) {
    if (report.alarm)
      write_message(fmt::format("streamscope: process {} hangs: {}", pid, report.text));
  };
}

void finish_trace(const record::Outcome& outcome, const record::Options& options) {
  if (outcome.failure) {
    message("{}", failure_line(outcome, *outcome.failure, ""));
    return;
  }
  try {
    if (finish(outcome.trace, options.quiet).counts.op == 0 && !options.quiet)
      write_message(why_empty(options));
  } catch (const std::exception& error) {
    message("{}", one_line(explain(error)));
  }
}

void finish_trace(const std::filesystem::path& file, bool quiet) {
  try {
    finish(file, quiet);
  } catch (const std::exception& error) {
    throw Error(short_path(file),
                "is written, but its derived tables could not be added: " + explain(error),
                "then run streamscope analyze " + short_path(file));
  }
}

}  // namespace streamscope::cli
