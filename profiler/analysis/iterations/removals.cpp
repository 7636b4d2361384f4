// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "removals.h"

#include <algorithm>

#include "steady_calls.h"
#include "step_shares.h"

namespace streamscope::analysis {
namespace {

// Cuts a thread's time of a share, of which only pauses of at least `long_pause_ns` are kOutside.
class ShareCutter {
 public:
  ShareCutter(TimeShare share, Analyses& analyses, const Iterations& iterations, HostCuts& cuts)
      : share_(share),
        analyses_(analyses),
        from_(iterations.issued_from_ns()),
        to_(iterations.issued_to_ns()),
        long_pause_ns_(analysis::long_pause_ns(iterations)),
        cuts_(cuts) {}

  void cut(Id thread) {
    const auto pauses = analyses_.host_pauses().of(thread);
    auto pause = pauses.begin();
    analyses_.host_time().each_part(thread, from_, to_, [&](HostState state, Ns start, Ns end) {
      if (state != HostState::kOutside) return add(thread, StepShares::share_of(state), start, end);
      while (start < end) {
        while (pause != pauses.end() && (pause->end_ns <= start || !is_long(*pause))) ++pause;
        const Ns begin = pause == pauses.end() ? end : std::clamp(own_start_ns(*pause), start, end);
        add(thread, TimeShare::kLaunching, start, begin);
        start = begin == end ? end : std::min(end, pause->end_ns);
        add(thread, TimeShare::kOutside, begin, start);
      }
    });
  }

 private:
  // What follows the work of another thread is the thread's own.
  static Ns own_start_ns(const HostPause& pause) {
    return pause.by_thread == kNoId ? pause.start_ns : pause.handed_over_ns;
  }
  bool is_long(const HostPause& pause) const {
    return pause.end_ns - own_start_ns(pause) >= long_pause_ns_;
  }
  void add(Id thread, TimeShare share, Ns start, Ns end) {
    if (share == share_) cuts_.add(thread, start, end);
  }

  TimeShare share_;
  Analyses& analyses_;
  Ns from_, to_, long_pause_ns_;
  HostCuts& cuts_;
};

template <class Visit>
void each_steady_op(Analyses& analyses, const Iterations& iterations, Visit visit) {
  const Trace& trace = analyses.trace();
  for (Id op = 0; op < trace.op.size(); ++op) {
    const Ns issued = analyses.order().issue(op).start_ns;
    if (issued >= iterations.issued_from_ns() && issued < iterations.issued_to_ns() &&
        trace.process_of_stream(trace.op.stream_id[op]) == iterations.process_id)
      visit(op);
  }
}

}  // namespace

std::optional<Change> without(TimeShare share, Analyses& analyses, const Iterations& iterations,
                              const SteadySyncs& syncs) {
  const Trace& trace = analyses.trace();
  Change change;
  switch (share) {
    case TimeShare::kKernels:
    case TimeShare::kCollectives:
      each_steady_op(analyses, iterations, [&](Id op) {
        if (StepShares::share_of_op(trace, op) == share) change.instant_op.add(op);
      });
      return change;
    case TimeShare::kCopies:
      each_steady_op(analyses, iterations, [&](Id op) {
        if (StepShares::share_of_op(trace, op) == share) change.without_op.add(op);
      });
      return change;
    case TimeShare::kLaunching:
      each_steady_op(analyses, iterations, [&](Id op) { change.graph_op.add(op); });
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
  ShareCutter cutter(share, analyses, iterations, change.cuts);
  for (const Id thread : issuing_threads(analyses, iterations)) cutter.cut(thread);
  return change;
}

}  // namespace streamscope::analysis
