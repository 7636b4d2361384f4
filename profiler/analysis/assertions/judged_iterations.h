// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The iterations that assertions look at.
//
// An iteration is what the host issues from its beginning to the beginning of the next one.
// Start-up is left out, but not by duration, which differs between runs: the first iteration that
// is judged is the first with the usual work, and at most half of them are left out before it.
// Usual work means no more synchronizations and allocations than the median iteration has, and as
// many ops, give or take a tenth.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analyses.h"

namespace streamscope::analysis {

/// Immutable, thread-safe; keeps a reference to the analyses. Needs no device times if the request
/// names an NVTX range.
class JudgedIterations {
 public:
  explicit JudgedIterations(Analyses& analyses);

  bool found() const { return !begins_.empty(); }
  /// Why none were found; "" if none were requested.
  const std::string& why_not() const { return why_not_; }
  /// True if the user chose how to find iterations, so that the whole run is no substitute.
  bool requested() const { return requested_; }
  Id process() const { return process_; }

  size_t first() const { return first_; }        ///< index of the first that is judged
  size_t end() const { return begins_.size(); }  ///< index after the last
  size_t judged_count() const { return end() - first_; }
  /// The judged iteration in which an instant of host time is.
  std::optional<size_t> at(Ns host_ns) const;
  /// "iteration 12 (of 96)": counted from 1, start-up included.
  std::string label(size_t iteration) const;

 private:
  void from_ranges(const Trace& trace, const std::string& name, Id process);
  void leave_out_start_up(Analyses& analyses);
  std::optional<size_t> index_of(Ns host_ns) const;

  std::string why_not_;
  bool requested_ = false;
  Id process_ = kNoId;
  std::vector<Ns> begins_;
  Ns end_ns_ = kUnknownNs;
  size_t first_ = 0;
};

}  // namespace streamscope::analysis
