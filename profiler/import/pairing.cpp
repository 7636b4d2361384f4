// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "pairing.h"

#include <algorithm>

namespace streamscope::import {
namespace {

// Of (process, number); numbers of CUPTI have 32 bits.
uint64_t key(Id process, Int number) {
  return uint64_t{process} << 40 ^ static_cast<uint64_t>(number);
}

template <class A, class B>
bool overlap(const A& a, const B& b) {
  return a.start_ns < b.end_ns && b.start_ns < a.end_ns;
}

}  // namespace

Pairing::Pairing(const std::vector<RecordCall>& records) : records_(records) {
  for (Id id = 0; id < records.size(); ++id) {
    const RecordCall& record = records[id];
    if (record.instance != kNoInt) by_instance_.emplace(key(record.process, record.instance), id);
    if (record.correlation != kNoInt)
      by_correlation_.emplace(key(record.process, record.correlation), id);
    if (record.event != kNoId) by_event_[record.event].push_back(id);
    const auto known = process_is_known_.try_emplace(record.process, true).first;
    known->second &= record.event != kNoId;
    longest_ns_ = std::max(longest_ns_, record.end_ns - record.start_ns);
  }
}

Id Pairing::numbered(const LookCall& look) const {
  if (look.instance == kNoInt) return kNoId;
  const auto found = by_instance_.find(key(look.process, look.instance));
  return found == by_instance_.end() ? kNoId : found->second;
}

// The last record of the event that returned before the waiting call began.
Id Pairing::newest(const LookCall& look) const {
  if (look.event == kNoId || look.instance != kNoInt) return kNoId;
  const auto known = process_is_known_.find(look.process);
  const auto history = by_event_.find(look.event);
  if (known == process_is_known_.end() || !known->second || history == by_event_.end())
    return kNoId;
  auto after = std::ranges::lower_bound(history->second, look.start_ns, {},
                                        [&](Id id) { return records_[id].start_ns; });
  while (after != history->second.begin()) {
    --after;
    if (records_[*after].end_ns <= look.start_ns) return *after;
  }
  return kNoId;
}

// The call that the file names, which cannot have begun after the waiting call ended.
Id Pairing::named(const LookCall& look) const {
  if (look.record_correlation == kNoInt) return kNoId;
  const auto found = by_correlation_.find(key(look.process, look.record_correlation));
  return found == by_correlation_.end() || records_[found->second].start_ns >= look.end_ns
             ? kNoId
             : found->second;
}

Bound Pairing::bind(const LookCall& look) const {
  Id record = numbered(look);
  if (record == kNoId) record = newest(look);
  if (record == kNoId) record = named(look);
  if (record == kNoId) return {};
  const RecordCall& taken = records_[record];
  Bound bound{.binding = trace::kBindingExact, .record = record};
  // Records of other threads that may be of the same event and ran at the same time.
  const Ns from = std::min(taken.start_ns, look.start_ns) - longest_ns_;
  const Ns until = std::max(taken.end_ns, look.end_ns);
  const auto first = std::ranges::lower_bound(records_, from, {}, &RecordCall::start_ns);
  const bool instance_named = look.instance != kNoInt && taken.instance == look.instance;
  for (auto contender = first; contender != records_.end() && contender->start_ns < until;
       ++contender) {
    const Id id = static_cast<Id>(contender - records_.begin());
    if (id == record || contender->process != look.process) continue;
    const bool may_be_same =
        contender->event == taken.event || (contender->event == kNoId && !instance_named);
    if (!may_be_same) continue;
    const bool races = (contender->thread != look.thread && overlap(*contender, look)) ||
                       (contender->thread != taken.thread && overlap(*contender, taken));
    if (races) bound.candidates.push_back(id);
  }
  if (taken.thread != look.thread && overlap(taken, look)) bound.binding = trace::kAmbiguous;
  if (!bound.candidates.empty()) bound.binding = trace::kAmbiguous;
  if (bound.binding == trace::kAmbiguous) {
    bound.candidates.insert(bound.candidates.begin(), record);
    bound.record = kNoId;
  }
  return bound;
}

}  // namespace streamscope::import
