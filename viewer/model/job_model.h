// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A run of many ranks as the views need it: the analysis of the job, all times on one clock, the
// critical path by time, and ranks that one lane can stand for.
#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "alike_ranks.h"
#include "file_state.h"
#include "report/sections/job_document.h"
#include "timeline/timeline_layout.h"

namespace streamscope::viewer {

/// A part of a step that can be selected: the rank's own work, or the collective after it.
struct StepPart {
  uint32_t step = job::kNone;
  bool is_work = false;

  explicit operator bool() const { return step != job::kNone; }
  bool operator==(const StepPart&) const = default;
};

/// A stretch of the critical path in one lane, on the common clock.
struct PathHop {
  uint32_t step = job::kNone;
  Ns begin_ns = 0;   ///< of the work
  Ns arrive_ns = 0;  ///< at the collective
  Ns end_ns = 0;
};

struct JobIteration {
  uint32_t number = 0;  ///< from 0
  TimeRange range;      ///< the medians of the ranks' starts and ends
  double waited = 0;    ///< share of it that ranks wait for others, on average
};

/// How far a run was when it was read.
struct RunProgress {
  int32_t world_size = -1;   ///< ranks of the job; -1: not known
  bool is_recorded = false;  ///< a trace is being recorded
  bool is_running = false;   ///< the same, or ranks without a trace may still come
  FolderState files;         ///< from before it was read
  std::chrono::steady_clock::time_point read_at;
};

/// A run of which a rank has no trace is said to run until nothing has changed for so long: ranks
/// start, and imported ones are written, within seconds of each other.
inline constexpr std::chrono::seconds kQuietRun{60};

/// Made once, on a worker; immutable. Rows of ranks are those of job::Steps. Thread-safe: all
/// const.
class JobModel {
 public:
  JobModel(report::JobReport report, std::filesystem::path folder, RunProgress progress = {});

  const std::filesystem::path& folder() const { return folder_; }
  const RunProgress& progress() const { return progress_; }
  const job::Job& job() const { return report_.job; }
  const job::Steps& steps() const { return report_.job.steps; }
  /// What a report says, with all ranks in its table.
  const report::Document& document() const { return document_; }
  /// What is missing or not known, in sentences; "" if nothing is.
  const std::string& warning() const { return warning_; }

  /// On the common clock, the first rank's. A rank whose clock is refused stays on its own, moved
  /// so that its first iteration begins when that of the others does.
  Ns at(uint32_t rank_row, Ns own_ns) const;
  /// The row of a rank; nothing if it has none.
  std::optional<uint32_t> row_of(int32_t rank) const;
  bool has_clock(uint32_t rank_row) const { return job().clocks[rank_row].known(); }
  /// Of all ranks; never empty.
  TimeRange extent() const { return extent_; }

  const std::vector<JobIteration>& iterations() const { return iterations_; }
  /// The first one of median duration; requires that there are iterations.
  size_t opening() const { return opening_; }
  std::optional<size_t> iteration_at(Ns at) const;
  /// An iteration of a rank; nothing if it has none of this number.
  const job::IterationRow* iteration_of(uint32_t rank_row, uint32_t number) const;

  /// By time.
  const std::vector<PathHop>& path() const { return path_; }
  /// Index of the hop that ends in the collective of a step.
  std::optional<size_t> hop_of(uint32_t step) const;

  const std::vector<AlikeRanks>& groups() const { return groups_; }
  uint32_t group_of(uint32_t rank_row) const { return group_of_[rank_row]; }
  /// "ranks 0-4 and 6-15"
  const std::string& name_of_group(uint32_t group) const { return group_names_[group]; }
  /// By rank row: the waiting of all others that its own work caused, per iteration.
  const std::vector<double>& caused_ns() const { return caused_ns_; }

  /// When a part of a step was, on the common clock; nothing if it never ran.
  std::optional<TimeRange> time(StepPart part) const;
  /// Whether the largest share of any step is this one.
  bool has(analysis::TimeShare share) const { return has_share_[static_cast<size_t>(share)]; }

 private:
  void align();
  void find_iterations();
  void find_waiting();
  void find_path();
  void find_shares();
  void find_groups();

  report::JobReport report_;
  std::filesystem::path folder_;
  RunProgress progress_;
  report::Document document_;
  std::string warning_;
  std::vector<Ns> moved_ns_;  // by rank row: of its own clock, if it has no other
  TimeRange extent_{0, 1};
  std::vector<JobIteration> iterations_;
  size_t opening_ = 0;
  std::vector<PathHop> path_;
  std::unordered_map<uint32_t, uint32_t> hop_of_;
  std::vector<double> caused_ns_;
  std::vector<AlikeRanks> groups_;
  std::vector<uint32_t> group_of_;
  std::vector<std::string> group_names_;
  std::array<bool, analysis::kShareCount> has_share_{};
};

/// What most of a step's work was.
analysis::TimeShare largest_share(const job::Steps& steps, uint32_t step);
/// When the work of a step began, on the rank's own clock.
Ns work_start_ns(const job::Steps& steps, uint32_t step);

}  // namespace streamscope::viewer
