// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reports of a timeline to a profiler and the deadlock search.

#include <algorithm>

#include "device_state.h"
#include "observer.h"
#include "timeline_impl.h"

namespace coord {

std::int64_t TimelineSignal::Impl::time_ns() const {
  return device_ ? device_->state()->observer_time_ns() : 0;
}

void TimelineSignal::Impl::notify_act(coord_timeline_act act, std::uint64_t value,
                                      const StreamRef* stream) const {
  coord_timeline_act_facts facts{.timeline = static_cast<std::uint32_t>(number_),
                                 .act = act,
                                 .context = COORD_NONE,
                                 .value = value,
                                 .time_ns = time_ns()};
  if (stream != nullptr) {
    const StreamState& state = stream->checked("TimelineSignal");
    facts.context = state.device->backend->properties().context;
    facts.stream = state.native;
  }
  observer().timeline_act(&facts);
}

void TimelineSignal::Impl::notify_waits(WaitGraph& graph) {
  const Lock lock(mutex_);
  if (word_->failed.load() != 0) return;
  forget_passed();
  const std::string prefix = "timeline " + std::to_string(number_) + " ";
  const auto label = [&](std::uint64_t value) {
    return "value " + std::to_string(value) + " of timeline \"" + name_ + "\"";
  };
  const auto point_node = [&](std::uint64_t value) {
    return graph.node(COORD_WAITS_TIMELINE, prefix + std::to_string(value), label(value));
  };
  const std::string so_far = ", which was signaled up to " + std::to_string(signaled());
  const Point* before = nullptr;
  for (const Point& point : points_) {
    const std::size_t node = point_node(point.value);
    if (point.event.id().valid()) graph.in_stream(node, point.stream.value, point.order);
    if (before != nullptr) graph.edge(node, point_node(before->value));
    before = &point;
  }
  const auto wait_for = [&](std::size_t waiter, std::uint64_t value) {
    const auto point =
        std::ranges::find_if(points_, [&](const Point& one) { return one.value >= value; });
    if (point != points_.end()) {
      graph.edge(waiter, point_node(point->value));
    } else if (!imported_ && word_->completed.load() < value) {
      graph.orphan(waiter);
    }
  };
  const auto stream_wait = [&](const StreamWait& wait) {
    const std::size_t node = graph.node(
        COORD_WAITS_TIMELINE, prefix + "wait " + std::to_string(wait.order),
        "stream " + std::to_string(wait.stream.value) + " waits for " + label(wait.value) + so_far);
    graph.in_stream(node, wait.stream.value, wait.order);
    wait_for(node, wait.value);
  };
  for (const StreamWait& wait : gates_) stream_wait(wait);
  for (const StreamWait& wait : waits_) stream_wait(wait);
  for (const HostWait& wait : host_waits_) {
    const std::size_t node =
        graph.node(COORD_WAITS_TIMELINE, prefix + "host wait " + std::to_string(wait.thread),
                   thread_label(wait.thread) + " waits for " + label(wait.value) + so_far);
    graph.edge(graph.thread(wait.thread), node);
    wait_for(node, wait.value);
  }
}

}  // namespace coord
