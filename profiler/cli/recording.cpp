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

std::string finish_trace(const std::filesystem::path& file, bool quiet) {
  const trace::Trace trace = load(file, quiet);
  const analysis::Edges edges(trace);
  analysis::write_derived_tables(trace, edges);
  const report::Info info = report::info_of(trace);
  const auto& counts = info.counts;
  std::string text = fmt::format(
      "wrote {}: {} on {}, {}; {}", file.string(), report::format_count(counts.op, "op"),
      report::format_count(counts.stream, "stream"),
      report::format_count(counts.event_edge, "event edge"), report::verdict(info));
  for (const report::LossFact& loss : info.losses) {
    if (loss.severity < trace::Severity::kNotice) continue;
    text += fmt::format("\n  {}: {}{}", trace::to_string(loss.severity), loss.text,
                        loss.advice.empty() ? "" : " " + loss.advice);
  }
  return text;
}

record::Outcome record_program(const record::Options& options,
                               const std::vector<std::string>& program) {
  const record::Outcome outcome = record::run(options, program);
  if (!outcome.trace_written) {
    if (!options.quiet) {
      fmt::print(stderr, "streamscope: {} made no CUDA call, so there is no trace\n",
                 program.front());
    }
    return outcome;
  }
  try {
    const std::string summary = finish_trace(outcome.trace, options.quiet);
    if (!options.quiet) fmt::print(stderr, "streamscope: {}\n", summary);
  } catch (const Error& error) {
    // The program has run and its exit code counts; the trace itself is there.
    fmt::print(stderr, "streamscope: {}\n", one_line(error.what()));
  }
  return outcome;
}

}  // namespace streamscope::cli
