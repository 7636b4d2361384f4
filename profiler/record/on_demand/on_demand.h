// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A recording that is off until somebody asks: each time it is on, a part of the run becomes a
// trace of its own.
//
// While it is off, the rings are read only for what later records refer to. While it is on, they
// are drained into the trace of the part, as in any other recording.
#pragma once

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "idle_reader.h"
#include "record/drain/drain.h"
#include "record/run/options.h"
#include "record/run/rings_folder.h"
#include "requests.h"

namespace streamscope::record {

/// Thread-compatible.
class OnDemand {
 public:
  /// `trace`: t.sqlite, whose parts are t-1.sqlite and so on. `folder` outlives this.
  OnDemand(RingsFolder& folder, std::filesystem::path trace, const Options& options);
  /// Waits for the parts that are being finished, and refuses what is still asked.
  ~OnDemand();

  bool is_off() const { return phase_ == Phase::kOff; }
  /// Reads the rings while off. Returns the number of records.
  size_t read_idle();
  bool all_finished() const { return idle_->all_finished(); }

  /// True once somebody has asked to start: begin_part() is due.
  bool wants_part();
  /// The trace of the new part; its rings have no reader until Drain. Throws Error, and stays off.
  std::filesystem::path begin_part();
  /// Facts for Drain::Options.
  FactsOfProcesses& facts() { return facts_; }
  /// Called after each read of the rings while on. True once the part is complete: its Drain hands
  /// the rings over, and end_part() is due.
  bool is_over(Drain& drain);
  /// The part is stored, or could not be: then `failure` says why. The recording is off again.
  void end_part(Outcome outcome);
  /// The part ends with the recording.
  void end_last_part();
  uint64_t parts() const { return parts_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase {
    kOff,
    kStarting,  // until all processes record
    kOn,
    kStopping,  // until no process records and the times of all work have arrived
  };
  void take_requests();
  void take(OnDemandRequests::Request request);
  void stop();
  void answer_start(const OnDemandAnswer& answer);
  void update_status(const std::vector<pid_t>& processes);
  std::filesystem::path pointer() const;
  void close_part();

  RingsFolder& folder_;
  std::filesystem::path trace_;
  Options options_;
  std::shared_ptr<OnDemandRequests> requests_;
  FactsOfProcesses facts_;
  std::unique_ptr<IdleReader> idle_;
  Phase phase_ = Phase::kOff;
  bool wants_part_ = false;
  std::filesystem::path part_;
  std::vector<std::filesystem::path> fact_rings_;
  uint64_t parts_ = 0;
  Clock::time_point phase_since_{}, part_began_{};
  std::optional<Clock::time_point> ends_at_;
  std::vector<std::promise<OnDemandAnswer>> starters_, stoppers_;
  std::vector<std::future<void>> finishing_;
};

}  // namespace streamscope::record
