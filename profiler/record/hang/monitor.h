// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Sees that a recorded program stands still and finds out why.
//
// It runs in the writer, between two looks at the rings, and takes nothing from the program as long
// as that goes on. When nothing has happened for the time limit it has the collector ask (events,
// streams, words of memory, one forced flush; each in a thread that may be lost to it), looks at
// the threads from outside and hands the trace to an explanation. A program that goes on meanwhile
// is left alone; one that is explained is told once.
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

  /// After each look at the rings. Reads clocks and a few counters; while a program stands still it
  /// may block for some seconds. Throws Error if the trace cannot be written.
  void step(Drain& drain);
  /// Explains every process that lives, now, as explain_request has it done.
  void ask_all(Drain& drain);
  /// True until that is done.
  bool is_asked() const { return requested_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { kMoving, kAsking, kReported };
  struct Watch {
    uint64_t moved = 0;
    Clock::time_point since = Clock::now(), asked_at{};
    Phase phase = Phase::kMoving;
    double patience = 1;  // factor of the time limit
    bool on_request = false;
    bool asked_again = false;  // soon after news that the question itself had brought
    uint32_t round = 0;
    std::vector<ThreadSnapshot> threads;  // as they were when the question was put
  };

  void take_request(Drain& drain);
  void step(Drain& drain, ProcessDrain& process, Watch& watch);
  void ask(ProcessDrain& process, Watch& watch);
  void conclude(Drain& drain, ProcessDrain& process, Watch& watch);
  /// Looks at the threads again and stores what they do. False if nothing there speaks of a hang.
  bool store_threads(Drain& drain, ProcessDrain& process, const Watch& watch, bool is_quiet);

  ring::Control& control_;
  HangOptions options_;
  std::map<trace::Id, Watch> watches_;  // by process
  uint32_t explain_request_ = 0;
  bool requested_ = false;  // some process is still to be explained
  trace::Id asking_ = trace::kNoId;
};

}  // namespace streamscope::record
