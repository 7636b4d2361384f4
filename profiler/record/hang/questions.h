// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What to ask the collector about the streams of one process when it hangs, and its answers.
//
// A query of an untimed event is safe in every hang that was tried, a query of a stream is not; so
// for each stream the newest event is queried, and the stream itself only if work follows that
// event. A handle that is known to be destroyed is not queried, and each question contains when the
// program last used the handle, so that the collector skips what was destroyed meanwhile.
#pragma once

#include <cstdint>
#include <vector>

#include "record/drain/run_state.h"
#include "ring/control.h"
#include "ring/record.h"

namespace streamscope::record {

/// Answers become rows of table probe. Thread-compatible.
class Questions {
 public:
  Questions(RunState& run, trace::Id process) : run_(run), process_(process) {}

  /// The newest record of an event, in a stream. `since`: ticks at which the call began, as below.
  void recorded(trace::Id stream, uint64_t event, trace::Id record, uint64_t since);
  /// Work was put onto a stream that has this handle.
  void issued(trace::Id stream, uint64_t handle, bool per_thread, uint64_t since);
  /// A stream waits until a word has a value.
  void waits(trace::Id stream, uint64_t address, uint32_t bytes);
  void event_destroyed(uint64_t event) { newest_record_.erase(event); }
  void stream_destroyed(trace::Id stream) { tails_.erase(stream); }
  void device_reset();

  /// Begins a round; without questions if the process has no real device.
  std::vector<ring::Question> ask(uint32_t round, bool of_device);
  void take(const ring::AnswerRecord& answer, trace::Ns at);
  /// Every unanswered question gets a row that says so.
  void give_up(trace::Ns at);
  /// The newest round that is answered completely.
  uint32_t answered() const { return answered_; }
  /// Answers and missing answers of the round that do not say that work has finished.
  uint32_t not_done() const { return not_done_; }

 private:
  /// The newest work of a stream.
  struct Tail {
    uint64_t handle = 0;  // 0: cannot be queried
    uint64_t used = 0;    // time since which the handle is known to be valid, in ticks
    uint64_t event = 0;
    uint64_t recorded = 0;  // the same for the event
    trace::Id record = trace::kNoId;
    bool work_behind_record = false;
    std::vector<ring::Question> words;  // newest last
  };
  struct Asked {
    ring::Question question;
    trace::Id stream;
    trace::Id record;
    bool answered = false;
  };
  void store(const Asked& asked, trace::Ns at, trace::Small result, trace::Int value);

  RunState& run_;
  trace::Id process_;
  FlatMap<trace::Id, Tail> tails_;              // by stream
  FlatMap<uint64_t, trace::Id> newest_record_;  // by event
  std::vector<Asked> asked_;
  uint32_t round_ = 0, answered_ = 0, not_done_ = 0;
};

}  // namespace streamscope::record
