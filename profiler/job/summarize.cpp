// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/summarize.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "analysis/iterations/issued_work.h"
#include "analysis/iterations/iteration_model.h"
#include "analysis/labels.h"
#include "analysis/usage/collectives.h"
#include "own_work.h"
#include "segment_cutter.h"
#include "trace/checks.h"
#include "trace/loss.h"

namespace streamscope::job {
namespace {

using analysis::Analyses;
using analysis::HostState;
using analysis::Iteration;
using analysis::Iterations;
using trace::Id;
using trace::kNoId;
using trace::kUnknownNs;

// A launch takes a few microseconds otherwise.
constexpr Ns kBlockedNs = 100'000;

// The whole run as the only iteration.
Iterations whole_run(Analyses& analyses) {
  const analysis::IssuedWork work(analyses, analysis::IssuedWork::With::kTimes);
  Iterations whole;
  if (work.empty()) return whole;
  Iteration one{.start_ns = work.issued_ns(0),
                .end_ns = kUnknownNs,
                .issued_ns = kUnknownNs,  // before all calls
                .op_count = work.size()};
  for (size_t i = 0; i < work.size(); ++i) {
    one.start_ns = std::min(one.start_ns, work.start_ns(i));
    if (work.end_ns(i) <= one.end_ns) continue;
    one.end_ns = work.end_ns(i);
    one.last_op = work.id(i);
  }
  whole.process_id = work.process();
  whole.all.push_back(one);
  whole.steady_to = 1;
  return whole;
}

// What the trace lacks of calls, events and times.
std::string what_is_missing(const trace::Trace& trace) {
  if (trace::is_unfinished(trace)) return std::string(trace::kUnfinished);
  constexpr unsigned kNeeded = trace::kCallEvidence | trace::kEventEvidence | trace::kTimeEvidence;
  for (Id loss = 0; loss < trace.loss.size(); ++loss) {
    const trace::LossInfo& info = trace::loss_info(trace.text(trace.loss.name_id[loss]));
    if (info.severity >= Severity::kDataLoss && (info.touches & kNeeded) != 0)
      return std::string(info.meaning);
  }
  return "";
}

// Whether the iterations are those of the job: what repeats between its collectives is not.
bool issue_collectives(const Iterations& iterations, const std::vector<analysis::Collective>& all) {
  size_t count = 0, inside = 0, steady = 0;
  for (const analysis::Collective& one : all) {
    if (one.process != iterations.process_id) continue;
    ++count;
    inside += one.issued_ns >= iterations.all.front().issued_ns;
    steady +=
        one.issued_ns >= iterations.issued_from_ns() && one.issued_ns < iterations.issued_to_ns();
  }
  return count == 0 || (inside * 2 >= count && steady > 0);
}

Iterations iterations_of_job(Analyses& analyses, const std::vector<analysis::Collective>& all) {
  const analysis::IterationModel& model = analyses.iteration_model();
  return model.found() && issue_collectives(model.iterations(), all) ? model.iterations()
                                                                     : whole_run(analyses);
}

class Summarizer {
 public:
  Summarizer(Analyses& analyses, RankIdentity identity)
      : analyses_(analyses),
        all_(analysis::collectives(analyses.trace())),
        iterations_(iterations_of_job(analyses, all_)),
        cutter_(analyses, iterations_) {
    std::erase_if(all_, [&](const analysis::Collective& one) {
      return one.process != iterations_.process_id;
    });
    own_work_.emplace(analyses, iterations_.process_id, all_);
    summary_.identity = std::move(identity);
    summary_.incomplete = what_is_missing(analyses.trace());
  }

  RankSummary run() {
    summary_.clock_start_ns = clock_start_ns();
    if (iterations_.all.empty()) {
      if (summary_.incomplete.empty())
        summary_.incomplete = "the trace has no work of a device with times";
      return std::move(summary_);
    }
    name_communicators();
    cutter_.end_at(all_);
    find_threads();
    // The first one, which starts the program, never counts unless there is no other.
    const size_t first = std::min<size_t>(iterations_.steady_from, 1);
    summary_.first_iteration = static_cast<uint32_t>(first);
    summary_.steady = {static_cast<uint32_t>(iterations_.steady_from),
                       static_cast<uint32_t>(iterations_.steady_to)};
    for (size_t i = first; i < iterations_.all.size(); ++i) add_iteration(i);
    summary_.places = cutter_.places();
    return std::move(summary_);
  }

 private:
  void name_communicators() {
    std::map<std::string, uint32_t, std::less<>> communicators;
    for (const analysis::Collective& one : all_) {
      const auto [known, is_new] = communicators.try_emplace(
          one.communicator, static_cast<uint32_t>(summary_.communicators.size()));
      if (is_new) summary_.communicators.push_back({one.communicator});
      Membership& membership = summary_.communicators[known->second];
      membership.size = std::max<int32_t>(membership.size, one.communicator_size);
      membership.rank = std::max<int32_t>(membership.rank, one.rank);
      communicator_.push_back(known->second);
    }
    for (Membership& one : summary_.communicators) one.rank = rank_in(one, summary_.identity);
  }

  void find_threads() {
    const trace::Trace& trace = analyses_.trace();
    const auto& calls = trace.api_call;
    Id last = kNoId;
    for (const Id call : trace.op.api_call_id) {
      if (call >= calls.size() || call == last) continue;
      last = call;
      const Id thread = calls.thread_id[call];
      if (thread == kNoId || trace.thread.process_id[thread] != iterations_.process_id) continue;
      auto& blocked = blocked_launches_[thread];
      const Ns start = calls.start_ns[call], end = calls.end_ns[call];
      if (start != kUnknownNs && end != kUnknownNs && end - start >= kBlockedNs)
        blocked.emplace_back(start, end);
    }
    for (auto& [thread, blocked] : blocked_launches_) std::ranges::sort(blocked);
  }

  // By the time of issue: work of an iteration may begin before the one before it has ended. What
  // the host does once the iteration has ended is part of the next one.
  size_t first_of(size_t iteration) const {
    const auto issued_from = [&](Ns at) {
      return static_cast<size_t>(
          std::ranges::lower_bound(all_, at, {}, &analysis::Collective::issued_ns) - all_.begin());
    };
    size_t first = iteration == iterations_.all.size()
                       ? all_.size()
                       : issued_from(iterations_.all[iteration].issued_ns);
    while (iteration > 0 && first > 0 && all_[first - 1].op == kNoId &&
           all_[first - 1].start_ns >= iterations_.all[iteration - 1].end_ns)
      --first;
    return first;
  }

  void add_iteration(size_t number) {
    const Iteration& iteration = iterations_.all[number];
    const size_t first = first_of(number), last = first_of(number + 1);
    std::vector<size_t> order(last - first);
    std::iota(order.begin(), order.end(), first);
    std::ranges::stable_sort(order, {}, [&](size_t i) {
      return std::tuple{all_[i].start_ns == kUnknownNs, all_[i].start_ns, all_[i].end_ns};
    });
    RankIteration result{.start_ns = iteration.start_ns, .end_ns = iteration.end_ns};
    SegmentCutter::IndexOf index_of;
    for (const size_t i : order) {
      index_of[i] = static_cast<int32_t>(result.collectives.size());
      result.collectives.push_back(collective(i));
    }
    const auto add_times = [&](size_t i, Ns until) {
      const Ns from = i == first ? iteration.issued_ns : left_by_host(i - 1);
      result.segments.back().host_ns = host_ns(from, until);
      result.segments.back().device_ns = own_work_->issued_between(from, until);
    };
    std::vector<OwnWork::Span> communication;
    for (const size_t i : order) {
      result.segments.push_back(cutter_.before(all_[i], i, iteration, index_of));
      add_times(i, all_[i].issued_ns);
      if (all_[i].kind != CollectiveKind::kGraph && all_[i].start_ns != kUnknownNs &&
          all_[i].end_ns != kUnknownNs)
        communication.emplace_back(all_[i].start_ns, all_[i].end_ns);
    }
    result.alone_ns = own_work_->without(std::move(communication));
    result.segments.push_back(cutter_.before_end(iteration, index_of));
    if (number + 1 < iterations_.all.size()) add_times(last, iterations_.all[number + 1].issued_ns);
    summary_.iterations.push_back(std::move(result));
  }

  // A simulated device has a clock of its own.
  Ns clock_start_ns() const {
    const trace::Trace& trace = analyses_.trace();
    const Id process = iterations_.process_id == kNoId ? 0 : iterations_.process_id;
    if (process >= trace.process.size() || trace.process.clock[process] == trace::kVirtualClock)
      return 0;
    return trace::meta_integer(trace, "trace_start_realtime_ns").value_or(0);
  }

  // Those on the host keep it until they end.
  Ns left_by_host(size_t i) const {
    return all_[i].op == kNoId ? all_[i].end_ns : all_[i].issued_ns;
  }

  // Unknown if a thread that issues work waited for the device for more than a moment.
  Ns host_ns(Ns from, Ns to) {
    constexpr Ns kMomentShare = 20;  // of the time, as its reciprocal
    if (from == kUnknownNs || to == kUnknownNs || to < from) return kUnknownNs;
    for (const auto& [thread, blocked] : blocked_launches_) {
      parts_.clear();
      analyses_.split_host(thread, from, to, parts_);
      Ns waited = 0;
      auto launch = std::ranges::lower_bound(blocked, std::pair(from, from));
      for (; launch != blocked.end() && launch->first < to; ++launch)
        waited += std::min(launch->second, to) - launch->first;
      for (const analysis::HostPart& part : parts_) {
        if (part.state == HostState::kSync || part.state == HostState::kCopy ||
            part.state == HostState::kRead)
          waited += part.duration_ns;
      }
      if (waited * kMomentShare > to - from) return kUnknownNs;
    }
    return to - from;
  }

  Collective collective(size_t i) const {
    const analysis::Collective& one = all_[i];
    return {.communicator = communicator_[i],
            .sequence = one.sequence,
            .kind = one.kind,
            .bytes = static_cast<uint64_t>(std::max<trace::Int>(one.bytes, 0)),
            .peer = one.peer,
            .stream = one.stream,
            .issued_ns = one.issued_ns,
            .start_ns = one.start_ns,
            .end_ns = one.end_ns};
  }

  Analyses& analyses_;
  std::vector<analysis::Collective> all_;  // of the process, in the order of issue
  Iterations iterations_;
  SegmentCutter cutter_;
  std::optional<OwnWork> own_work_;
  RankSummary summary_;
  // By thread that issues work: launches that waited for room in the queue to the device.
  std::map<Id, std::vector<std::pair<Ns, Ns>>> blocked_launches_;
  std::vector<analysis::HostPart> parts_;
  std::vector<uint32_t> communicator_;  // of each
};

}  // namespace

RankSummary summarize(Analyses& analyses, RankIdentity identity) {
  return Summarizer(analyses, std::move(identity)).run();
}

}  // namespace streamscope::job
