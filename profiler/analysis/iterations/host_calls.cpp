// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "host_calls.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/call_sites.h"
#include "analysis/stack_frames.h"
#include "iteration_model.h"

namespace streamscope::analysis {
namespace {

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
    if (stack >= frames.size()) continue;
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
