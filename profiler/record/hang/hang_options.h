// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How a recording watches for programs that hang. The caller supplies the analysis that explains
// them: the writer only stores the result.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "trace/read/reader.h"
#include "trace/write/hang_report.h"

namespace streamscope::record {

struct HangOptions {
  /// Time without activity that counts as a hang; nothing: only on explain_request.
  std::optional<double> timeout_s;
  /// The analysis of one process of a trace that is still growing. `coord`: what libcoord reported
  /// about waits in it that may never end; nullptr if there are none.
  std::function<trace::HangReport(const trace::Trace&, trace::Id process,
                                  const trace::HangReport* coord)>
      explain;
  /// An alarm, or a requested answer.
  std::function<void(uint32_t pid, const trace::HangReport&)> reported;
};

}  // namespace streamscope::record
