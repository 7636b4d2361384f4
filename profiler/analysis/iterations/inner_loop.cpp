// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "inner_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/call_sites.h"
#include "analysis/labels.h"
#include "analysis/stack_frames.h"
#include "host_samples.h"
#include "issued_work.h"
#include "steady_calls.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kMostLoopOps = 1 << 13;  // of an iteration that are looked at
constexpr size_t kFewestRounds = 8;
constexpr double kLeastInLoops = 0.6;
constexpr double kThroughPlace = 0.9;  // of the samples of a loop

// Numbers the ops by what they do, apart from their sizes.
class KindsOfWork {
 public:
  explicit KindsOfWork(const Trace& trace) : trace_(trace) {}

  size_t of(Id op) {
    const auto& ops = trace_.op;
    const auto [number, is_new] =
        numbers_.try_emplace({ops.kind[op], ops.detail[op], ops.name_id[op]}, 0);
    if (is_new) {
      const std::string label =
          without_alignment(op_label(trace_, ops.kind[op], ops.name_id[op], ops.detail[op]));
      number->second = by_label_.try_emplace(label, by_label_.size()).first->second;
    }
    return number->second;
  }

 private:
  const Trace& trace_;
  std::map<std::tuple<trace::Small, trace::Small, Id>, size_t> numbers_;
  std::map<std::string, size_t> by_label_;
};

size_t usual_iteration(const Iterations& iterations) {
  for (size_t i = iterations.steady_from; i < iterations.steady_to; ++i) {
    if (iterations.all[i].op_count == iterations.op_count) return i;
  }
  return iterations.steady_from;
}

// In the order in which it was issued.
std::vector<size_t> issued_in(Analyses& analyses, const Iterations& iterations, size_t number) {
  const Iteration& iteration = iterations.all[number];
  std::vector<std::pair<Ns, Id>> issued;
  each_op_issued(analyses, iterations.process_id, iteration.issued_ns,
                 iterations.issued_until_ns(number + 1), iteration.end_ns,
                 [&](Id op) { issued.emplace_back(analyses.order().issue(op).start_ns, op); });
  std::ranges::sort(issued);
  if (issued.size() > kMostLoopOps) issued.resize(kMostLoopOps);
  KindsOfWork kinds(analyses.trace());
  std::vector<size_t> work;
  work.reserve(issued.size());
  for (const auto& [at, op] : issued) work.push_back(kinds.of(op));
  return work;
}

// The distance at which most of the work comes again often enough, the shortest of equally good
// ones.
InnerLoop longest_loop(const std::vector<size_t>& work) {
  InnerLoop best;
  size_t most = 0;
  for (size_t length = 1; length * kFewestRounds <= work.size(); ++length) {
    size_t covered = 0, run = 0;
    const auto end_run = [&] {
      if (run + length >= kFewestRounds * length) covered += run + length;
      run = 0;
    };
    for (size_t i = 0; i + length < work.size(); ++i) {
      if (work[i] == work[i + length]) {
        ++run;
      } else {
        end_run();
      }
    }
    end_run();
    if (covered <= most) continue;
    most = covered;
    best.ops = length;
    best.rounds = covered / length;
  }
  if (!work.empty()) best.share = static_cast<double>(most) / static_cast<double>(work.size());
  return best;
}

// A stack, outermost frame first.
struct StackPath {
  std::span<const Id> site;  // down to the call site
  std::span<const Id> all;
};

class Paths {
 public:
  explicit Paths(Analyses& analyses)
      : trace_(analyses.trace()), places_(analyses.places()), frames_(analyses.trace()) {}

  StackPath of(Id stack) {
    const auto frames = frames_.of(stack);
    const auto [length, is_new] = lengths_.try_emplace(stack);
    if (is_new) length->second = frames_to_site(trace_, frames, places_.call_site(stack));
    return {frames.first(length->second), frames};
  }

 private:
  const Trace& trace_;
  const Places& places_;
  FramesOfStacks frames_;
  std::unordered_map<Id, size_t> lengths_;
};

// Layers of a network call each other by it.
bool is_module_call(const Trace& trace, Id frame) {
  return is_in_path(trace.text(trace.stack_frame.symbol_id[frame]), "torch/nn/modules/module.py:");
}

// What most samples of launching run through: the innermost line of Python that they share, and the
// function that it calls or that has it. "" if there is none, or if the rounds are layers of a
// network, each of which needs the result of the one before.
std::string place_of_loop(Analyses& analyses, const IterationModel& model, double share) {
  const Trace& trace = analyses.trace();
  std::vector<Id> stacks;
  for (const WeighedSample& each : weighed_samples(model)) {
    const Id stack = trace.host_sample.stack_id[each.sample];
    if (each.share == TimeShare::kLaunching && stack != kNoId) stacks.push_back(stack);
  }
  if (stacks.size() < kLeastSamples) return "";
  const auto is_generated = [&](Id frame) {
    return is_generated_code(trace.text(trace.stack_frame.symbol_id[frame]));
  };
  Paths known(analyses);
  std::vector<StackPath> paths;
  paths.reserve(stacks.size());
  for (const Id stack : stacks) paths.push_back(known.of(stack));
  const auto generated = std::ranges::count_if(
      paths, [&](const StackPath& path) { return std::ranges::any_of(path.all, is_generated); });
  if (2 * static_cast<size_t>(generated) > paths.size()) return "";  // it has no loops
  const auto least = static_cast<size_t>(kThroughPlace * share * static_cast<double>(paths.size()));

  // Leaves those whose frame at a depth has the most frequent label. "" if it is too rare.
  const auto keep_most = [&](size_t depth, const auto& label_of) {
    std::map<std::string, size_t> counts;
    for (const StackPath& path : paths) {
      if (depth < path.site.size()) ++counts[label_of(trace, path.site[depth])];
    }
    const auto most =
        std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
    if (most == counts.end() || most->second < least) return std::string();
    std::erase_if(paths, [&](const StackPath& path) {
      return depth >= path.site.size() || label_of(trace, path.site[depth]) != most->first;
    });
    return most->first;
  };
  std::string line;
  size_t depth = 0;
  for (std::string next; !(next = keep_most(depth, frame_label)).empty(); ++depth) line = next;
  if (depth == 0) return "";
  if (trace.stack_frame.kind[paths.front().site[depth - 1]] != trace::kPythonFrame) return "";
  const auto layers = std::ranges::count_if(paths, [&](const StackPath& path) {
    return std::ranges::any_of(path.all.subspan(depth - 1),
                               [&](Id frame) { return is_module_call(trace, frame); });
  });
  if (2 * static_cast<size_t>(layers) > paths.size()) return "";
  const std::string function = keep_most(depth, frame_function);
  return function.empty() ? "at " + line : fmt::format("in {}, called at {}", function, line);
}

}  // namespace

std::optional<InnerLoop> find_inner_loop(Analyses& analyses, const IterationModel& model) {
  const Iterations& iterations = model.iterations();
  InnerLoop loop = longest_loop(issued_in(analyses, iterations, usual_iteration(iterations)));
  if (loop.share < kLeastInLoops) return std::nullopt;
  loop.place = place_of_loop(analyses, model, loop.share);
  if (loop.place.empty()) return std::nullopt;
  return loop;
}

}  // namespace streamscope::analysis
