// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coordination.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/labels.h"
#include "analysis/units.h"
#include "trace/read/reader.h"

namespace streamscope::report {

using analysis::format_count;
using analysis::printable;
using trace::Id;

namespace {

constexpr Term kNotReported{0, "not_told", "reason not reported"};

std::string waited_of_all(const Coordination& coordination) {
  return fmt::format("{} of {} made a stream wait", format_count(coordination.waited),
                     coordination.dependencies == 1
                         ? "1 dependency"
                         : format_count(coordination.dependencies) + " dependencies");
}

}  // namespace

const Term& elision_of(size_t because) {
  return because == 0 ? kNotReported : kElisions[because - 1];
}

Coordination coordination_of(const trace::Trace& trace) {
  Coordination result;
  const auto& dependencies = trace.operation_dependency;
  result.dependencies = dependencies.size();
  for (Id row = 0; row < dependencies.size(); ++row) {
    const auto because = static_cast<size_t>(dependencies.elided_because[row]);
    if (dependencies.elided[row] != 1) {
      ++result.waited;
    } else {
      ++result.elided[because < result.elided.size() ? because : 0];
    }
  }
  for (Id row = 0; row < trace.timeline.size(); ++row) {
    const trace::Int initial = trace.timeline.initial[row];
    const trace::Int first = initial == trace::kNoInt ? 0 : initial;
    result.timelines.push_back({.name = printable(trace.text(trace.timeline.name_id[row])),
                                .signaled = first,
                                .reached = first});
  }
  const auto& points = trace.timeline_point;
  for (Id row = 0; row < points.size(); ++row) {
    if (points.timeline_id[row] >= result.timelines.size()) continue;
    TimelineFact& fact = result.timelines[points.timeline_id[row]];
    const trace::Small act = points.act[row];
    fact.waits += act == trace::kTimelineWait;
    fact.given_up += act == trace::kTimelineGiveUp;
    if (act == trace::kTimelineSignal) fact.signaled = std::max(fact.signaled, points.value[row]);
    if (act == trace::kTimelineReach) fact.reached = std::max(fact.reached, points.value[row]);
  }
  result.queues = analysis::task_usage(trace);
  return result;
}

std::string dependencies_sentence(const Coordination& coordination) {
  std::string text = waited_of_all(coordination);
  const char* separator = "; not needed: ";
  for (size_t i = 0; i < coordination.elided.size(); ++i) {
    if (coordination.elided[i] == 0) continue;
    text += fmt::format("{}{} ({})", separator, format_count(coordination.elided[i]),
                        elision_of(i).meaning);
    separator = ", ";
  }
  return text + ".";
}

std::string coordination_text(const Coordination& coordination) {
  std::string text;
  if (coordination.dependencies > 0) {
    text += "  " + waited_of_all(coordination) + "\n";
    for (size_t i = 0; i < coordination.elided.size(); ++i) {
      if (coordination.elided[i] > 0)
        text += fmt::format("    {:>14} not needed: {}\n", format_count(coordination.elided[i]),
                            elision_of(i).meaning);
    }
  }
  for (const TimelineFact& timeline : coordination.timelines) {
    text += fmt::format("  timeline {}: reached {} of {}, {}", timeline.name, timeline.reached,
                        timeline.signaled, format_count(timeline.waits, "wait"));
    if (timeline.given_up > 0)
      text += fmt::format(", {} of them given up", format_count(timeline.given_up));
    text += "\n";
  }
  for (const analysis::TaskUsage& queue : coordination.queues) {
    text += fmt::format("  task queue {}: ", printable(queue.name));
    if (queue.records_nothing()) {
      text += "its tasks are not recorded\n";
      continue;
    }
    text +=
        fmt::format("{} by {}, longest busy {:.2f} x the mean\n", format_count(queue.tasks, "task"),
                    format_count(queue.busy_ns.size(), "worker"), queue.imbalance());
  }
  return text;
}

}  // namespace streamscope::report
