// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "correlations.h"

#include <algorithm>

namespace streamscope::record {

void Correlations::add(uint32_t tid, bool is_identity, const Call& call) {
  Thread& of = thread(tid, is_identity);
  of.calls.push_back(call);
  if (of.calls.size() > (is_identity ? kMostIdentities : kMostCalls)) of.calls.pop_front();
  while (!of.waiting.empty() && resolve(of, of.waiting.front())) of.waiting.pop_front();
}

bool Correlations::describe(const ring::CorrelationRecord& record) {
  if (record.call >= ring::call_count()) return false;
  const trace::Ns begin = run_.clock.from_monotonic(record.begin_ns);
  const trace::Ns end = run_.clock.from_monotonic(record.end_ns);
  const ring::CallInfo& info = ring::call_info(record.call);
  const Number number{begin, begin + (end - begin) / 2, end, record.correlation_id,
                      info.name.starts_with("cuda")};
  Thread& of = thread(record.tid, ring::changes_identity(info.kind));
  if (!resolve(of, number)) of.waiting.push_back(number);
  return true;
}

bool Correlations::resolve(Thread& thread, const Number& number) {
  std::deque<Call>& calls = thread.calls;
  if (calls.empty()) return false;
  // The first call that is not over before; they end in the order in which they begin. The runtime
  // does something before and after the driver's call, so that a part of the interval is enough.
  const trace::Ns length = number.end - number.begin;
  const trace::Ns since = number.is_runtime ? number.begin + length / 8 : number.middle;
  const auto call = std::ranges::lower_bound(calls, since, {}, &Call::end);
  if (call == calls.end()) return false;
  const trace::Ns until = number.is_runtime ? number.end : number.middle;
  if (call->begin > until) {
    correlate(number, ring::kNone32);
    return true;
  }
  correlate(number, call->number);
  if (const auto known = call - calls.begin(); known > static_cast<ptrdiff_t>(2 * kKept))
    calls.erase(calls.begin(), call - static_cast<ptrdiff_t>(kKept));
  return true;
}

void Correlations::correlate(const Number& number, uint32_t call_number) {
  work_.correlate(number.correlation_id, call_number, number.middle);
  if (call_number == ring::kNone32) return;
  number_row(calls_, call_number, number.correlation_id);
  number_row(records_, call_number, number.correlation_id);
}

template <class Row>
void Correlations::number_row(Rows<Row>& rows, uint32_t call_number, uint32_t correlation_id) {
  Stored<Row>* const kept = rows.find(call_number);
  if (kept == nullptr) return;
  kept->row.correlation_id = correlation_id;
  run_.update(*kept);
  rows.erase(call_number);
}

void Correlations::finish() {
  threads_.for_each([&](uint64_t, Thread& thread) {
    for (const Number& number : thread.waiting) {
      if (!resolve(thread, number)) correlate(number, ring::kNone32);
    }
    thread = {};
  });
}

}  // namespace streamscope::record
