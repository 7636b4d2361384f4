// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Detects that a recorded program hangs and finds out why.
//
// It runs in the writer, between two reads of the rings, and costs the program nothing while that
// makes progress. After the time limit without activity it has the collector run queries (events,
// streams, words of memory, one forced flush; each in an expendable thread), samples the threads
// from outside and passes the trace to an explanation. If the program continues meanwhile, nothing
// is reported; a hang is reported once.
#pragma once

#include <chrono>
#include <map>
#include <vector>

#include "hang_options.h"
#include "record/drain/drain.h"
#include "ring/control.h"
#include "thread_snapshots.h"

namespace streamscope::record {

/// Thread-compatible.
class Monitor {
 public:
  Monitor(ring::Control& control, HangOptions options)
      : control_(control), options_(std::move(options)) {}

  /// Called after each read of the rings. Reads clocks and a few counters; while a program hangs it
  /// may block for some seconds. Throws Error if the trace cannot be written.
  void step(Drain& drain);
  /// Explains every live process now, as explain_request does.
  void ask_all(Drain& drain);
  /// True until that is done.
  bool is_asked() const { return requested_; }
  /// Asks how far the device of each live process is, and explains nothing: the answers become rows
  /// of table probe. Does not ask processes that are stopped, or that were explained just now.
  void ask_devices(Drain& drain);
  /// True until they have answered, or had time to.
  bool is_asking_devices() const { return asks_devices_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { kMoving, kAsking, kReported };
  struct Watch {
    uint64_t moved = 0;
    Clock::time_point since = Clock::now(), asked_at{};
    Phase phase = Phase::kMoving;
    double patience = 1;  // factor of the time limit
    bool on_request = false;
    bool of_device = false;    // its device is to be asked, or is being asked
    bool explains = false;     // ... and the answer is to be explained
    bool asked_again = false;  // soon after activity that the question itself had caused
    uint32_t round = 0;
    std::vector<ThreadSnapshot> threads;  // as they were when the question was asked
  };

  void take_request(Drain& drain);
  void step(Drain& drain, ProcessDrain& process, Watch& watch);
  void ask(ProcessDrain& process, Watch& watch);
  void conclude(Drain& drain, ProcessDrain& process, Watch& watch);
  /// Samples the threads again and stores what they do. False if nothing there indicates a hang.
  bool store_threads(Drain& drain, ProcessDrain& process, const Watch& watch, bool is_quiet);

  ring::Control& control_;
  HangOptions options_;
  std::map<trace::Id, Watch> watches_;  // by process
  uint32_t explain_request_ = 0;
  bool requested_ = false;  // some process is not explained yet
  bool asks_devices_ = false;
  trace::Id asking_ = trace::kNoId;
};

}  // namespace streamscope::record
