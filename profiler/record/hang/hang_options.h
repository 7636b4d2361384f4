// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How a recording watches for programs that stand still. The explanation comes from whoever may use
// the analyses: the writer only stores it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "trace/hang_report.h"
#include "trace/reader.h"

namespace streamscope::record {

struct HangOptions {
  /// How long nothing may happen; nothing: only asked by explain_request.
  std::optional<double> timeout_s;
  /// The analysis of a trace that is still growing, for one of its processes. `coord`: what
  /// libcoord said of waits in it that may never end; nullptr if there are none.
  std::function<trace::HangReport(const trace::Trace&, trace::Id process,
                                  const trace::HangReport* coord)>
      explain;
  /// An alarm, or an answer that was asked for.
  std::function<void(uint32_t pid, const trace::HangReport&)> reported;
};

}  // namespace streamscope::record
