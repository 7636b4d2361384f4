// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The iteration and what bounds it: the first thing that a report says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/detector.h"
#include "analysis/iterations/host_calls.h"
#include "analysis/iterations/host_samples.h"
#include "analysis/iterations/iteration_model.h"
#include "analysis/iterations/other_level.h"

namespace streamscope::report {

struct Advice;
struct Section;

/// Part of an iteration that has a line of its own; what is smaller is summed up.
inline constexpr double kLeastShownShare = 0.005;

struct IterationSummary {
  analysis::Iterations iterations;
  analysis::IterationShares shares;
  analysis::TimeShare bound = analysis::TimeShare::kUnknown;
  std::vector<analysis::TimeShare> nearly_bound;  ///< IterationModel::nearly_bound()
  analysis::Shares without_ns{};                  ///< IterationModel::without_ns()
  trace::Ns bare_ns = 0;                          ///< predicted without recording
  analysis::HostFunction host_functions;          ///< the same by call
  analysis::HostActivities host;    ///< while the host held the device up; empty without samples
  std::string not_sampled;          ///< without samples at all: why
  uint64_t profiled_operators = 0;  ///< of an iteration, in a profile of PyTorch
  analysis::HostPace pace;
  std::optional<analysis::OtherLevel> other_level;

  bool found() const { return iterations.found(); }
  // Means of the steady part.
  trace::Ns share_ns(analysis::TimeShare share) const;
  trace::Ns mean_ns() const;
};

IterationSummary summarize(analysis::Analyses& analyses, const analysis::IterationModel& model);

/// "9.01 ms ± 421 µs an iteration (4 to 71 of 72, NVTX range "step"), ..."
std::string duration_sentence(const IterationSummary& summary);
/// "Bound by the host, which launches: ..."
std::string bound_sentence(const IterationSummary& summary);

/// A part of the iteration that is worth a line, largest first; the rest is summed up.
struct ShareLine {
  std::string name;
  std::string id;  ///< "" for the rest
  trace::Ns duration_ns = 0;
  std::optional<analysis::TimeShare> share = {};  ///< none for the rest
  trace::Ns without_ns = trace::kUnknownNs;       ///< an iteration if this took no time, if known
};
std::vector<ShareLine> share_lines(const IterationSummary& summary);
/// "10.1 ms, without it 1.48 ms"
std::string times_of(const ShareLine& line);

/// The index of the steady iteration whose duration is closest to the median.
size_t median_iteration(const analysis::Iterations& iterations);

/// What a repair brings an iteration: "8.50 ms → 1.52 ms (−82 %)". Without iterations the time that
/// it saves, and its share of `window_ns` unless that is 0: "3.20 ms (22 %)". Empty if unknown.
std::string gain_text(const analysis::Finding& finding, trace::Ns window_ns);
/// "3 smaller findings, 0.4 % of an iteration together"
std::string small_findings(const IterationSummary& summary, const std::vector<Advice>& small);
/// The same for a report: "...: see --format json"
std::string small_line(const IterationSummary& summary, const std::vector<Advice>& small);

/// The iteration, what bounds it, and its shares.
Section iteration_section(const IterationSummary& summary);
/// What the host did while the device waited for it, by place. There are samples. Without rows if
/// it waited for less than 1 % of an iteration.
Section host_section(const IterationSummary& summary);

/// The most findings that a report asks to fix first.
inline constexpr size_t kFixedFirst = 3;

/// Why a trace has no iterations that were found as requested, and what helps.
std::string no_iterations_sentence(const trace::Trace& trace,
                                   const analysis::IterationRequest& request = {});

inline constexpr const char* kIterationTitle = "Iteration";  ///< of its section
inline constexpr const char* kHostTitle = "Host";            ///< of the section on samples

}  // namespace streamscope::report
