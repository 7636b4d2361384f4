// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What monitoring systems read of recordings: a few numbers of each process, and their text for
// Prometheus. Every label but those that name a process has a fixed list of values, so the number
// of series is bounded.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/iterations/iterations.h"
#include "analysis/iterations/time_share.h"
#include "job/job_hang.h"
#include "trace/read/reader.h"
#include "vocabulary/severity.h"
#include "vocabulary/wait_cause.h"

namespace streamscope::report {

inline constexpr double kQuantiles[] = {0.25, 0.5, 0.75, 0.95};

/// As `report` finds them.
struct IterationMetrics {
  uint64_t count = 0;  ///< all of them
  trace::Ns total_ns = 0;
  trace::Ns last_ns = 0;
  std::array<trace::Ns, std::size(kQuantiles)>
      quantiles_ns{};                                  ///< of the steady part, as all below
  trace::Ns bare_ns = 0;                               ///< predicted without recording
  double busy = 0;                                     ///< share in which the device worked
  std::array<double, analysis::kShareCount> shares{};  ///< by TimeShare; sum to 1
  analysis::TimeShare bound = analysis::TimeShare::kUnknown;
};

struct ProcessMetrics {
  std::string run, host;
  int64_t pid = -1;   ///< -1: not known
  int32_t rank = -1;  ///< -1: none

  std::optional<IterationMetrics> iteration;                  ///< if there are any
  std::array<trace::Ns, std::size(kWaitCauses)> waited_ns{};  ///< of all streams, by WaitCause
  std::map<std::string_view, uint64_t> findings;          ///< by detector, without possible ones
  std::array<uint64_t, std::size(kSeverities)> losses{};  ///< by Severity
  job::RankState state = job::RankState::kRuns;  ///< kHangs also if it hung before it ended
  bool finished = false;                         ///< the recording
  trace::Ns recorded_ns = 0;                     ///< from its start to the last event
  std::optional<double> cost;                    ///< of recording, as a share, if it was measured
  std::optional<double> caused_ns;  ///< waiting of all other ranks for this one, per iteration
};

struct Metrics {
  std::string version;  ///< of the program
  std::vector<ProcessMetrics> processes;
  uint64_t left_out = 0;     ///< more processes, of which nothing else is reported
  uint64_t unreadable = 0;   ///< traces
  double analyzed_at_s = 0;  ///< Unix time; 0: not yet
  double took_s = 0;         ///< of the analysis
};

/// Of the process with the iterations, or else of the first. `run` names the recording.
ProcessMetrics metrics_of(const trace::Trace& trace, std::string run,
                          const analysis::IterationRequest& request);

/// In Prometheus' text format, version 0.0.4. Of processes with equal names only the first is
/// included; the others are counted as left out.
std::string to_prometheus(const Metrics& metrics);

}  // namespace streamscope::report
