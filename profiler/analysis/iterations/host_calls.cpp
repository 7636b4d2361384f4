// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "host_calls.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/call_sites.h"
#include "iteration_model.h"

namespace streamscope::analysis {
namespace {

// The frames of each stack, outermost first.
class FramesOfStacks {
 public:
  explicit FramesOfStacks(const Trace& trace) : frames_(trace.stack.size()) {
    const auto& frames = trace.stack_frame;
    for (Id frame = 0; frame < frames.size(); ++frame) {
      if (frames.stack_id[frame] < frames_.size()) frames_[frames.stack_id[frame]].push_back(frame);
    }
    for (std::vector<Id>& stack : frames_) {
      std::ranges::stable_sort(stack, std::greater{}, [&](Id id) { return frames.depth[id]; });
    }
  }
  const std::vector<Id>& of(Id stack) const { return frames_[stack]; }

 private:
  std::vector<std::vector<Id>> frames_;
};

struct Node {
  double each_ns = 0;
  std::map<std::string, Node> calls;
};

HostFunction as_function(const std::string& name, const Node& node, double least_ns) {
  HostFunction function{.name = name, .each_ns = std::llround(node.each_ns)};
  for (const auto& [called, each] : node.calls) {
    if (each.each_ns >= least_ns) function.calls.push_back(as_function(called, each, least_ns));
  }
  std::ranges::stable_sort(function.calls, std::greater{}, &HostFunction::each_ns);
  return function;
}

}  // namespace

HostFunction host_functions(Analyses& analyses, const IterationModel& model, double least) {
  const Trace& trace = analyses.trace();
  const FramesOfStacks frames(trace);
  std::vector<std::string> names(trace.stack_frame.size());  // of frames that were met
  Node root;
  for (const auto& [sample, each_ns, share] : weighed_samples(model)) {
    const Id stack = trace.host_sample.stack_id[sample];
    if (stack >= trace.stack.size()) continue;
    root.each_ns += each_ns;
    Node* node = &root;
    for (const Id frame : frames.of(stack)) {
      if (names[frame].empty()) names[frame] = frame_function(trace, frame);
      node = &node->calls[names[frame]];
      node->each_ns += each_ns;
    }
  }
  return as_function("", root, least * root.each_ns);
}

}  // namespace streamscope::analysis
