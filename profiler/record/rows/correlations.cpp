// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "correlations.h"

#include <algorithm>
#include <limits>

namespace streamscope::record {

void Correlations::add(uint32_t tid, bool is_identity, const Call& call) {
  Thread& of = thread(tid, is_identity);
  of.calls.push_back(call);
  if (of.calls.size() > (is_identity ? kMostIdentities : kMostCalls)) of.calls.pop_front();
  while (!of.waiting.empty() && resolve(of, of.waiting.front())) of.waiting.pop_front();
  // Those before it are of calls that were not recorded.
  while (!of.named.empty() && of.named.front().call_number <= call.number) {
    const Named named = of.named.front();
    of.named.pop_front();
    if (named.call_number == call.number) correlate(named.correlation_id, named.call_number);
  }
}

bool Correlations::describe(const ring::CorrelationRecord& record) {
  if (record.call >= ring::call_count()) return false;
  const Span call = {run_.clock.from_monotonic(record.begin_ns),
                     run_.clock.from_monotonic(record.end_ns)};
  const Number number{call, record.correlation_id};
  Thread& of = thread(record.tid, ring::changes_identity(ring::call_info(record.call).kind));
  if (record.call_number != 0) {
    of.named.push_back({record.call_number, record.correlation_id});
    if (of.named.size() > kMostIdentities) of.named.pop_front();
    return true;
  }
  if (!resolve(of, number)) of.waiting.push_back(number);
  return true;
}

bool Correlations::resolve(Thread& thread, const Number& number) {
  std::deque<Call>& calls = thread.calls;
  const trace::Ns middle = number.call.begin + (number.call.end - number.call.begin) / 2;
  // The first call that is not over before; they end in the order in which they begin.
  const auto call = std::ranges::lower_bound(calls, middle, {}, &Call::end);
  if (call == calls.end()) return false;
  if (call->begin <= middle) {
    correlate(number.correlation_id, call->number);
  } else {
    work_.lacks_call(number.correlation_id, number.call);
  }
  if (const auto known = call - calls.begin(); known > static_cast<ptrdiff_t>(2 * kKept))
    calls.erase(calls.begin(), call - static_cast<ptrdiff_t>(kKept));
  return true;
}

void Correlations::correlate(uint32_t correlation_id, uint32_t call_number) {
  work_.correlate(correlation_id, call_number);
  number_row(calls_, call_number, correlation_id);
  number_row(records_, call_number, correlation_id);
}

template <class Row>
void Correlations::number_row(Rows<Row>& rows, uint32_t call_number, uint32_t correlation_id) {
  Stored<Row>* const kept = rows.find(call_number);
  if (kept == nullptr) return;
  kept->row.correlation_id = correlation_id;
  run_.update(*kept);
  rows.erase(call_number);
}

void Correlations::give_up(trace::Ns read) {
  constexpr trace::Ns kClockErrorNs = 100'000;
  threads_.for_each([&](uint64_t, Thread& thread) {
    std::deque<Number>& waiting = thread.waiting;
    while (!waiting.empty() && waiting.front().call.end < read - kClockErrorNs) {
      const Number number = waiting.front();
      waiting.pop_front();
      if (!resolve(thread, number)) work_.lacks_call(number.correlation_id, number.call);
    }
  });
}

void Correlations::finish() {
  give_up(std::numeric_limits<trace::Ns>::max());
  threads_.for_each([](uint64_t, Thread& thread) { thread = {}; });
}

}  // namespace streamscope::record
