// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/host_places.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace streamscope::job {

using trace::Id;
using trace::kNoId;
using trace::kUnknownNs;
using trace::Ns;

HostPlaces::HostPlaces(const trace::Trace& trace) : trace_(trace), threads_(trace.thread.size()) {
  const auto& ranges = trace.range;
  const auto end_of = [&](Id range) {
    return ranges.end_ns[range] == kUnknownNs ? std::numeric_limits<Ns>::max()
                                              : ranges.end_ns[range];
  };
  std::vector<std::vector<Id>> of_thread(threads_.size());
  for (Id range = 0; range < ranges.size(); ++range) {
    if (ranges.kind[range] == trace::kPushPop && ranges.thread_id[range] < of_thread.size() &&
        ranges.start_ns[range] != kUnknownNs)
      of_thread[ranges.thread_id[range]].push_back(range);
  }
  for (Id thread = 0; thread < of_thread.size(); ++thread) {
    std::vector<Part>& parts = threads_[thread];
    std::vector<Id> open;  // the innermost last
    const auto close_until = [&](Ns at) {
      while (!open.empty() && end_of(open.back()) <= at) {
        const Ns ended = end_of(open.back());
        open.pop_back();
        if (open.empty() || end_of(open.back()) > ended)
          parts.push_back({ended, open.empty() ? kNoId : open.back()});
      }
    };
    std::ranges::stable_sort(of_thread[thread], {}, [&](Id range) {
      return std::pair(ranges.start_ns[range], -end_of(range));
    });
    for (const Id range : of_thread[thread]) {
      close_until(ranges.start_ns[range]);
      parts.push_back({ranges.start_ns[range], range});
      open.push_back(range);
    }
    close_until(std::numeric_limits<Ns>::max() - 1);
  }
}

}  // namespace streamscope::job
