// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "cost_windows.h"

namespace streamscope::record {

bool CostWindows::describe(const ring::CollectingRecord& record) {
  const bool goes_on = open_ && record.measuring != 0 && record.on == last_.on;
  if (open_) {
    // A pause does not say how far the program came: the window cannot be compared.
    const bool known = record.measuring != 0 && record.progress >= last_.progress;
    add(run_.to_ns(record.begin, record.flags),
        known ? static_cast<trace::Int>(record.progress - last_.progress) : trace::kNoInt);
  }
  open_ = record.measuring != 0;
  last_ = record;
  return !goes_on;
}

// Recording was off until the end; a window in which it was on has no known length.
void CostWindows::finish() {
  if (open_ && last_.on == 0) add(trace::kUnknownNs, trace::kNoInt);
  open_ = false;
}

void CostWindows::add(trace::Ns end_ns, trace::Int progress) {
  run_.writer.append(trace::CostWindow{.process_id = process_,
                                       .start_ns = run_.to_ns(last_.begin, last_.flags),
                                       .end_ns = end_ns,
                                       .recorded = last_.on,
                                       .progress = progress});
}

}  // namespace streamscope::record
