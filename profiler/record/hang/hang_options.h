// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How a recording watches for programs that hang. The caller supplies the analysis that explains
// them: the writer only stores the result.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "trace/read/reader.h"
#include "trace/write/hang_report.h"

namespace streamscope::record {

class Drain;
class Monitor;

/// Follows the recording of a rank of a job. Thread-compatible; throws nothing.
class RankFollower {
 public:
  virtual ~RankFollower() = default;
  /// After each read of the rings, with what may ask the devices of the processes; nullptr: nothing
  /// is recorded yet.
  virtual void step(Drain* drain, Monitor* monitor) = 0;
  /// A process that hangs is about to be explained, which may take seconds.
  virtual void explaining() = 0;
  /// The trace is finished; nothing follows.
  virtual void finish(Drain& drain) = 0;
};

struct HangOptions {
  /// Time without activity that counts as a hang; nothing: only on explain_request.
  std::optional<double> timeout_s;
  /// The analysis of one process of a trace that is still growing. `coord`: what libcoord reported
  /// about waits in it that may never end; nullptr if there are none.
  std::function<trace::HangReport(const trace::Trace&, trace::Id process,
                                  const trace::HangReport* coord)>
      explain;
  /// For a rank with this trace in the folder of a run; may be empty.
  std::function<std::unique_ptr<RankFollower>(const std::filesystem::path& trace)> follow;
  /// Before an explanation; may be empty.
  std::function<void()> explaining;
  /// An alarm, or a requested answer.
  std::function<void(uint32_t pid, const trace::HangReport&)> reported;
};

}  // namespace streamscope::record
