// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "command.h"
#include "control_server.h"
#include "inject_library.h"
#include "recording.h"
#include "terminal.h"
#include "trace/error.h"
#include "vocabulary/tier.h"

namespace streamscope::cli {
namespace {

// The most that costs a training step of PyTorch nothing that can be measured
// (docs/performance.md).
constexpr uint32_t kDefaultSampleHz = 500;

struct Choices {
  std::string output, run, tier, graphs = "launch", stacks, capture_range, source = "auto";
  std::vector<std::string> with;
  std::optional<double> delay_s, duration_s;
  double hang_timeout_s = 30;
  std::optional<uint32_t> sample_hz;
  std::string on_hang = "report";
  std::optional<uint32_t> flight_recorder_mib;
  bool start_later = false;
  std::optional<uint32_t> control_port;
  std::string measure_cost;
  std::string sanitizer;
  bool force = false, quiet = false;
  // For the writer that a preloaded library starts.
  bool attach_writer = false;
  int ready_fd = -1;
  int target = 0;
};

// Whether the driver's functions can be wrapped. Where there is no driver, its names must not be
// there either.
void choose_source(record::Options& options, bool quiet) {
  const bool needs_callbacks = ring::needs_callbacks(options.tier, options.graphs, options.with);
  if (options.source == ring::CallSource::kInterposed && needs_callbacks) {
    throw Error("record", "--source interposed records no times of events and graph nodes",
                "leave out --source, or the option that asks for these times");
  }
  if (options.source == ring::CallSource::kCupti || needs_callbacks || !has_driver()) return;
  options.calls_library = calls_library();
  if (!options.calls_library.empty() || inject_library().empty()) return;
  const char* const needs_wrappers = options.source == ring::CallSource::kInterposed ? "--source"
                                     : (options.with & ring::kWithAccesses) != 0 ? "--with accesses"
                                     : options.on_demand                         ? "--start-later"
                                                                                 : nullptr;
  if (needs_wrappers != nullptr)
    throw Error("record", kNoCallsLibrary,
                fmt::format("install all of StreamScope, or leave out {}", needs_wrappers));
  if (!quiet)
    message("{}: CUPTI sees the calls, which costs the program more; install all of StreamScope",
            kNoCallsLibrary);
}

// CUPTI and the Sanitizer exclude each other, so there are no device times.
void observe_accesses(const Choices& choices, record::Options& options) {
  if ((options.with & ring::kWithAccesses) == 0) return;
  if (!choices.tier.empty() && options.tier != Tier::kStructure) {
    throw Error(
        "record",
        "--with accesses records no device times, which --tier " + choices.tier + " requires",
        "leave out --tier, or record times in a run of their own");
  }
  options.tier = Tier::kStructure;
  if (options.source == ring::CallSource::kCupti ||
      ring::needs_callbacks(options.tier, options.graphs, options.with)) {
    throw Error(
        "record",
        "--with accesses needs calls that wrappers see, and no times of events or graph nodes",
        "leave out --source, and record those in a run of their own");
  }
  options.with |= ring::kWithAlloc;
  options.sample_hz = choices.sample_hz.value_or(0);  // the program is too slow to tell anything
  if (!choices.sanitizer.empty()) ::setenv("STREAMSCOPE_SANITIZER", choices.sanitizer.c_str(), 1);
}

// Without a name, calls show the program's progress.
void choose_measurement(const Choices& choices, record::Options& options) {
  if (choices.measure_cost.empty()) return;
  options.measure_cost = true;
  // As a flag without a value, and as the variable.
  if (choices.measure_cost != "true" && choices.measure_cost != "1")
    options.measure_cost_range = choices.measure_cost;
}

// Off until `streamscope start`, or the same over HTTP.
void wait_for_start(const Choices& choices, record::Options& options) {
  if (!choices.start_later) {
    if (choices.control_port)
      throw Error("record", "--control-port needs a recording to start and stop",
                  "add --start-later");
    return;
  }
  const std::pair<bool, std::string_view> excluded[] = {
      {choices.delay_s.has_value(), "--delay"},
      {choices.duration_s.has_value(), "--duration"},
      {!choices.capture_range.empty(), "--capture-range"},
      {!choices.measure_cost.empty(), "--measure-cost"},
      {choices.flight_recorder_mib.has_value(), "--flight-recorder"},
      {!choices.run.empty(), "--run"},
      {(options.with & ring::kWithAccesses) != 0, "--with accesses"},
  };
  for (const auto& [is_given, name] : excluded) {
    if (is_given)
      throw Error("record", fmt::format("--start-later cannot be used with {}", name),
                  "leave out one of them");
  }
  if (options.source == ring::CallSource::kCupti ||
      ring::needs_callbacks(options.tier, options.graphs, options.with))
    throw Error("record", "--start-later needs calls that wrappers see",
                "leave out --source cupti, --tier events, and times of events and graph nodes");
  auto requests = std::make_shared<record::OnDemandRequests>();
  options.on_demand = record::OnDemandOptions{
      .requests = requests,
      .opened =
          [requests, port = choices.control_port](const std::filesystem::path& rings) {
            return serve_control(rings, requests, port);
          },
      .finished =
          [quiet = choices.quiet](const record::Outcome& outcome) {
            record::Options finish;
            finish.quiet = quiet;
            finish_trace(outcome, finish);
          }};
}

record::Options options_from(const Choices& choices) {
  record::Options options;
  options.output = choices.output;
  options.run = choices.run;
  if (!choices.output.empty() && !choices.run.empty())
    throw Error("record", "-o names one trace, and --run a folder of traces", "use one of them");
  options.force = choices.force;
  options.quiet = choices.quiet;
  options.delay_s = choices.delay_s;
  options.duration_s = choices.duration_s;
  options.tier = tier_named(choices.tier);
  options.graphs =
      choices.graphs == "nodes" ? ring::GraphDetail::kNodes : ring::GraphDetail::kLaunch;
  options.stacks = ring::StackMode::kSyncs;
  for (const std::string& extra : choices.with) {
    if (extra == "args") options.with |= ring::kWithArgs;
    if (extra == "alloc") options.with |= ring::kWithAlloc;
    if (extra == "event-times") options.with |= ring::kWithEventTimes;
    if (extra == "accesses") options.with |= ring::kWithAccesses;
    if (extra == "graph-nodes") options.graphs = ring::GraphDetail::kNodes;
    if (extra == "stacks" || extra == "accesses") options.stacks = ring::StackMode::kAll;
  }
  if (!choices.stacks.empty()) {
    options.stacks = static_cast<ring::StackMode>(
        std::ranges::find(ring::kStackModeNames, choices.stacks) - ring::kStackModeNames.begin());
  }
  if (options.graphs == ring::GraphDetail::kNodes) options.with |= ring::kWithGraphNodes;
  constexpr std::string_view kNvtx = "nvtx:";
  if (choices.capture_range == "cudaProfilerApi") {
    options.capture_range = ring::CaptureRange::kCudaProfilerApi;
  } else if (!choices.capture_range.empty()) {
    options.capture_range = ring::CaptureRange::kNvtx;
    options.capture_range_name = choices.capture_range.substr(kNvtx.size());
  }
  options.source = static_cast<ring::CallSource>(
      std::ranges::find(ring::kCallSourceNames, choices.source) - ring::kCallSourceNames.begin());
  choose_measurement(choices, options);
  options.inject_library = inject_library();
  watch_for_hangs(options, choices.hang_timeout_s);
  options.sample_hz = choices.sample_hz.value_or(kDefaultSampleHz);
  options.abort_on_hang = choices.on_hang == "abort";
  if (choices.flight_recorder_mib) {
    if (!choices.tier.empty() && tier_named(choices.tier) != Tier::kStructure) {
      throw Error(
          "record",
          "--flight-recorder records no device times, which --tier " + choices.tier + " requires",
          "leave out --tier, or record without --flight-recorder");
    }
    options.flight_recorder_mib = choices.flight_recorder_mib;
    options.tier = Tier::kStructure;  // has the low cost of this tier
  }
  observe_accesses(choices, options);
  wait_for_start(choices, options);
  choose_source(options, choices.quiet);
  return options;
}

std::string check_capture_range(const std::string& value) {
  if (value == "cudaProfilerApi" || (value.substr(0, 5) == "nvtx:" && value.size() > 5)) return "";
  return "'" + value + "' is neither nvtx:NAME nor cudaProfilerApi";
}

// What is recorded.
void define_contents(CommandLine& line, Choices* choices) {
  line.option("--tier", &choices->tier,
              "structure: calls only, cheapest; times (default): also when work ran; events: also "
              "CUPTI's own event records",
              {.one_of = names_of(kTiers)});
  line.option(
      "--with", &choices->with,
      "comma-separated extras: args, alloc, graph-nodes, event-times (slows the GPU), stacks, "
      "accesses (which bytes every kernel touches; slow, in tier structure)",
      {.takes = "EXTRA,...",
       .one_of = {"args", "alloc", "graph-nodes", "event-times", "stacks", "accesses"},
       .separator = ','});
  line.option("--graphs", &choices->graphs,
              "record a graph launch as one op (launch, default) or node by node (nodes)",
              {.one_of = {"launch", "nodes"}});
  line.option("--stacks", &choices->stacks,
              "record call stacks of no calls (none), of blocking synchronizations, allocations, "
              "code loading and the first work on the default stream (syncs, default), or of all "
              "calls (all; default with "
              "--with accesses)",
              {.one_of = {ring::kStackModeNames.begin(), ring::kStackModeNames.end()}});
  line.option("--source", &choices->source,
              "what sees the calls: wrappers around the driver's functions (interposed), CUPTI's "
              "callbacks (cupti), or wrappers in tiers structure and times (auto, default)",
              {.one_of = {ring::kCallSourceNames.begin(), ring::kCallSourceNames.end()}});
  line.option("--sanitizer", &choices->sanitizer,
              "libsanitizer-public.so for --with accesses; default: that of the CUDA toolkit",
              {.takes = "FILE"});
  line.option("--samples", &choices->sample_hz,
              "sample what each thread that issues work does on the host this often per second "
              "(default 500; 0: never)",
              {.takes = "HZ", .within = std::pair(0, 10'000)});
  line.option("--flight-recorder", &choices->flight_recorder_mib,
              "keep only the newest records, this many MiB per thread, in tier structure; they are "
              "written at the end, on a hang, on SIGUSR2 to the recorder, and by streamscope dump",
              {.takes = "MIB", .within = std::pair(1, 1024)});
}

// Which part of the run, and how.
void define_course(CommandLine& line, Choices* choices) {
  line.option("--delay", &choices->delay_s, "seconds until recording begins",
              {.takes = "SECONDS", .not_negative = true});
  line.option("--duration", &choices->duration_s, "seconds to record; the program keeps running",
              {.takes = "SECONDS", .positive = true});
  line.option("--start-later", &choices->start_later,
              "record nothing until `streamscope start --pid PID`; each time until `streamscope "
              "stop` becomes a trace: FILE-1.sqlite, FILE-2.sqlite and so on");
  line.option("--control-port", &choices->control_port,
              "with --start-later: also take POST /start and /stop on this port of 127.0.0.1 (0: "
              "any), from those who have the token",
              {.takes = "PORT", .within = std::pair(0, 65'535)});
  line.option(
      "--capture-range", &choices->capture_range,
      "record only inside NVTX ranges of this name (nvtx:NAME; nvtx:step also takes step 7), "
      "or between cudaProfilerStart and cudaProfilerStop (cudaProfilerApi)",
      {.takes = "RANGE", .problem = check_capture_range});
  line.option(
      "--measure-cost", &choices->measure_cost,
      "measure what recording costs the program: switch it off and on in windows of 50 ms "
      "and compare the calls made in them; with --measure-cost=NAME they end with NVTX ranges "
      "of this name, and these are compared: more exact",
      {.flag = true});
  line.option("--hang-timeout", &choices->hang_timeout_s,
              "explain why the program hangs after this many seconds without progress "
              "(default 30; 0: off)",
              {.takes = "SECONDS", .not_negative = true});
  line.option("--on-hang", &choices->on_hang,
              "report a hang and let the program continue (report, default), or report it and end "
              "the program with exit code 124 (abort)",
              {.one_of = {"report", "abort"}});
  line.option("--quiet", &choices->quiet, "no progress and no summary");
  // Only for the preloaded library, so not in the help.
  line.option("--attach-writer", &choices->attach_writer, "", {.hidden = true});
  line.option("--ready-fd", &choices->ready_fd, "", {.hidden = true});
  line.option("--target", &choices->target, "", {.hidden = true});
}

}  // namespace

std::function<record::Options()> define_recorded(CommandLine& line) {
  auto choices = std::make_shared<Choices>();
  define_contents(line, choices.get());
  return [choices] { return options_from(*choices); };
}

record::Options default_record_options(const std::filesystem::path& file) {
  Choices choices;
  choices.output = file.string();
  choices.force = true;
  return options_from(choices);
}

std::function<int()> define_record(CommandLine& line, ProgramArguments& program) {
  auto choices = std::make_shared<Choices>();
  line.option("-o,--output", &choices->output, "trace file; default PROGRAM-PID.sqlite",
              {.takes = "FILE"});
  line.option(
      "--run", &choices->run,
      "folder for a job of many ranks: each rank gets a trace of its own in it; use it with "
      "mpirun, srun or torchrun, before or after this command",
      {.takes = "DIR"});
  line.option("--force", &choices->force, "replace an existing file, or the traces of a folder");
  define_contents(line, choices.get());
  define_course(line, choices.get());

  return [choices, &program]() -> int {
    const record::Options options = options_from(*choices);
    if (choices->attach_writer) {
      if (choices->target <= 0 || choices->ready_fd < 0) {
        throw Error("record", "--attach-writer needs --ready-fd and --target",
                    "it is for libstreamscope_inject.so; use streamscope record -- PROGRAM");
      }
      return record::run_detached(
          options, choices->target, choices->ready_fd,
          [&](const record::Outcome& outcome) { finish_trace(outcome, options); });
    }
    if (program.empty()) {
      throw Error("record", "no program is given",
                  "use streamscope record [OPTIONS] -- PROGRAM [ARG…]");
    }
    return record_program(options, program).exit_code;
  };
}

}  // namespace streamscope::cli
