// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "host_pauses.h"

#include <map>

#include "vocabulary/call_kind.h"

namespace streamscope::analysis {
namespace {

// A thread that hands over does so at once: the rest of the pause is at most this long, or a
// quarter of it.
constexpr Ns kHandingOverNs = 200'000;

// Threads that put work on a device, by process.
std::map<Id, std::vector<Id>> issuing_threads(const Trace& trace) {
  std::vector<bool> issues(trace.thread.size());
  const auto& calls = trace.api_call;
  for (Id call = 0; call < calls.size(); ++call) {
    if (is_launch(calls.kind[call]) && calls.thread_id[call] < issues.size())
      issues[calls.thread_id[call]] = true;
  }
  std::map<Id, std::vector<Id>> threads;
  for (Id thread = 0; thread < issues.size(); ++thread) {
    if (issues[thread]) threads[trace.process_of_thread(thread)].push_back(thread);
  }
  return threads;
}

// When the last call of a thread ended that was over by then, as one that it is still in may be the
// first of its own again; unknown if none was.
Ns last_exit(const HostTime& host_time, Id thread, Ns until) {
  const auto [entry, exit] = host_time.last_call(thread, until);
  const bool is_over = exit != kUnknownNs && exit <= until;
  return is_over || entry == kUnknownNs ? exit : host_time.last_call(thread, entry).second;
}

}  // namespace

HostPauses::HostPauses(const Trace& trace, const HostTime& host_time)
    : threads_(trace.thread.size()) {
  const std::map<Id, std::vector<Id>> issuing = issuing_threads(trace);
  for (Id thread = 0; thread < threads_.size(); ++thread) {
    const auto others = issuing.find(trace.process_of_thread(thread));
    host_time.each_pause(thread, kLeastPauseNs, [&](Ns start, Ns end) {
      HostPause pause{start, end, kNoId, kUnknownNs};
      const Ns least = std::min(end - kHandingOverNs, end - (end - start) / 4);
      if (others != issuing.end()) {
        for (const Id other : others->second) {
          if (other == thread) continue;
          const Ns exit = last_exit(host_time, other, end);
          if (exit <= start || exit < least || exit <= pause.handed_over_ns) continue;
          pause.by_thread = other;
          pause.handed_over_ns = exit;
        }
      }
      threads_[thread].push_back(pause);
    });
  }
}

const HostPause* HostPauses::ended_at(Id thread, Ns at) const {
  if (thread >= threads_.size()) return nullptr;
  const auto pause = std::ranges::lower_bound(threads_[thread], at, {}, &HostPause::end_ns);
  return pause != threads_[thread].end() && pause->end_ns == at ? &*pause : nullptr;
}

const HostPause* HostPauses::last_handed_over(Id thread, Ns at) const {
  if (thread >= threads_.size()) return nullptr;
  const auto& pauses = threads_[thread];
  auto next = std::ranges::lower_bound(pauses, at, {}, &HostPause::start_ns);
  while (next != pauses.begin()) {
    --next;
    if (next->by_thread != kNoId && next->handed_over_ns < at) return &*next;
  }
  return nullptr;
}

Ns HostPauses::paused_ns(Id thread, Ns from, Ns to, Ns least) const {
  if (thread >= threads_.size()) return 0;
  const auto& pauses = threads_[thread];
  auto pause = std::ranges::upper_bound(pauses, from, {}, &HostPause::end_ns);
  Ns sum = 0;
  for (; pause != pauses.end() && pause->start_ns < to; ++pause) {
    if (pause->end_ns - pause->start_ns >= least)
      sum += std::min(pause->end_ns, to) - std::max(pause->start_ns, from);
  }
  return sum;
}

}  // namespace streamscope::analysis
