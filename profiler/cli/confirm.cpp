// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// `streamscope confirm`: runs a program again and again, with the work of one call held back, and
// compares the bytes that the other side of a race sees.

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/analyses.h"
#include "analysis/labels.h"
#include "analysis/memory/placed_calls.h"
#include "analysis/units.h"
#include "command.h"
#include "inject_library.h"
#include "no_output.h"
#include "record/run/files.h"
#include "record/run/launcher.h"
#include "ring/chosen_order.h"
#include "terminal.h"
#include "trace/error.h"
#include "trace/scratch_folder.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

using analysis::ConflictingPair;
using analysis::MemoryConflict;
using analysis::PlacedCalls;
using Bytes = std::vector<char>;

struct ConfirmChoices {
  std::string file;
  int runs = 3, most_races = 10, hold_ms = 1000;
  bool possible = false, json = false, quiet = false;
};

struct Verdict {
  enum Kind { kConfirmed, kSame, kNotConfirmable } kind;
  std::string why{};  // sentences
  size_t bytes = 0, differing = 0;
};
constexpr std::string_view kVerdicts[] = {"confirmed", "not confirmed", "not confirmable"};

std::string_view reason(ring::OrderOutcome outcome) {
  return ring::kOrderOutcomes.at(static_cast<size_t>(outcome));
}

/// What cannot be tested, and why.
struct NotTestable {
  std::string why;
};

/// Variables for the program, restored at the end; one that the user has set stays as it is.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name), set_(::getenv(name) == nullptr) {
    if (set_) ::setenv(name, value, 1);
  }
  ~Variable() {
    if (set_) ::unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  bool set_;
};

/// The process that uses the GPU; kNoId if there are several.
trace::Id only_process(const trace::Trace& trace) {
  trace::Id found = trace::kNoId;
  for (const trace::Id call : trace.op.api_call_id) {
    if (call >= trace.api_call.size()) continue;
    const trace::Id process = trace.thread.process_id[trace.api_call.thread_id[call]];
    if (found != trace::kNoId && found != process) return trace::kNoId;
    found = process;
  }
  return found;
}

class RepeatedProgram {
 public:
  RepeatedProgram(const trace::Trace& trace, bool accesses_observed, const ConfirmChoices& choices,
                  const std::vector<std::string>& program)
      : trace_(trace),
        accesses_observed_(accesses_observed),
        choices_(choices),
        program_(program),
        process_(only_process(trace)),
        calls_(trace, process_) {
    options_.tier = Tier::kStructure;
    options_.stacks = ring::StackMode::kNone;
    options_.quiet = options_.force = true;
    options_.source = ring::CallSource::kInterposed;
    options_.inject_library = inject_library();
    if (has_driver()) {
      options_.calls_library = calls_library();
      if (options_.calls_library.empty())
        throw Error("confirm", kNoCallsLibrary, "install all of StreamScope");
    }
    options_.output = folder_.path() / "run.sqlite";
  }

  /// Which occurrence of a race is tested: the first one, unless that launches a kernel which is
  /// only loaded then. Loading may wait for the device, and so for work that is held back.
  const ConflictingPair& pair_to_test(const MemoryConflict& conflict) const {
    return conflict.again.first_op != trace::kNoId && is_first_with_its_name(conflict.second_op)
               ? conflict.again
               : conflict;
  }

  Verdict test(const ConflictingPair& pair) {
    try {
      return compare(pair);
    } catch (const NotTestable& reason) {
      return {Verdict::kNotConfirmable, reason.why};
    }
  }

 private:
  CallPlace place_of(trace::Id call, const char* what) const {
    if (const auto place = calls_.place_of(call)) return *place;
    throw NotTestable{fmt::format("{} has no place that is the same in every run", what)};
  }

  bool is_first_with_its_name(trace::Id op) const {
    const auto& names = trace_.op.name_id;
    return std::find(names.begin(), names.end(), names[op]) - names.begin() ==
           static_cast<std::ptrdiff_t>(op);
  }

  ring::ChosenOrder plan(const ConflictingPair& conflict) const {
    if (process_ == trace::kNoId) throw NotTestable{"several processes of the run use the GPU"};
    if (conflict.alloc_call == trace::kNoId)
      throw NotTestable{"the trace lacks the call that allocates the memory"};
    const auto& ops = trace_.op;
    const trace::Id first = ops.api_call_id[conflict.first_op],
                    second = ops.api_call_id[conflict.second_op];
    if (first == second) throw NotTestable{"one call launches both"};
    ring::ChosenOrder test{};
    test.take = !conflict.second_writes  ? ring::TakeBytes::kBeforeSecond
                : !conflict.first_writes ? ring::TakeBytes::kBeforeFirst
                                         : ring::TakeBytes::kAfterBoth;
    test.first = place_of(first, "the first call");
    test.second = place_of(second, "the second call");
    test.memory = place_of(conflict.alloc_call, "the call that allocates the memory");
    test.offset =
        conflict.begin - static_cast<uint64_t>(trace_.api_call.object[conflict.alloc_call]);
    test.bytes = std::min(conflict.end - conflict.begin, ring::kMostTakenBytes);
    test.most_ms = static_cast<uint32_t>(choices_.hold_ms);
    return test;
  }

  /// "fill" for the op of the call at this place.
  static std::string work_at(const trace::Trace& trace, trace::Id call) {
    for (trace::Id op = 0; op < trace.op.size(); ++op) {
      if (call != trace::kNoId && trace.op.api_call_id[op] == call)
        return analysis::op_label(trace, op);
    }
    return "";
  }

  /// The calls at these places were the same as in the trace.
  void check_calls(const ring::ChosenOrder& test) const {
    const trace::Trace again = load_to_analyze(options_.output, true);
    const PlacedCalls calls(again, only_process(again));
    for (const CallPlace& place : {test.first, test.second}) {
      const std::string was = work_at(trace_, calls_.find(place)),
                        is = work_at(again, calls.find(place));
      if (was != is)
        throw NotTestable{
            fmt::format("the program made other calls when it ran again: {} instead of {}",
                        is.empty() ? "none" : is, was)};
    }
  }

  /// Without another order, the program still races for the memory: it may have been repaired by
  /// accessing other bytes since the trace was recorded.
  void check_race(const ring::ChosenOrder& test) {
    record::Options options = options_;
    options.chosen_order.mode = ring::OrderMode::kNone;
    options.with = ring::kWithAlloc | (accesses_observed_ ? unsigned{ring::kWithAccesses} : 0);
    options.stacks =
        trace_.meta.contains("stack_count") ? ring::StackMode::kAll : ring::StackMode::kNone;
    run_program(options);
    const trace::Trace again = load_to_analyze(options.output, true);
    const PlacedCalls calls(again, only_process(again));
    analysis::Analyses analyses(again);
    if (!analysis::is_race_of(analyses.memory_conflicts(), again, calls.find(test.first),
                              calls.find(test.second)))
      throw NotTestable{
          "the bytes depend on the order, but in the program as it is now the two do not race for "
          "them: record it again"};
  }

  void run_program(const record::Options& options) {
    std::error_code ignored;
    std::filesystem::remove(options.output, ignored);
    record::Outcome outcome;
    {
      const NoOutput no_output;
      // So that work which is held back blocks no other stream's.
      const Variable connections("CUDA_DEVICE_MAX_CONNECTIONS", "32");
      outcome = record::run(options, program_);
    }
    if (outcome.failure) throw Error(*outcome.failure);
    if (!outcome.trace_written)
      throw NotTestable{"the program made no CUDA call that was recorded"};
  }

  /// The bytes that a run with this order takes; without a value if the order was not reached.
  std::optional<Bytes> run(ring::ChosenOrder test, ring::OrderMode mode) {
    const std::filesystem::path file = folder_.path() / "bytes";
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
    test.mode = mode;
    file.native().copy(test.result_file, sizeof test.result_file - 1);
    options_.chosen_order = test;
    run_program(options_);
    ring::OrderResult result{};
    std::ifstream stream(file, std::ios::binary);
    if (!stream.read(reinterpret_cast<char*>(&result), sizeof result) ||
        std::memcmp(result.magic, ring::kOrderMagic, sizeof result.magic) != 0)
      throw NotTestable{"the program did not make both calls when it ran again"};
    if (result.outcome == ring::OrderOutcome::kNotLate) return std::nullopt;
    if (result.outcome != ring::OrderOutcome::kTaken)
      throw NotTestable{std::string(reason(result.outcome))};
    Bytes bytes(result.bytes);
    if (!stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
      throw NotTestable{"the program ended before the bytes were stored"};
    check_calls(test);
    return bytes;
  }

  std::optional<Bytes> run_late(const ConflictingPair& conflict, const ring::ChosenOrder& test) {
    if (!is_first_with_its_name(conflict.second_op)) {
      if (auto bytes = run(test, ring::OrderMode::kFirstLate)) return bytes;
    }
    const Variable loading("CUDA_MODULE_LOADING", "EAGER");
    return run(test, ring::OrderMode::kFirstLate);
  }

  Verdict compare(const ConflictingPair& conflict) {
    const ring::ChosenOrder test = plan(conflict);
    const std::optional<Bytes> late = run_late(conflict, test);
    if (!late)
      return {Verdict::kSame,
              fmt::format("{} for {} ms: something orders them, or it needs longer (--hold)",
                          reason(ring::OrderOutcome::kNotLate), choices_.hold_ms)};
    std::optional<Bytes> in_order;
    for (int i = 0; i < choices_.runs; ++i) {
      const auto again = run(test, ring::OrderMode::kInOrder);
      if (in_order && again != in_order)
        throw NotTestable{"runs in which both were in order did not see the same bytes"};
      in_order = again;
    }
    Verdict verdict{.kind = Verdict::kSame, .bytes = late->size()};
    for (size_t i = 0; i < late->size(); ++i) verdict.differing += (*late)[i] != (*in_order)[i];
    if (verdict.differing != 0) {
      check_race(test);
      verdict.kind = Verdict::kConfirmed;
    }
    const char* sees = test.take == ring::TakeBytes::kBeforeSecond  ? "the second read"
                       : test.take == ring::TakeBytes::kBeforeFirst ? "it read"
                                                                    : "the two left";
    const auto count = [](size_t bytes) { return analysis::format_count(bytes, "byte"); };
    verdict.why =
        verdict.differing == 0
            ? fmt::format("when the first was late, {} the same {}", sees, count(verdict.bytes))
            : fmt::format(
                  "when the first was late, {} other bytes: {} of {} differ from {} in order", sees,
                  analysis::format_count(verdict.differing), count(verdict.bytes),
                  analysis::format_count(static_cast<size_t>(choices_.runs), "run"));
    return verdict;
  }

  const trace::Trace& trace_;
  const bool accesses_observed_;  // those of kernels
  const ConfirmChoices& choices_;
  const std::vector<std::string>& program_;
  trace::Id process_;  // kNoId if there are several
  PlacedCalls calls_;
  ScratchFolder folder_{"confirm"};
  record::Options options_;
};

std::vector<const MemoryConflict*> races(const analysis::MemoryConflicts& conflicts,
                                         const ConfirmChoices& choices) {
  std::vector<const MemoryConflict*> found;
  for (const MemoryConflict& conflict : conflicts.found) {
    if (conflict.kind == MemoryConflict::kStreamRace && (!conflict.possible || choices.possible))
      found.push_back(&conflict);
  }
  return found;
}

int confirm(const ConfirmChoices& choices, const std::vector<std::string>& program) {
  const trace::Trace trace = load_to_analyze(choices.file, choices.quiet);
  analysis::Analyses analyses(trace);
  const auto found = races(analyses.memory_conflicts(), choices);
  const size_t tested = std::min(found.size(), static_cast<size_t>(choices.most_races));
  RepeatedProgram repeated(trace, analyses.memory_conflicts().observed, choices, program);
  nlohmann::json rows = nlohmann::json::array();
  size_t counts[std::size(kVerdicts)] = {};
  for (size_t i = 0; i < tested; ++i) {
    const ConflictingPair& pair = repeated.pair_to_test(*found[i]);
    const std::string first = analysis::op_on_stream(trace, pair.first_op),
                      second = analysis::op_on_stream(trace, pair.second_op);
    if (!choices.quiet) message("race {} of {}: running the program again", i + 1, tested);
    const Verdict verdict = repeated.test(pair);
    ++counts[verdict.kind];
    if (choices.json) {
      rows.push_back({{"first", first},
                      {"second", second},
                      {"verdict", kVerdicts[verdict.kind]},
                      {"reason", verdict.why},
                      {"bytes", verdict.bytes},
                      {"differing_bytes", verdict.differing}});
    } else {
      fmt::print("{}: {} and {}\n  {}\n", kVerdicts[verdict.kind], first, second, verdict.why);
    }
  }
  if (choices.json) {
    fmt::print("{}\n",
               nlohmann::json{{"races", rows}, {"not_tested", found.size() - tested}}.dump(2));
  } else {
    fmt::print("{}: {} confirmed, {} not confirmed, {} not confirmable{}\n",
               analysis::format_count(found.size(), "race"), counts[Verdict::kConfirmed],
               counts[Verdict::kSame], counts[Verdict::kNotConfirmable],
               tested < found.size()
                   ? fmt::format(", {} not tested (--races)", found.size() - tested)
                   : "");
  }
  return counts[Verdict::kConfirmed] > 0        ? kFound
         : counts[Verdict::kNotConfirmable] > 0 ? kNotEvaluable
                                                : kDone;
}

}  // namespace

std::function<int()> define_confirm(CommandLine& line, ProgramArguments& program) {
  auto choices = std::make_shared<ConfirmChoices>();
  line.option("TRACE", &choices->file, "a trace of the program, recorded --with accesses",
              {.required = true});
  line.option("--runs", &choices->runs,
              "runs in which both sides of a race are in order, and must see the same bytes "
              "(default 3)",
              {.takes = "N", .within = std::pair(2, 100)});
  line.option("--hold", &choices->hold_ms,
              "milliseconds for which work is held back at most (default 1000)",
              {.takes = "MS", .within = std::pair(1, 60000)});
  line.option("--races", &choices->most_races, "test at most this many races (default 10)",
              {.takes = "N", .within = std::pair(1, 1000)});
  line.option("--possible", &choices->possible, "also test races that are only possible");
  line.option("--json", &choices->json, "print JSON");
  line.option("--quiet", &choices->quiet, "no progress");
  return [choices, &program]() -> int {
    if (program.empty()) {
      throw Error("confirm", "no program is given",
                  "use streamscope confirm TRACE -- PROGRAM [ARG…], as it was recorded");
    }
    return confirm(*choices, program);
  };
}

}  // namespace streamscope::cli
