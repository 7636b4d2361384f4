// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The end of a trace, whichever way its large tables are kept: plain, as Trace has them, or packed.
#pragma once

#include <algorithm>

#include "model.h"

namespace streamscope::trace {

/// Last instant named by any call, op, range, sync or mark; 0 if there is none. `tables` holds the
/// tables that grow with the trace, `marks` is the table of marks. Linear in the rows.
template <class Tables, class Marks>
Ns last_instant(const Tables& tables, const Marks& marks) {
  Ns last = 0;
  const auto look = [&](const auto& column) {
    for (const Ns at : column) last = std::max(last, at);
  };
  const auto look_both = [&](const auto& table) {
    look(table.start_ns);
    look(table.end_ns);
  };
  look_both(tables.api_call);
  look_both(tables.op);
  look_both(tables.event_record);
  look_both(tables.event_wait);
  look_both(tables.host_sync);
  look_both(tables.range);
  look(marks.start_ns);
  return last;
}

}  // namespace streamscope::trace
