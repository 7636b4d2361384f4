// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "command.h"
#include "report/exporter.h"
#include "terminal.h"
#include "traces.h"

namespace streamscope::cli {

std::function<int()> define_report(CLI::App& app, ProgramArguments&) {
  struct Options {
    std::string file, output, format = "text", by = "stream";
    bool quiet = false;
  };
  auto options = std::make_shared<Options>();
  std::vector<std::string> formats;
  for (const report::Exporter& exporter : report::exporters()) formats.emplace_back(exporter.name);
  app.add_option("TRACE", options->file, "a recorded trace")->required()->option_text(" ");
  app.add_option("--format", options->format, "text (default), markdown or json")
      ->check(CLI::IsMember(formats))
      ->option_text("text|markdown|json");
  app.add_option("--by", options->by, "what to break down by: stream (default), nvtx or kernel")
      ->check(CLI::IsMember({"stream", "nvtx", "kernel"}))
      ->option_text("stream|nvtx|kernel");
  app.add_option("-o,--output", options->output, "write to a file")->option_text("FILE");
  app.add_flag("--quiet", options->quiet, "no progress");
  return [options]() -> int {
    const trace::Trace trace = load(options->file, options->quiet);
    const bool to_terminal = options->output.empty();
    const report::Options look{
        .by = options->by == "nvtx"     ? report::By::kNvtx
              : options->by == "kernel" ? report::By::kKernel
                                        : report::By::kStream,
        .colour = to_terminal && wants_colour(),
        .width = to_terminal ? terminal_width() : 0,
    };
    const report::Exporter* exporter = report::find_exporter(options->format);
    write_output(exporter->write(trace, report::summarize(trace), look), options->output,
                 options->file);
    return kDone;
  };
}

}  // namespace streamscope::cli
