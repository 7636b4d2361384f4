// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "removals.h"

#include <algorithm>

#include "steady_calls.h"
#include "step_shares.h"

namespace streamscope::analysis {
namespace {

// What the host issued in some iterations, and until when the device worked on it.
struct RemovedPart {
  Ns from, to, end;

  RemovedPart(const Iterations& iterations, size_t count) : from(iterations.issued_from_ns()) {
    const size_t next = iterations.steady_from + count;
    to = iterations.issued_until_ns(next);
    end = iterations.all[next - 1].end_ns;
  }
};

// Cuts a thread's time of a share, of which only pauses of at least `long_pause_ns` are kOutside.
class ShareCutter {
 public:
  ShareCutter(TimeShare share, Analyses& analyses, Ns long_pause_ns, const RemovedPart& part,
              HostCuts& cuts)
      : share_(share),
        analyses_(analyses),
        long_pause_ns_(long_pause_ns),
        part_(part),
        cuts_(cuts) {}

  void cut(Id thread) {
    const auto pauses = analyses_.host_pauses().of(thread);
    auto pause = pauses.begin();
    analyses_.host_time().each_part(
        thread, part_.from, part_.to, [&](HostState state, Ns start, Ns end) {
          if (state != HostState::kOutside)
            return add(thread, StepShares::share_of(state), start, end);
          while (start < end) {
            while (pause != pauses.end() && (pause->end_ns <= start || !is_long(*pause))) ++pause;
            const Ns begin =
                pause == pauses.end() ? end : std::clamp(pause->own_start_ns(), start, end);
            add(thread, TimeShare::kLaunching, start, begin);
            start = begin == end ? end : std::min(end, pause->end_ns);
            add(thread, TimeShare::kOutside, begin, start);
          }
        });
  }

 private:
  bool is_long(const HostPause& pause) const {
    return pause.end_ns - pause.own_start_ns() >= long_pause_ns_;
  }
  void add(Id thread, TimeShare share, Ns start, Ns end) {
    if (share == share_) cuts_.add(thread, start, end);
  }

  TimeShare share_;
  Analyses& analyses_;
  Ns long_pause_ns_;
  const RemovedPart& part_;
  HostCuts& cuts_;
};

}  // namespace

std::optional<Change> without(TimeShare share, Analyses& analyses, const Iterations& iterations,
                              size_t count, const SteadySyncs& syncs,
                              const std::vector<Id>& threads) {
  const Trace& trace = analyses.trace();
  const RemovedPart part(iterations, count);
  const auto each_op = [&](auto visit) {
    each_op_issued(analyses, iterations.process_id, part.from, part.to, part.end, visit);
  };
  Change change;
  switch (share) {
    case TimeShare::kKernels:
    case TimeShare::kCollectives:
      each_op([&](Id op) {
        if (StepShares::share_of_op(trace, op) == share) change.instant_op.add(op);
      });
      return change;
    case TimeShare::kCopies:
      each_op([&](Id op) {
        if (StepShares::share_of_op(trace, op) == share) change.without_op.add(op);
      });
      return change;
    case TimeShare::kLaunching:
      each_op([&](Id op) { change.graph_op.add(op); });
      break;
    case TimeShare::kSynchronizing:
      for (const Id sync : syncs.all()) syncs.unblock(sync, change);
      return change;
    case TimeShare::kOtherWork:
    case TimeShare::kLatency:
    case TimeShare::kUnknown:
      return std::nullopt;
    default:
      break;
  }
  ShareCutter cutter(share, analyses, long_pause_ns(iterations), part, change.cuts);
  for (const Id thread : threads) cutter.cut(thread);
  return change;
}

}  // namespace streamscope::analysis
