// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "recording.h"

#include <fmt/format.h>

#include "analysis/derive.h"
#include "report/info.h"
#include "report/units.h"
#include "terminal.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {

namespace {

// As a user in the working folder would name it.
std::string short_path(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::path near = std::filesystem::proximate(file, error);
  return error || near.begin() == near.end() || *near.begin() == ".." ? file.string()
                                                                      : near.string();
}

}  // namespace

record::Outcome record_program(const record::Options& options,
                               const std::vector<std::string>& program) {
  const record::Outcome outcome = record::run(options, program);
  if (outcome.trace_written) {
    finish_trace(outcome, options.quiet);
  } else if (!options.quiet) {
    fmt::print(stderr, "streamscope: {} made no CUDA call, so there is no trace\n",
               program.front());
  }
  return outcome;
}

void finish_trace(const record::Outcome& outcome, bool quiet) {
  try {
    const trace::Trace trace = load(outcome.trace, quiet);
    const analysis::Edges edges(trace);
    analysis::write_derived_tables(trace, edges);
    if (quiet) return;
    const report::Info info = report::info_of(trace);
    std::string text = fmt::format(
        "streamscope: wrote {}: {} on {}, {}; {}\n", short_path(outcome.trace),
        report::format_count(info.counts.op, "op"),
        report::format_count(info.counts.stream, "stream"),
        report::format_count(info.counts.event_edge, "event edge"), report::verdict(info));
    for (const report::LossFact& loss : info.losses) {
      if (loss.severity < trace::Severity::kNotice) continue;
      text += fmt::format("  {}: {}{}\n", trace::to_string(loss.severity), loss.text,
                          loss.advice.empty() ? "" : " " + loss.advice);
    }
    fmt::print(stderr, "{}", text);
  } catch (const Error& error) {
    fmt::print(stderr, "streamscope: {}\n", one_line(error.what()));
  }
}

}  // namespace streamscope::cli
