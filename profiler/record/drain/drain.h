// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Drains all rings of a run into one trace.
//
// Used by Session while a program runs and by recover() afterwards. Places in a ring are released
// only once the rows are stored, so a writer that is killed leaves every record either in the trace
// or in its ring. If storing takes longer than the rings can hold, a second thread moves their
// records to files next to them (ring/backlog.h).
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "known_facts.h"
#include "process_drain.h"
#include "record/hang/thread_snapshots.h"
#include "record/hang/unwind.h"
#include "ring/process.h"
#include "run_state.h"
#include "trace/read/reader.h"
#include "trace/write/hang_report.h"
#include "trace/write/writer.h"

namespace streamscope::record {

/// Thread-compatible. Throws Error if the trace cannot be written.
class Drain {
 public:
  struct Options {
    RunOptions run;
    ring::ClockKind clock = ring::ClockKind::kMonotonic;
    int64_t trace_start_ns = 0;  ///< CLOCK_MONOTONIC
    FactsOfProcesses* facts =
        nullptr;  ///< gets what later parts of the run refer to; null: none do

    static Options of(const ring::Control& control) {
      return {
          .run = {.tier = control.tier, .with = control.with, .on_demand = control.on_demand != 0},
          .clock = ring::best_clock(),
          .trace_start_ns = control.trace_start_ns};
    }
  };

  /// `rings`: the folder with the ring files. `first_anchor`: taken before any record was made.
  Drain(std::filesystem::path rings, trace::Writer writer, const Options& options,
        const ring::ClockAnchor& first_anchor);
  /// Continues where another writer was killed. `trace` is what it stored; `writer` continues that
  /// file.
  Drain(std::filesystem::path rings, trace::Writer writer, const Options& options,
        const trace::Trace& trace);

  /// Finds new rings and reads their content; stores and releases it when due. Returns the number
  /// of records read.
  size_t cycle();
  /// What the fullest ring still contained, as a share of its size, when the last cycle had read
  /// it.
  double fullest_ring() const { return fullest_ring_; }
  /// True if a program has just waited until what it did was stored: it may do so again.
  bool is_awaited() const;
  /// True if every process that has created a ring has ended and was read to its end.
  bool all_finished() const { return std::ranges::all_of(processes_, &ProcessDrain::finished); }
  /// Sets how a process ended, from wait().
  void set_exit(uint32_t pid, int wait_status);
  /// Stores everything read so far and releases its places in the rings.
  void flush();
  /// Reads the rest, gives up processes that still run, stores and closes the trace. True if it is
  /// complete.
  bool finish();
  /// The same, but leaves the rings to the next reader, and the processes that still run are only
  /// no longer recorded: nothing is missing for that.
  bool hand_over();
  /// True if no process records and every operation of theirs has its times.
  bool is_quiet();

  /// Processes that have not ended.
  std::vector<ProcessDrain*> live_processes();
  /// All of them, in the order in which they were found.
  const std::vector<std::unique_ptr<ProcessDrain>>& processes() const { return processes_; }
  /// Like flush(), but also saves the ops that are held back for sorting.
  void flush_all();
  /// Ticks of the latest read of the rings.
  uint64_t now() const { return now_ != 0 ? now_ : ring::read_clock(options_.clock); }
  /// An answer that arrived after the rings were copied.
  void take_answer(uint32_t pid, const ring::AnswerRecord& answer);
  const std::filesystem::path& trace_file() const { return writer_.file(); }
  /// Rows of table thread_sample. `before` was sampled a moment earlier than `threads`.
  void add_threads(ProcessDrain& process, const std::vector<ThreadSnapshot>& before,
                   const std::vector<ThreadSnapshot>& threads, const SeenStacks& stacks);
  /// Threads to sample.
  std::vector<WatchedThread> issuing_threads();
  /// Samples of processes that have ended are left out.
  void add_samples(const std::vector<HostSample>& samples);
  /// No more will follow.
  void end_samples(uint32_t hz, const Sampler& sampler);
  /// Something contradicts the rank of this trace.
  void contradict_rank(const std::string& text);
  /// Stores why a process hangs.
  void add_hang(ProcessDrain& process, const trace::HangReport& report);

  uint64_t records() const { return run_.records; }
  int64_t dropped() const { return run_.losses.count("ring-full"); }

 private:
  using Clock = std::chrono::steady_clock;

  void begin_trace(const ring::ClockAnchor& first_anchor);
  void add_anchor(const ring::ClockAnchor& anchor);
  void scan();
  bool open_ring(const std::filesystem::path& file);
  /// The program is gone, and its last report exists.
  bool has_ended(const ProcessDrain& process) const {
    return is_replaced(process) || !ring::process_alive(process.pid(), process.start());
  }
  bool is_replaced(const ProcessDrain& process) const;
  void take_exit(const std::string& file_name);
  void finish_process(ProcessDrain& process, ProcessDrain::Ending ending);
  bool finish(ProcessDrain::Ending of_live);
  void store_positions();
  void save_held_ops();
  std::filesystem::path held_file(int64_t number) const;
  bool store_for_programs();
  void flush_if_due();
  size_t cycle_all(bool look_for_ended);
  void relieve_rings(const std::stop_token& stop);

  std::filesystem::path rings_;
  trace::Writer writer_;
  Options options_;
  RunState run_;
  std::vector<std::unique_ptr<ProcessDrain>> processes_;
  std::set<std::string> opened_;                        // file names
  std::vector<std::pair<ProcessIdentity, int>> exits_;  // exit codes that processes reported
  std::map<std::string, RingPosition> stored_;          // by file name, from an earlier writer
  std::vector<std::string> unreadable_;                 // files that may still become rings
  std::filesystem::file_time_type scanned_at_{};
  double fullest_ring_ = 0;
  Clock::time_point answered_{}, last_scan_{}, last_flush_{}, last_settled_{}, last_look_{};
  int64_t held_file_ = 0;       // number of the newest file of held-back ops
  std::string stored_numbers_;  // ProcessDrain::describe_numbers() as stored
  uint64_t now_ = 0;            // ticks of this cycle's anchor
  bool recovering_ = false;
  // Held while rings are read, added and released; not while rows are stored, which can take long.
  std::mutex rings_in_use_;
  std::condition_variable_any stopped_;
  std::jthread relief_;  // last: it uses the others
};

}  // namespace streamscope::record
