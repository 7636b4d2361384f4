// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// `streamscope cost`: runs a program in turns with and without recording, and compares how fast it
// proceeds.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "analysis/units.h"
#include "analysis/usage/cost_of_runs.h"
#include "command.h"
#include "inject_library.h"
#include "no_output.h"
#include "record/run/launcher.h"
#include "recording.h"
#include "terminal.h"
#include "trace/error.h"
#include "trace/scratch_folder.h"
#include "traces.h"
#include "vocabulary/tier.h"

namespace streamscope::cli {
namespace {

using analysis::ComparedRuns;

struct CostChoices {
  int pairs = analysis::kFewestPairs;
  std::string range;
  bool json = false, quiet = false;
};

// Six runs would take too long, and a clock does for such a cost.
void refuse_accesses(const record::Options& options) {
  if ((options.with & ring::kWithAccesses) != 0)
    throw Error("cost", "--with accesses makes every kernel many times slower",
                "time the program with `streamscope record --with accesses` and without");
}

// What a run without recording still needs: wrappers that count the calls and pass them on.
record::Options not_recorded(const record::Options& recorded) {
  record::Options options;
  options.tier = Tier::kStructure;
  options.stacks = ring::StackMode::kNone;
  options.inject_library = recorded.inject_library;
  if (has_driver()) options.calls_library = calls_library();
  return options;
}

struct Run {
  analysis::RunProgress progress;
  bool by_callbacks = false;  // of CUPTI; some process
};

class Runs {
 public:
  Runs(const record::Options& recorded, const CostChoices& choices, const ProgramArguments& program)
      : recorded_(recorded), bare_(not_recorded(recorded)), program_(program) {
    for (record::Options* options : {&recorded_, &bare_}) {
      options->output = folder_.path() / "run.sqlite";
      options->force = options->quiet = true;
      options->measure_cost = true;
      options->measure_cost_range = choices.range;
    }
    recorded_.measured_windows = ring::MeasuredWindows::kRecorded;
    bare_.measured_windows = ring::MeasuredWindows::kNotRecorded;
  }

  Run recorded() { return run(recorded_); }
  Run bare() {
    Run bare = run(bare_);
    if (bare.by_callbacks)
      throw Error("cost",
                  "wrappers do not see the calls of this program, so callbacks count them, and "
                  "what those cost would be missing",
                  "time the program with `streamscope record` and without");
    return bare;
  }

 private:
  Run run(const record::Options& options) {
    record::Outcome outcome;
    {
      const NoOutput no_output;
      outcome = record::run(options, program_);
    }
    if (outcome.failure) throw Error(*outcome.failure);
    if (outcome.exit_code != 0)
      throw Error(program_.front(), fmt::format("ended with exit code {}", outcome.exit_code),
                  "measure a program that ends well");
    if (!outcome.trace_written) return {};
    const trace::Trace trace = load(options.output, true, {.only = {"process", "cost_window"}});
    Run result{.progress = analysis::progress_of_run(trace)};
    for (const trace::Id text : trace.process.collector_id)
      result.by_callbacks |= trace.text(text).starts_with("cupti");
    return result;
  }

  ScratchFolder folder_{"cost"};
  record::Options recorded_, bare_;
  const ProgramArguments& program_;
};

// The one that goes first has a colder machine: pairs take turns in that, too.
analysis::PairOfRuns run_pair(Runs& runs, bool bare_first) {
  Run bare, recorded;
  if (bare_first) bare = runs.bare();
  recorded = runs.recorded();
  if (!bare_first) bare = runs.bare();
  return {.bare = std::move(bare.progress),
          .recorded = std::move(recorded.progress),
          .counted_alike = !recorded.by_callbacks};
}

std::string seconds(double value) { return fmt::format("{:.3f} s", value); }

int measure_cost(const record::Options& recorded, const CostChoices& choices,
                 const ProgramArguments& program) {
  refuse_accesses(recorded);
  Runs runs(recorded, choices, program);
  std::vector<ComparedRuns> compared;
  nlohmann::json rows = nlohmann::json::array();
  for (int i = 0; i < choices.pairs; ++i) {
    const std::optional<ComparedRuns> pair = analysis::compare_runs(run_pair(runs, i % 2 == 0));
    if (!pair) {
      message(
          "the program cannot be measured: it made calls{} for less than half a second, on the "
          "clock of the machine; let it do more work",
          choices.range.empty() ? "" : ", or ended ranges of that name,");
      return kNotEvaluable;
    }
    compared.push_back(*pair);
    rows.push_back({{"bare_s", pair->bare_s}, {"recorded_s", pair->recorded_s}});
    if (!choices.quiet)
      message("pair {} of {}: {} without recording, {} with it", i + 1, choices.pairs,
              seconds(pair->bare_s), seconds(pair->recorded_s));
  }
  const analysis::MeasuredCost cost = analysis::cost_of_pairs(compared);
  if (choices.json) {
    fmt::print("{}\n", nlohmann::json{{"tier", to_string(recorded.tier)},
                                      {"percent", cost.percent},
                                      {"low", cost.low_percent},
                                      {"high", cost.high_percent},
                                      {"pairs", rows}}
                           .dump(2));
  } else {
    fmt::print("tier {}: recording cost {} ({}, {} of runs)\n", to_string(recorded.tier),
               analysis::format_change(cost.percent / 100),
               analysis::format_range(cost.low_percent, cost.high_percent),
               analysis::format_count(compared.size(), "pair"));
  }
  return kDone;
}

}  // namespace

std::function<int()> define_cost(CommandLine& line, ProgramArguments& program) {
  auto choices = std::make_shared<CostChoices>();
  line.option("--pairs", &choices->pairs,
              "how often the program runs with and without recording (default 6)",
              {.takes = "N", .within = std::pair(analysis::kFewestPairs, 1000)});
  line.option("--range", &choices->range,
              "compare the NVTX ranges of this name that end, not the calls made",
              {.takes = "NAME"});
  line.option("--json", &choices->json, "print JSON");
  line.option("--quiet", &choices->quiet, "no progress");
  auto recorded = define_recorded(line);
  return [choices, recorded = std::move(recorded), &program]() -> int {
    if (program.empty()) {
      throw Error("cost", "no program is given",
                  "use streamscope cost [OPTIONS] -- PROGRAM [ARG…]");
    }
    return measure_cost(recorded(), *choices, program);
  };
}

}  // namespace streamscope::cli
