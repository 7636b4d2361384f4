// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "placed_calls.h"

#include <algorithm>
#include <unordered_map>

namespace streamscope::analysis {

using trace::Id;

PlacedCalls::PlacedCalls(const trace::Trace& trace, Id process) {
  const auto& calls = trace.api_call;
  std::vector<Id> placed;
  for (Id call = 0; call < calls.size(); ++call) {
    const Id thread = calls.thread_id[call];
    if (thread < trace.thread.size() && trace.thread.process_id[thread] == process &&
        has_place(static_cast<CallKind>(calls.kind[call])))
      placed.push_back(call);
  }
  std::ranges::stable_sort(placed, {}, [&](Id call) { return calls.start_ns[call]; });
  std::unordered_map<Id, uint32_t> numbers;  // of threads
  for (const Id call : placed) {
    const auto kind = static_cast<CallKind>(calls.kind[call]);
    const uint32_t thread =
        numbers.try_emplace(calls.thread_id[call], static_cast<uint32_t>(numbers.size()))
            .first->second;
    if (!allocates_memory(kind) || calls.result[call] == 0) calls_[{thread, kind}].push_back(call);
  }
}

std::optional<CallPlace> PlacedCalls::place_of(Id api_call) const {
  for (const auto& [key, calls] : calls_) {
    const auto found = std::ranges::find(calls, api_call);
    if (found != calls.end())
      return CallPlace{key.kind, key.thread, static_cast<uint64_t>(found - calls.begin())};
  }
  return std::nullopt;
}

Id PlacedCalls::find(const CallPlace& place) const {
  const auto found = calls_.find({place.thread, place.kind});
  return found != calls_.end() && place.number < found->second.size() ? found->second[place.number]
                                                                      : trace::kNoId;
}

}  // namespace streamscope::analysis
