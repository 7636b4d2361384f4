// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What one detector reports on a trace, with the evidence that the trace contains.
#pragma once

#include <string_view>

#include "analysis/detector.h"
#include "support/trace_builder.h"

namespace streamscope::analysis {

inline Verdict run(std::string_view id, const trace::Trace& trace) {
  Analyses analyses(trace);
  return evaluate(*find_detector(id), analyses, evidence_of(trace));
}
inline Verdict run(std::string_view id, const test::TraceBuilder& builder) {
  return run(id, builder.trace());
}

}  // namespace streamscope::analysis
