// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The options of a recording, and its outcome.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/hang/hang_options.h"
#include "ring/control.h"
#include "trace/error.h"

namespace streamscope::record {

class OnDemandRequests;
struct Outcome;

/// Of a recording that is off until somebody asks.
struct OnDemandOptions {
  std::shared_ptr<OnDemandRequests> requests;
  /// Called once with the folder of the rings; what it returns lives as long as the recording.
  std::function<std::shared_ptr<void>(const std::filesystem::path& rings)> opened;
  /// Called with each part but the last, in a thread of its own.
  std::function<void(const Outcome&)> finished;
};

struct Options {
  std::filesystem::path output;  ///< empty: default_output()
  std::filesystem::path run;     ///< or the folder with a trace for each rank; `output` is empty
  std::filesystem::path rank_trace;  ///< has the name that the trace of this rank would have
  bool force = false;                ///< replace existing files
  Tier tier = Tier::kTimes;
  uint32_t with = 0;  ///< ring::With bits
  ring::GraphDetail graphs = ring::GraphDetail::kLaunch;
  ring::StackMode stacks = ring::StackMode::kSyncs;
  std::optional<double> delay_s, duration_s;
  ring::CaptureRange capture_range = ring::CaptureRange::kNone;
  std::string capture_range_name;
  uint32_t sample_hz = 0;  ///< samples a second of each issuing thread; 0: none
  bool measure_cost = false;
  ring::MeasuredWindows measured_windows = ring::MeasuredWindows::kInTurns;
  std::string measure_cost_range;    ///< NVTX range whose ends show progress; empty: calls do
  ring::ChosenOrder chosen_order{};  ///< mode kNone: none
  bool quiet = false;
  ring::CallSource source = ring::CallSource::kAuto;
  std::filesystem::path inject_library;         ///< preloaded into the program; empty: none
  std::filesystem::path calls_library;          ///< preloaded before it; empty: none
  HangOptions hangs;                            ///< without `explain` hangs are not watched for
  bool abort_on_hang = false;                   ///< end a program that hangs
  std::optional<uint32_t> flight_recorder_mib;  ///< keep this much of each thread, the newest part
  std::optional<OnDemandOptions> on_demand;     ///< off until somebody asks
};

/// Something that could not be removed; the next command on `trace` removes it.
struct Left {
  std::filesystem::path what, trace;
};
/// For a message.
std::string describe(const Left& left);

struct Outcome {
  int exit_code = 0;           ///< of the program, 128 + n if signal n ended it
  bool trace_written = false;  ///< false: the program made no CUDA call and left no file
  bool left_running = false;   ///< no trace, but processes of the program still run
  size_t ranks = 0;            ///< of the program that have a writer and a trace of their own
  bool complete = false;
  bool ended_hang = false;  ///< the program hung and we ended it; exit_code is 124
  std::filesystem::path trace;
  uint64_t parts = 0;            ///< traces that were written on demand
  uint64_t records = 0;          ///< read from rings
  uint64_t dropped = 0;          ///< because a ring was full
  std::vector<Left> left;        ///< folders of rings that could not be removed
  std::optional<Error> failure;  ///< why the trace could not be written, after the program started
};

}  // namespace streamscope::record
