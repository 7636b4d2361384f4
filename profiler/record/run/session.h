// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// One recording from the writer's side: the folder of rings, the trace once there is something to
// write, the end.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "options.h"
#include "record/drain/drain.h"
#include "record/flight/flight_session.h"
#include "record/hang/monitor.h"
#include "record/on_demand/on_demand.h"
#include "record/samples/sampler.h"
#include "rings_folder.h"
#include "trace/error.h"

namespace streamscope::record {

/// Thread-compatible.
class Session {
 public:
  /// Creates the folder of the rings. Throws Error, also if `trace` exists and `options.force` is
  /// not set.
  Session(const std::filesystem::path& trace, const Options& options);
  /// Without finish() everything is left for recover().
  ~Session() = default;

  const std::filesystem::path& rings() const { return folder_.path(); }
  /// Absolute.
  const std::filesystem::path& trace() const { return trace_; }
  /// As its user reads it: with the file and what to do.
  Error failure_of(const std::exception& error) const;
  /// Reads new records and returns how long to wait before the next call. A trace that cannot be
  /// written ends the recording: the error is kept for finish(), the program continues.
  std::chrono::microseconds step();
  /// True if all processes that took part have ended.
  bool all_finished() const {
    if (flight_) return failure_ || flight_->all_finished();
    if (on_demand_ && on_demand_->is_off()) return failure_ || on_demand_->all_finished();
    return !drain_ || failure_ || drain_->all_finished();
  }
  /// True if a flight recorder accepts it: it dumps at the next step.
  bool request_dump() {
    if (flight_) flight_->request();
    return flight_ != nullptr;
  }
  void set_exit(uint32_t pid, int wait_status);
  /// The process that hangs and must be ended; reported once.
  std::optional<uint32_t> take_hung() { return std::exchange(hung_, std::nullopt); }
  /// Ends the recording and cleans up; throws the Error that ended it early, if any. `outcome` gets
  /// everything except the name of the trace and the exit code. `finished` is called with the
  /// finished trace while the folder of the rings is still marked as in use.
  void finish(Outcome* outcome, const std::function<void(const Outcome&)>& finished = {});

 private:
  using Clock = std::chrono::steady_clock;
  void switch_collecting();
  void watch();
  void begin();
  void begin_part();
  void end_part();
  void abandon_part(const std::exception& error);
  void end_samples();
  void store_samples();
  void report_second_trace();
  void fail(const std::exception& error);

  std::filesystem::path trace_;
  Options options_;
  RingsFolder folder_;
  ring::ClockAnchor first_anchor_;
  Clock::time_point begin_ = Clock::now();
  std::unique_ptr<Drain> drain_;
  std::unique_ptr<FlightSession> flight_;  // instead of the drain
  std::shared_ptr<void> served_;  // takes requests from outside, and waits for their answers
  std::unique_ptr<OnDemand> on_demand_;
  HangOptions hangs_;
  std::optional<Monitor> monitor_;
  std::optional<Sampler> sampler_;
  std::unique_ptr<RankFollower> follower_;
  std::optional<uint32_t> hung_;
  std::optional<Error> failure_;
};

/// Adds what a killed recorder left in FILE.rings/ to its trace and finishes it. False if there is
/// nothing to do: no such folder, or one that may be in use, which `in_use` reports. `left` gets
/// what could not be removed. Costs one stat() without a folder. Throws Error.
bool recover(const std::filesystem::path& trace, bool* in_use = nullptr,
             std::vector<Left>* left = nullptr);

}  // namespace streamscope::record
