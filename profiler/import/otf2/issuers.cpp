// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "issuers.h"

#include <algorithm>
#include <optional>

namespace streamscope::import::otf2 {

// Keys are optional: calls and work without one are left for another round.
template <class KeyOfCall, class KeyOfWork>
void Issuers::match(KeyOfCall key_of_call, KeyOfWork key_of_work) {
  struct Candidates {
    std::vector<IssuingCall*> calls;
    std::vector<Work*> work;
  };
  std::map<Key, Candidates> all;
  for (IssuingCall& call : calls_) {
    if (const std::optional<Key> key = key_of_call(call)) all[*key].calls.push_back(&call);
  }
  for (Work& work : work_) {
    if (work.op.correlation_id != kNoInt) continue;
    const std::optional<Key> key = key_of_work(work);
    if (!key) continue;
    if (const auto known = all.find(*key); known != all.end()) known->second.work.push_back(&work);
  }
  for (auto& [key, candidates] : all) {
    auto& [calls, work] = candidates;
    if (calls.size() != work.size()) continue;
    std::ranges::stable_sort(calls, {}, [](const IssuingCall* call) { return call->start_ns; });
    std::ranges::stable_sort(work, {}, [](const Work* one) { return one->op.start_ns; });
    bool possible = true;  // one stream, and nothing that ended before it was issued
    for (size_t i = 0; i < calls.size(); ++i) {
      possible &= work[i]->op.stream_id == work[0]->op.stream_id &&
                  work[i]->op.end_ns >= calls[i]->start_ns;
    }
    if (!possible) continue;
    for (size_t i = 0; i < calls.size(); ++i) {
      work[i]->op.correlation_id = calls[i]->correlation;
      calls[i]->correlation = kNoInt;
    }
  }
  std::erase_if(calls_, [](const IssuingCall& call) { return call.correlation == kNoInt; });
}

void Issuers::finish(Assembly& assembly) {
  const auto key_if = [](bool known, Int kind, Id stream, uint64_t site) {
    return known ? std::optional<Key>({kind, stream, site}) : std::nullopt;
  };
  match(
      [&](const IssuingCall& call) {
        return key_if(call.stream != kNoId, call.kind, call.stream, 0);
      },
      [&](const Work& work) { return key_if(true, work.op.kind, work.op.stream_id, 0); });
  match(
      [&](const IssuingCall& call) {
        return key_if(call.call_site != kUnknownNumber, call.kind, kNoId, call.call_site);
      },
      [&](const Work& work) {
        return key_if(work.call_site != kUnknownNumber, work.op.kind, kNoId, work.call_site);
      });
  match([&](const IssuingCall& call) { return key_if(true, call.kind, kNoId, 0); },
        [&](const Work& work) { return key_if(true, work.op.kind, kNoId, 0); });
  for (const Work& work : work_) assembly.add(work.op);
  work_.clear();
}

}  // namespace streamscope::import::otf2
