// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "shares.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <numeric>
#include <optional>

#include "analysis/busy_times.h"
#include "analysis/stream_owners.h"
#include "host_samples.h"
#include "issued_work.h"
#include "running_work.h"
#include "steady_calls.h"
#include "step_shares.h"
#include "trace/ns_math.h"
#include "vocabulary/call_kind.h"
#include "vocabulary/threads.h"

namespace streamscope::analysis {
namespace {

size_t index_of(TimeShare share) { return static_cast<size_t>(share); }

// Cuts the path at the ends of iterations and adds up its parts.
class PathCutter {
 public:
  PathCutter(Analyses& analyses, const Iterations& iterations)
      : analyses_(analyses),
        iterations_(iterations),
        samples_(analyses.trace()),
        steps_(analyses, long_pause_ns(iterations), iterations.process_id),
        each_(iterations.steady_count()) {}

  void cut(IterationShares& result) {
    const Ns from = iterations_.steady_start_ns(), to = iterations_.steady_end_ns();
    const Id last = iterations_.all[iterations_.steady_to - 1].last_op;
    std::vector<PathStep> path;
    if (last != kNoId) path = analyses_.path_part({.last_op = last, .from_ns = from});
    if (!path.empty()) {
      const Ns began = path.front().start_ns;
      if (began > from) add_beginning(path.front().thread, from, began);
      add_host(iterations_.thread_id, path.back().end_ns, to);
    }
    for (const PathStep& step : path) add(step);
    for (size_t i = 0; i < each_.size(); ++i) {
      const Ns known = std::accumulate(each_[i].begin(), each_[i].end(), Ns{0});
      each_[i][index_of(TimeShare::kUnknown)] += iteration(i).duration_ns() - known;
    }
    result.each = std::move(each_);
    result.host = host_;
    result.sampled = std::move(sampled_);
  }

 private:
  const Iteration& iteration(size_t i) const {
    return iterations_.all[iterations_.steady_from + i];
  }

  // Calls `visit(shares, from, to)` for the part of an interval in each iteration.
  template <class Visit>
  void each_part(Ns from, Ns to, Visit visit) {
    size_t i = static_cast<size_t>(
                   std::ranges::upper_bound(
                       iterations_.all.begin() + static_cast<ptrdiff_t>(iterations_.steady_from),
                       iterations_.all.begin() + static_cast<ptrdiff_t>(iterations_.steady_to),
                       from, {}, &Iteration::end_ns) -
                   iterations_.all.begin()) -
               iterations_.steady_from;
    for (; i < each_.size() && iteration(i).start_ns < to; ++i) {
      const Ns begin = std::max(from, iteration(i).start_ns),
               end = std::min(to, iteration(i).end_ns);
      if (begin < end) visit(each_[i], begin, end);
    }
  }

  // Before the first launch the host was on its way to it, or work ran whose calls are missing.
  void add_beginning(Id thread, Ns from, Ns to) {
    if (!steps_.works_between(from, to)) return add_host(thread, from, to);
    each_part(from, to, [&](Shares& shares, Ns begin, Ns end) { add_running(shares, begin, end); });
  }

  // What ran while it is not known what was waited for: probably that.
  void add_running(Shares& shares, Ns from, Ns to) {
    if (!running_) running_.emplace(analyses_, iterations_.process_id);
    running_->each(from, to, [&](Id op, Ns duration) {
      shares[index_of(StepShares::share_of_op(analyses_.trace(), op))] += duration;
    });
  }

  void add(const PathStep& step) {
    if (step.kind == trace::kLaunchStep)
      return add_host(step.thread, step.start_ns, step.end_ns, step.op);
    each_part(step.start_ns, step.end_ns, [&](Shares& shares, Ns begin, Ns end) {
      steps_.split(step, begin, end, [&](TimeShare share, Ns duration) {
        // An unknown part is the last; what did not run in it is added at the end.
        if (share == TimeShare::kUnknown) return add_running(shares, end - duration, end);
        shares[index_of(share)] += duration;
      });
    });
  }

  // `op`: what it was on its way to, or kNoId.
  void add_host(Id thread, Ns from, Ns to, Id op = kNoId) {
    each_part(from, to, [&](Shares& shares, Ns begin, Ns end) {
      steps_.split_host(thread, begin, end, op, [&](TimeShare share, Ns duration) {
        shares[index_of(share)] += duration;
        trace::add_to(host_[index_of(share)], duration);
      });
      for (const Id sample : samples_.of(thread, begin, end)) {
        const Ns at = analyses_.trace().host_sample.at_ns[sample];
        steps_.split_host(thread, at, at + 1, op, [&](TimeShare share, Ns duration) {
          if (duration > 0) sampled_.push_back({sample, share});
        });
      }
    });
  }

  Analyses& analyses_;
  const Iterations& iterations_;
  SamplesByThread samples_;
  StepShares steps_;
  std::optional<RunningWork> running_;
  std::vector<Shares> each_;
  Shares host_{};
  std::vector<SampledShare> sampled_;
};

// The median of many durations. Short ones are counted: there may be ten million of them.
class DurationMedian {
 public:
  void add(Ns duration_ns) {
    ++count_;
    if (duration_ns < static_cast<Ns>(short_.size()))
      ++short_[static_cast<size_t>(duration_ns)];
    else
      long_ns_.push_back(duration_ns);
  }
  size_t count() const { return count_; }
  Ns median_ns() {
    size_t before = count_ / 2;  // shorter ones
    for (size_t duration_ns = 0; duration_ns < short_.size(); ++duration_ns) {
      if (before < short_[duration_ns]) return static_cast<Ns>(duration_ns);
      before -= short_[duration_ns];
    }
    if (before >= long_ns_.size()) return 0;
    const auto middle = long_ns_.begin() + static_cast<ptrdiff_t>(before);
    std::ranges::nth_element(long_ns_, middle);
    return *middle;
  }

 private:
  std::vector<uint32_t> short_ = std::vector<uint32_t>(1 << 17);  // by nanoseconds
  std::vector<Ns> long_ns_;
  size_t count_ = 0;
};

// What ran and what was called in the steady part.
void count(Analyses& analyses, const Iterations& iterations, const SteadySyncs& syncs,
           IterationShares& result) {
  const Trace& trace = analyses.trace();
  const Ns from = iterations.steady_start_ns(), to = iterations.steady_end_ns();
  const auto mean = [&](size_t count) {
    return static_cast<double>(count) / static_cast<double>(iterations.steady_count());
  };
  const StreamOwners owners(trace);
  DurationMedian kernels;
  size_t copies = 0, large_copies = 0;
  BusyTimes busy;
  for (const Id op : analyses.by_start()) {
    const Ns started = trace.op.start_ns[op], ended = trace.op.end_ns[op];
    const Ns start = std::max(started, from), end = std::min(ended, to);
    const trace::Small kind = trace.op.kind[op];
    if (start >= end || kind == trace::kMemoryWait || owners.of_op(op) != iterations.process_id)
      continue;
    busy.add(start, end);
    if (kind == trace::kKernel) {
      kernels.add(ended - started);
      continue;
    }
    copies += kind == trace::kMemcpy;
    large_copies += is_large_synchronous_copy(analyses.order(), op);
  }
  std::vector<Ns> busy_ns;
  for (size_t i = iterations.steady_from; i < iterations.steady_to; ++i)
    busy_ns.push_back(busy.busy_ns(iterations.all[i].start_ns, iterations.all[i].end_ns));
  result.busy_ns = iterations.usual_ns(std::move(busy_ns), iterations.steady_durations());
  result.kernel_count = mean(kernels.count());
  result.median_kernel_ns = kernels.median_ns();
  std::vector<size_t> launches(trace.thread.size());
  each_steady_call(trace, iterations, [&](Id call) {
    if (is_launch(trace.api_call.kind[call])) ++launches[trace.api_call.thread_id[call]];
  });
  for (Id thread = 0; thread < launches.size(); ++thread) {
    if (launches[thread] > 0) result.threads.push_back(thread);
  }
  result.launch_count = mean(std::accumulate(launches.begin(), launches.end(), size_t{0}));
  result.sync_count = mean(syncs.all().size());
  result.small_copy_count = mean(static_cast<size_t>(
      std::ranges::count_if(syncs.all(), [&](Id sync) { return syncs.copy_of(sync) != kNoId; })));
  result.copy_count = mean(copies);
  result.large_copy_count = mean(large_copies);
}

}  // namespace

Ns IterationShares::total_ns() const {
  return std::accumulate(total.begin(), total.end(), Ns{0}, trace::sum_of);
}

TimeShare IterationShares::largest() const {
  return static_cast<TimeShare>(std::ranges::max_element(total) - total.begin());
}

Ns long_pause_ns(const Iterations& iterations) {
  return std::clamp(iterations.median_ns / 20, kLeastLongPauseNs, kMostLongPauseNs);
}

IterationShares shares_of(Analyses& analyses, const Iterations& iterations,
                          const SteadySyncs& syncs) {
  IterationShares result;
  std::future<void> counted = run_beside([&] { count(analyses, iterations, syncs, result); },
                                         worth_threads(analyses.trace()));
  PathCutter(analyses, iterations).cut(result);
  for (const Shares& shares : result.each) {
    for (size_t i = 0; i < kShareCount; ++i) trace::add_to(result.total[i], shares[i]);
  }
  counted.get();
  return result;
}

void charge_run_ahead(IterationShares& shares, Ns saved_ns) {
  constexpr TimeShare kFrom[] = {TimeShare::kLaunching, TimeShare::kOutside, TimeShare::kLatency};
  const auto count = static_cast<double>(shares.each.size());
  const double own = static_cast<double>(shares.total[index_of(TimeShare::kSynchronizing)]) / count;
  double available = 0;
  for (const TimeShare share : kFrom)
    available += static_cast<double>(shares.total[index_of(share)]) / count;
  const double moved = std::clamp(static_cast<double>(saved_ns) - own, 0.0, available);
  if (moved <= 0) return;
  shares.lost_run_ahead_ns = moved;
  shares.total = {};
  for (Shares& iteration : shares.each) {
    for (const TimeShare share : kFrom) {
      Ns& part = iteration[index_of(share)];
      const auto rest =
          static_cast<Ns>(std::llround(static_cast<double>(part) * (1 - moved / available)));
      iteration[index_of(TimeShare::kSynchronizing)] += part - rest;
      part = rest;
    }
    for (size_t i = 0; i < kShareCount; ++i) trace::add_to(shares.total[i], iteration[i]);
  }
}

}  // namespace streamscope::analysis
