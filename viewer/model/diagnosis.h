// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a report says first, for the diagnosis panel: the iterations, what bounds them, and what to
// fix first. The analysis and the report define all of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "background.h"
#include "insights.h"
#include "report/sections/iteration.h"
#include "timeline/timeline_layout.h"

namespace streamscope::viewer {

class TraceModel;
using report::IterationSummary;

/// A finding to fix first.
struct Repair {
  size_t finding = 0;  ///< as Insights lists them
  std::string gain;    ///< "8.50 ms → 1.52 ms (−82 %)"; "" if unknown
  std::string place;   ///< where in the program, "" if unknown
};

/// Immutable.
struct Diagnosis {
  analysis::Iterations iterations;
  /// The steady ones that took much longer than the median, ascending.
  std::vector<uint32_t> outliers;
  /// Null if there are no iterations, or if the trace is so large that a Diagnoser computes it.
  std::shared_ptr<const IterationSummary> summary;
  std::string why_none;               ///< why there are no iterations; "" if there are some
  std::vector<Repair> repairs;        ///< at most report::kFixedFirst
  size_t more = 0;                    ///< warnings and errors beyond these
  std::vector<report::Advice> small;  ///< warnings that cost less than 1 % of an iteration
  std::string possible;               ///< the possible findings in one line; "" if there are none
  std::string path;  ///< without iterations: what the critical path consists of; "" if unknown

  bool has_iterations() const { return iterations.found(); }
  /// The time of an iteration.
  TimeRange range(size_t iteration) const {
    return {iterations.all[iteration].start_ns, iterations.all[iteration].end_ns};
  }
  /// The time of the steady part; none without iterations.
  std::optional<TimeRange> steady() const;
  /// The iteration that contains an instant, or the nearest one; none without iterations.
  /// Logarithmic.
  std::optional<size_t> iteration_at(Ns at) const;
  /// The iteration to open with: the median of the steady part. Needs iterations.
  size_t opening() const;
};

/// `insights` were gained from the same analyses. If they are derived, iterations are read from the
/// trace and the summary is left out. `window_ns`: from the first to the last work on a device.
Diagnosis diagnose(analysis::Analyses& analyses, const Insights& insights, Ns window_ns);

/// Computes the summary of very large traces on a separate thread, when it is needed. UI thread
/// only.
class Diagnoser {
 public:
  /// The summary of a model; null if it has no iterations or while it is computed, which starts if
  /// it `is_wanted`. Does not block.
  std::shared_ptr<const IterationSummary> ask(const std::shared_ptr<const TraceModel>& model,
                                              bool is_wanted);
  bool is_busy() const { return next_.is_busy(); }

 private:
  struct Answer {
    uint64_t serial = 0;  // of the model
    std::shared_ptr<const IterationSummary> summary;
  };
  Answer answer_;
  Background<Answer> next_;
};

}  // namespace streamscope::viewer
