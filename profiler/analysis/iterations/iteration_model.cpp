// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "iteration_model.h"

#include <algorithm>

#include "analysis/stream_owners.h"
#include "removals.h"

namespace streamscope::analysis {

IterationModel::IterationModel(Analyses& analyses, const IterationRequest& request)
    : analyses_(analyses), iterations_(find_iterations(analyses, request)) {
  if (!found()) return;
  if (iterations_.is_only_one()) look_before();
  syncs_ = SteadySyncs(analyses, iterations_);
  shares_ = shares_of(analyses, iterations_, syncs_);
  replayed_ =
      std::min(iterations_.steady_count(),
               std::clamp<size_t>(kMostReplayedOps / std::max<uint64_t>(1, iterations_.op_count),
                                  kFewestReplayed, kMostReplayed));
  bare_ns_ = predicted_ns({});
  without_ns_.fill(kUnknownNs);
  remove_each();
  if (const Ns unblocked = without_ns(TimeShare::kSynchronizing); unblocked != kUnknownNs) {
    run_ahead_ns_ = std::max<Ns>(0, bare_ns_ - unblocked);
    charge_run_ahead(shares_, run_ahead_ns_);
  }
  find_bound();
}

bool IterationModel::is_small(Ns share) const { return share < shares_.total_ns() / kSmallPart; }

void IterationModel::remove_each() {
  for (size_t i = 0; i < kShareCount; ++i) {
    const auto share = static_cast<TimeShare>(i);
    const bool waits = share == TimeShare::kSynchronizing && !syncs_.all().empty(),
               copies = share == TimeShare::kCopies && shares_.small_copy_count > 0;
    if (!waits && !copies && is_small(shares_.total[i])) continue;
    if (lacks_calls_ && !is_host_time(share)) continue;  // a replay cannot move all of it
    if (const auto change =
            without(share, analyses_, iterations_, replayed_, syncs_, shares_.threads))
      without_ns_[i] = predicted_ns(*change);
    // Where the first work has no calls, a replay may let the rest overlap it.
    if (lacks_calls_) without_ns_[i] = std::max(without_ns_[i], shares_.busy_ns);
  }
}

Ns IterationModel::gain_without(size_t share) const {
  if (without_ns_[share] != kUnknownNs) return bare_ns_ - without_ns_[share];
  return is_small(shares_.total[share])
             ? 0
             : shares_.total[share] / static_cast<Ns>(iterations_.steady_count());
}

void IterationModel::find_bound() {
  const Ns least = bare_ns_ / kSmallPart;  // by which a change shortens an iteration
  Ns most = 0;
  for (size_t i = 0; i < kShareCount; ++i) most = std::max(most, gain_without(i));
  std::vector<size_t> equal;
  for (size_t i = 0; i < kShareCount; ++i) {
    if (gain_without(i) >= most - least) equal.push_back(i);
  }
  const auto saves_enough = [&](size_t i) { return gain_without(i) >= least; };
  size_t bound = *std::ranges::max_element(equal, {}, [&](size_t i) { return shares_.total[i]; });
  // A framework also pauses for long between the launches of one operation, but not for most of
  // the time.
  constexpr auto kLaunching = static_cast<size_t>(TimeShare::kLaunching);
  if (bound == static_cast<size_t>(TimeShare::kOutside) &&
      std::ranges::count(equal, kLaunching) > 0 && saves_enough(kLaunching) &&
      shares_.total[kLaunching] >= shares_.total[bound] / 2)
    bound = kLaunching;
  bound_ = static_cast<TimeShare>(bound);
  for (const size_t i : equal) {
    if (i != bound && saves_enough(i)) nearly_bound_.push_back(static_cast<TimeShare>(i));
  }
}

// The only iteration has none before it, from whose end on it could be counted.
void IterationModel::look_before() {
  const Trace& trace = analyses_.trace();
  const StreamOwners owners(trace);
  const Iteration& only = iterations_.all.front();
  for (const Id op : analyses_.by_start()) {
    if (owners.of_op(op) != iterations_.process_id) continue;
    if (trace.op.start_ns[op] >= only.end_ns) break;
    if (trace.op.end_ns[op] > only.start_ns)
      lacks_calls_ |= analyses_.order().issue(op).start_ns == kUnknownNs;
    else if (before_only_ == kNoId || trace.op.end_ns[op] > trace.op.end_ns[before_only_])
      before_only_ = op;
  }
}

Ns IterationModel::predicted_only_ns(const Change& change) const {
  const Iteration& only = iterations_.all.front();
  std::vector<Id> ops;
  if (before_only_ != kNoId) ops.push_back(before_only_);
  ops.push_back(only.last_op);
  const std::vector<Ns> ends = analyses_.replay().predict_ends(change, ops);
  if (ends.back() == kUnknownNs) return only.duration_ns();
  const Ns earlier = before_only_ == kNoId || ends.front() == kUnknownNs
                         ? 0
                         : analyses_.trace().op.end_ns[before_only_] - ends.front();
  return std::max<Ns>(0, ends.back() - (only.start_ns - earlier));
}

Ns IterationModel::predicted_ns(const Change& change) const {
  if (iterations_.is_only_one()) return predicted_only_ns(change);
  std::vector<const Iteration*> replayed;
  std::vector<Id> last_ops;
  const size_t first = iterations_.steady_from == 0 ? 0 : iterations_.steady_from - 1;
  const size_t last = std::min(iterations_.steady_to, first + replayed_ + 1);
  for (size_t i = first; i < last; ++i) {
    if (iterations_.all[i].last_op == kNoId) continue;
    replayed.push_back(&iterations_.all[i]);
    last_ops.push_back(iterations_.all[i].last_op);
  }
  const std::vector<Ns> ends = analyses_.replay().predict_ends(change, last_ops);
  std::vector<Ns> recorded, predicted;
  Ns before = kUnknownNs;
  for (size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] == kUnknownNs) continue;
    if (before != kUnknownNs) {
      recorded.push_back(replayed[i]->duration_ns());
      predicted.push_back(std::max<Ns>(0, ends[i] - before));
    }
    before = std::max(before, ends[i]);
  }
  return iterations_.usual_ns(std::move(predicted), std::move(recorded));
}

}  // namespace streamscope::analysis
