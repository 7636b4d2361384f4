// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Records one of libcoord's examples exactly as `record` does, then prints the report.

#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "inject_library.h"
#include "recording.h"
#include "report/formats/exporter.h"
#include "trace/error.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

struct Demo {
  std::string_view name;
  std::string_view program;
  std::string_view summary;
};

constexpr Demo kDemos[] = {
    {"pipeline", "pipeline", "copies and kernels overlap on several streams, ordered by events"},
    {"forkjoin", "fork_join", "one stream forks into several and joins them again"},
    {"pools", "pools", "batches of work acquire events from a bounded pool and release them"},
    {"race", "race",
     "a buffer is overwritten while it is still being read: the report names both ops"},
    {"deadlock", "deadlock",
     "two streams wait for each other through memory: the program hangs and reports it"},
};

std::filesystem::path program_of(const Demo& demo) {
  // In the build folder, or installed.
  for (const char* folder : {"examples", "../" STREAMSCOPE_LIBEXECDIR "/streamscope"}) {
    const std::filesystem::path program = program_folder() / folder / demo.program;
    std::error_code error;
    if (std::filesystem::exists(program, error)) return program.lexically_normal();
  }
  throw Error(std::string(demo.program), "the example was not built",
              "build all of StreamScope (./dev build)");
}

}  // namespace

std::function<int()> define_demo(CommandLine& line, ProgramArguments&) {
  struct Choices {
    std::string name = "pipeline", device = "auto", output;
    int iterations = 0;
    bool force = false, quiet = false;
  };
  auto choices = std::make_shared<Choices>();
  line.option("NAME", &choices->name, "which program (default pipeline): " + described(kDemos),
              {.one_of = names_of(kDemos)});
  line.option("--device", &choices->device,
              "auto (default): a GPU if there is one, else the simulator; sim, cuda",
              {.one_of = {"auto", "sim", "cuda"}});
  line.option("--iterations", &choices->iterations, "number of iterations",
              {.takes = "N", .positive = true});
  line.option("-o,--output", &choices->output, "trace file; default NAME-PID.sqlite",
              {.takes = "FILE"});
  line.option("--force", &choices->force, "replace an existing file");
  line.option("--quiet", &choices->quiet, "no progress, no summary and no report");
  return [choices]() -> int {
    std::vector<std::string> program{program_of(named(kDemos, choices->name)).string(), "--device",
                                     choices->device};
    if (choices->iterations > 0) {
      program.insert(program.end(), {"--iterations", std::to_string(choices->iterations)});
    }
    record::Options options;
    options.output = choices->output;
    options.force = choices->force;
    options.quiet = choices->quiet;
    options.inject_library = inject_library();
    const record::Outcome outcome = record_program(options, program);
    if (outcome.trace_written && !choices->quiet) {
      const trace::Trace trace = load(outcome.trace, choices->quiet);
      fmt::print("\n{}",
                 report::write_text(trace, report::summarize(trace), {.look = style_for("")}));
    }
    return outcome.exit_code;
  };
}

}  // namespace streamscope::cli
