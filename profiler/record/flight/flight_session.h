// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The writer's side of a flight recorder: when to dump, into which file, and the explanation of a
// program that hangs.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <vector>

#include "flight_recorder.h"
#include "record/hang/monitor.h"
#include "record/run/rings_folder.h"

namespace streamscope::record {

/// Thread-compatible.
class FlightSession {
 public:
  FlightSession(const RingsFolder& folder, ring::Control& control, std::filesystem::path trace,
                const Options& options);

  /// Reads the rings, serves requests, watches for hangs. Returns what FlightRecorder::step() does.
  /// Throws Error if a dump cannot be written.
  double step();
  /// The next step writes a dump.
  void request() { requested_ = true; }
  bool all_finished() const { return recorder_.all_finished(); }
  /// The last dump, after a pending one for a hang; false if nothing was ever recorded. Throws
  /// Error.
  bool finish(const std::filesystem::path& file);
  /// Tries again to remove what could not be removed after a dump; returns what remains.
  std::vector<Left> remove_left();

 private:
  using Clock = std::chrono::steady_clock;
  /// A copy of the rings that becomes a trace.
  struct Dump {
    ~Dump();
    Drain drain;
    RingsFolder folder;
    std::filesystem::path trace;
    FlightSession& session;
  };
  struct LeftFolder {
    RingsFolder folder;
    std::filesystem::path trace;
  };
  /// Writes `file`; false if nothing was ever recorded.
  bool dump(const std::filesystem::path& file);
  void end_explanation();
  std::unique_ptr<Dump> begin_dump(const std::filesystem::path& file);
  std::filesystem::path next_file();
  void serve_requests();
  void watch();

  FlightRecorder recorder_;
  ring::Control& control_;
  std::filesystem::path trace_;
  Options options_;
  int dumps_ = 0;
  bool requested_ = false;

  // Of a program without activity.
  uint64_t moved_ = 0;
  Clock::time_point since_ = Clock::now();
  bool explained_ = false;
  uint32_t explain_request_ = 0;
  std::vector<LeftFolder> left_;  // with capacity for one more during a dump
  std::unique_ptr<Dump> dump_;
  std::unique_ptr<Monitor> monitor_;
};

}  // namespace streamscope::record
