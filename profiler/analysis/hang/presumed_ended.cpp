// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "presumed_ended.h"

#include "analysis/usage/collectives.h"

namespace streamscope::analysis {

bool PresumedEnded::operator()(Id op) const {
  const trace::Small kind = trace_.op.kind[op];
  if (is_memory_operation(kind)) return true;
  if (kind != trace::kKernel) return false;
  const auto [known, is_new] = kernels_.try_emplace(trace_.op.name_id[op], false);
  if (is_new && !is_collective(trace_, op)) {
    const Ns before = longest_run(trace_, op);
    known->second = before > 0 && waited_ns_ / kTimesLonger >= before;
  }
  return known->second;
}

}  // namespace streamscope::analysis
