// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "iteration_model.h"

#include <algorithm>

#include "issued_work.h"
#include "removals.h"

namespace streamscope::analysis {

IterationModel::IterationModel(Analyses& analyses, const IterationRequest& request)
    : analyses_(analyses), iterations_(find_iterations(analyses, request)) {
  if (!found()) return;
  syncs_ = SteadySyncs(analyses, iterations_);
  shares_ = shares_of(analyses, iterations_, syncs_);
  bare_ns_ = predicted_ns({});
  without_ns_.fill(kUnknownNs);
  remove_each();
  if (const Ns unblocked = without_ns(TimeShare::kSynchronizing); unblocked != kUnknownNs) {
    run_ahead_ns_ = std::max<Ns>(0, bare_ns_ - unblocked);
    charge_run_ahead(shares_, run_ahead_ns_);
  }
  bound_ = find_bound();
}

bool IterationModel::is_small(Ns share) const {
  constexpr Ns kLeastPart = 20;  // 1/20
  return share < shares_.total_ns() / kLeastPart;
}

void IterationModel::remove_each() {
  const size_t replayed = std::min(iterations_.steady_count(), kMostReplayed);
  for (size_t i = 0; i < kShareCount; ++i) {
    const auto share = static_cast<TimeShare>(i);
    const bool waits = share == TimeShare::kSynchronizing && !syncs_.all().empty(),
               copies = share == TimeShare::kCopies && shares_.small_copy_count > 0;
    if (!waits && !copies && is_small(shares_.total[i])) continue;
    if (const auto change = without(share, analyses_, iterations_, replayed, syncs_))
      without_ns_[i] = predicted_ns(*change);
  }
}

TimeShare IterationModel::find_bound() const {
  TimeShare bound = shares_.largest();
  Ns most = 0;
  for (size_t i = 0; i < kShareCount; ++i) {
    const bool removed = without_ns_[i] != kUnknownNs;
    if (!removed && is_small(shares_.total[i])) continue;
    const Ns gain = removed ? bare_ns_ - without_ns_[i]
                            : shares_.total[i] / static_cast<Ns>(iterations_.steady_count());
    if (gain <= most) continue;
    most = gain;
    bound = static_cast<TimeShare>(i);
  }
  return bound;
}

Ns IterationModel::predicted_ns(const Change& change) const {
  std::vector<Id> last_ops;
  const size_t first = iterations_.steady_from == 0 ? 0 : iterations_.steady_from - 1;
  const size_t last = std::min(iterations_.steady_to, first + kMostReplayed + 1);
  for (size_t i = first; i < last; ++i) {
    if (iterations_.all[i].last_op != kNoId) last_ops.push_back(iterations_.all[i].last_op);
  }
  std::vector<Ns> durations;
  Ns before = kUnknownNs;
  for (const Ns end : analyses_.replay().predict_ends(change, last_ops)) {
    if (end == kUnknownNs) continue;
    if (before != kUnknownNs) durations.push_back(std::max<Ns>(0, end - before));
    before = std::max(before, end);
  }
  return median(std::move(durations));
}

}  // namespace streamscope::analysis
