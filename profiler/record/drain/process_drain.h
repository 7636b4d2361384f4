// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the rings of one process and turns their records into rows.
//
// What a handle means and which record a wait binds to depends on calls of all threads, so each
// cycle reads the rings in two passes: first everything that changes identities, in the order of
// the calls' ends over all rings; then the rest, ring by ring. Waits are bound once every call that
// may precede them has been read: up to a watermark, which open records hold back.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "known_facts.h"
#include "process_identity.h"
#include "record/hang/questions.h"
#include "record/recovery/earlier_rows.h"
#include "record/rows/accesses.h"
#include "record/rows/annotations.h"
#include "record/rows/call_rows.h"
#include "record/rows/coord_waits.h"
#include "record/rows/correlations.h"
#include "record/rows/cost_windows.h"
#include "record/rows/device_work.h"
#include "record/rows/graphs.h"
#include "record/rows/host_samples.h"
#include "record/rows/objects.h"
#include "record/rows/operations.h"
#include "record/rows/tasks.h"
#include "record/rows/tensor_blocks.h"
#include "record/symbols/stacks.h"
#include "ring/record.h"
#include "ring/ring.h"
#include "run_state.h"

namespace streamscope::record {

/// The part of a ring that is already in the trace.
struct RingPosition {
  uint64_t records = 0;              ///< since the ring was created
  uint64_t dropped = 0;              ///< drops that were counted
  trace::Id process = trace::kNoId;  ///< row of its process
};

/// Thread-compatible.
class ProcessDrain {
 public:
  enum class Ending {
    kEnded,       ///< the process has ended
    kReplaced,    ///< another program has taken its place by exec()
    kAbandoned,   ///< it still runs, but its writer was killed or asked to leave
    kHandedOver,  ///< it still runs, and only its recording has ended
  };

  ProcessDrain(RunState& run, const ProcessIdentity& identity);
  /// Continues with a process of an earlier writer.
  ProcessDrain(RunState& run, const ProcessIdentity& identity, trace::Id row);

  const ProcessIdentity& identity() const { return identity_; }
  uint32_t pid() const { return identity_.pid; }
  uint64_t start() const { return identity_.start; }
  bool finished() const { return finished_; }
  bool complete() const { return said_goodbye_ || handed_over_; }
  /// Its recording is off.
  bool is_paused() const { return paused_; }
  trace::Id row_id() const { return id_; }
  const trace::Process& row() const { return row_; }
  /// Something contradicts its rank.
  void contradict_rank(const std::string& text);

  void add_ring(ring::Consumer ring, const RingPosition& stored);
  /// Takes over the rows of an earlier writer, before any ring is added. Without rings the process
  /// has ended.
  void restore(EarlierRows& rows, bool has_rings);
  void restore_shape(uint32_t shape, trace::Id row) { work_.restore_shape(shape, row); }

  /// Notes what the rings contain. Whatever happened before that is found by a later search for
  /// rings and a later read: cycle() takes identities from those, and all else from here.
  void look_first(bool ended = false);
  /// Reads what look_first() found. `ended`: the process was found to have ended before, so nothing
  /// more will follow. `now`: ticks read before the folder of rings was searched. Returns the
  /// number of records read.
  size_t cycle(uint64_t now, bool ended);
  /// Whether the program makes progress, as far as its rings show.
  struct Progress {
    uint64_t moved = 0;       ///< changes with every act except a query of unfinished work
    uint32_t open_calls = 0;  ///< calls in progress
    bool issued = false;      ///< anything was ever recorded
    bool watchable = true;    ///< false: recording is paused
    bool simulated = false;   ///< its device keeps virtual time
    uint32_t answered = 0;    ///< newest round of questions that was answered completely
    uint32_t not_done = 0;    ///< answers of that round which do not say that work has finished
  };
  Progress progress() const;
  /// What to ask the collector: events and streams with the newest work, words waited for.
  std::vector<ring::Question> questions(uint32_t round);
  void take_answer(const ring::AnswerRecord& answer) {
    questions_.take(answer, run_.to_ns(answer.begin, answer.flags));
  }
  /// Missing answers will not arrive any more.
  void give_up_answers(uint64_t now) { questions_.give_up(run_.clock.to_ns(now)); }
  /// What libcoord answered; nullptr if it knows of no wait that may never end.
  const trace::HangReport* coord_waits() const { return coord_waits_.reported(); }
  /// `now` in ticks on the clock of the process's rows: its own for a simulated device.
  trace::Ns time_of(uint64_t now) const {
    return row_.clock == trace::kVirtualClock ? static_cast<trace::Ns>(last_virtual_)
                                              : run_.clock.to_ns(now);
  }
  /// Adds rows for calls and device work that have not ended, so that a reader of the trace sees
  /// them. They are completed when they end.
  void show_unfinished();
  /// Row of a thread; created if necessary.
  trace::Id thread(uint32_t tid, const std::string& name) { return objects_.thread(tid, name); }
  /// Row of a stack that was taken from outside.
  trace::Id add_stack(const std::vector<SeenFrame>& frames) { return stacks_.add(frames); }
  /// Threads worth sampling: those that made a call a short time ago. None while recording is
  /// paused, and none of a simulated device, whose time is another.
  std::vector<WatchedThread> issuing_threads(uint64_t now) const;
  void add(const HostSample& sample) { host_samples_.add(sample); }
  /// True while the thread is inside a traced call.
  bool in_call(uint32_t tid) const;
  /// Issued work whose times have not arrived. Linear in the pending work.
  size_t unreported_work() { return work_.unreported().size(); }

  /// Nothing more will be read.
  void finish(Ending ending);
  /// How it ended, from wait(), also after finish().
  void set_exit(int wait_status);
  /// Its exit code, as reported by the process.
  void set_exit_code(int code) { row_.exit_code = code; }

  /// Largest part of a ring that is read but not released.
  double fullest_ring() const;
  /// Releases everything read to the program. The rows must be stored. `facts`, if not null, gets
  /// what later records refer to.
  void release(KnownFacts* facts);
  /// A thread waits until what its process has done is stored (RingHeader::store_asked), and all of
  /// that is read.
  bool can_answer_store() const;
  /// The rows are stored.
  void answer_store();
  /// Names the frames of the stacks so far; otherwise finish() does.
  void name_stacks() { stacks_.finish(); }
  /// Moves the content of rings that fill up to their backlogs. Not during a cycle().
  void relieve_rings();
  /// "FILE RECORDS DROPPED PROCESS" of each ring: its RingPosition after the next flush.
  void describe_positions(std::string& text) const;
  /// "PROCESS CORRELATION CALL" of the numbers of work that is not reported yet.
  void describe_numbers(std::string& text);
  /// Takes one over from an earlier writer.
  void restore_number(uint32_t correlation_id, uint32_t call_number) {
    work_.restore_number(correlation_id, call_number);
  }
  void remove_rings();

 private:
  struct Readers;                         // process_records.cpp
  static constexpr size_t kPiece = 8192;  // maximum records of a ring that a cycle reads

  struct Lane {
    Lane(ring::Consumer consumer, uint32_t lane_number)
        : ring(std::move(consumer)), number(lane_number) {}
    std::optional<ring::OpenCall::View> open_call() const { return ring.header().open_call.read(); }
    ring::Consumer ring;
    uint32_t number;
    uint64_t released = 0;  // records before the first pending one
    ring::Consumer::Pending pending;
    size_t identity_at = 0;     // pending records whose identity changes were applied
    size_t at = 0;              // pending records that were read
    uint64_t first_read = 0;    // records that look_first() found, released ones included
    size_t visible = 0;         // pending records that this cycle may read
    size_t identity_limit = 0;  // of this cycle
    size_t next_call = 0;       // there is no call from `at` up to here
    uint32_t identity_tid = 0;  // thread at identity_at
    uint32_t tid = 0;           // thread at `at`
    trace::Id thread = trace::kNoId;
    uint64_t dropped = 0;
    uint64_t last_begin = 0;  // of the newest call read
    uint64_t last_end = 0;    // of the same call; for a poll that of its last query
    uint64_t poll = 0;        // entry of the newest poll that may count more queries
    std::chrono::steady_clock::time_point poll_seen{};  // first
    uint64_t open_since = 0;  // begin of the open record that `open_row` represents
    trace::Id open_row = trace::kNoId;
    uint64_t submission_end = 0;  // the last that was reported
    uint32_t store_asked = 0;     // the latest request of its thread (RingHeader)
    uint64_t store_until = 0;     // records that must be stored for the requests of all lanes
  };
  struct StuckRecord {
    Lane* lane;
    ring::CallRecord call;
  };
  struct Shown {  // a call for which an earlier writer added a row before it ended
    trace::Ns start_ns;
    uint32_t tid;
    trace::Id row;
  };
  struct IdentityItem {
    uint64_t when;
    Lane* lane;
    size_t index;
    uint32_t tid;
  };

  /// Calls that had not ended when their rows were added.
  template <class Row>
  void restore_shown(EarlierRows& rows);
  void watch_open_calls(uint64_t now, bool ended, uint64_t* cut, uint64_t* watermark,
                        uint64_t* horizon);
  void count_drops(uint64_t now);
  size_t identity_limit(const Lane& lane, uint64_t cut) const;
  bool is_identity(const ring::Record& record) const;
  size_t work_limit(const Lane& lane, uint64_t cut) const;
  void look_for_store_requests();
  uint64_t end_of_piece(const Lane& lane) const;
  /// Begin of the event record that spans this cycle's cut, if any.
  uint64_t record_behind(const Lane& lane) const;
  /// Begin of the first call that is in a ring but not read.
  uint64_t earliest_unread(Lane& lane) const;
  CallPlace place(Lane& lane, size_t index, uint32_t tid);
  /// Takes the pending records; polls that may count more queries only with `seal` or after a
  /// while.
  static void look(Lane& lane, bool seal);
  void take_identity(Lane& lane, size_t index, uint32_t tid);
  void read_lane(Lane& lane);
  void note_unseen_records(const ring::Record& record);
  void read_identities(const std::vector<Lane*>& lanes);
  void open_stuck_records();
  /// Finds the call of an earlier writer's open row, which is still open or not read yet.
  void adopt_shown(Lane& lane);
  void show(Lane& lane, ring::CallRecord call, size_t index, uint32_t tid);
  /// Reads the record at `index` and returns the number of records it took; 0 if the rest of it has
  /// not arrived yet.
  size_t read(Lane& lane, size_t index, size_t limit);
  /// Passes the chunks of a text or stack to take(), which returns whether each is the next one,
  /// and then calls whole().
  template <class Record, class Take, class Whole>
  size_t read_chunks(Lane& lane, size_t index, size_t limit, size_t chunks, Take take, Whole whole);
  size_t read_text(Lane& lane, size_t index, size_t limit);
  size_t read_stack(Lane& lane, size_t index, size_t limit);
  void read_call(Lane& lane, size_t index);
  void read_op(Lane& lane, size_t index);
  void read_thread(Lane& lane, size_t index);
  void describe(const ring::ProcessRecord& record);
  void describe(const ring::LossRecord& record);
  void note_unseen_thread(const ring::LossRecord& record);
  void describe(const ring::SyncWitnessRecord& record);
  void describe(const ring::OverheadRecord& record);
  void describe(const ring::CollectingRecord& record);
  void describe(const ring::EndRecord& record);
  void describe(const ring::AnswerRecord& record) { take_answer(record); }
  /// The loss for a process without an end record.
  std::string_view end_loss() const;
  void fill_process_texts(bool at_end);
  void fill_rank(std::string_view environment);
  /// Adds the cost of call stacks reported by the rings to the run's.
  void count_stacks();
  void see(Lane& lane, const ring::CallRecord& call);
  void see(uint64_t stamp, uint8_t flags);
  /// True if the record of the call in the open slot was read already.
  static bool is_over(const Lane& lane, const ring::CallRecord& open) {
    return open.begin == lane.last_begin || open.begin < lane.last_end;
  }
  void invalid() { run_.losses.add(id_, "record-invalid", 1); }

  RunState& run_;
  ProcessIdentity identity_;
  trace::Process row_;
  trace::Id id_;
  Objects objects_;
  Operations operations_;
  Stacks stacks_;
  DeviceWork work_;
  Correlations correlations_;
  Annotations annotations_;
  Graphs graphs_;
  Questions questions_;
  CallRows calls_;
  Accesses accesses_;
  TensorBlocks tensor_blocks_;
  CoordWaits coord_waits_;
  CostWindows cost_windows_;
  Tasks tasks_;
  HostSamples host_samples_;

  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<StuckRecord> stuck_;       // of one cycle
  std::vector<IdentityItem> items_;      // of one cycle
  ring::ProcessRecord texts_to_come_{};  // whose texts have not all arrived
  bool texts_complete_ = true;
  std::vector<Shown> shown_;
  uint64_t moved_ = 0;  // records read that show progress
  uint64_t watermark_ = 0;
  uint64_t horizon_ = 0;       // no call that is not read yet began earlier
  uint64_t last_seen_ = 0;     // newest stamp of any call, or time when it was last alive; ticks
  uint64_t last_virtual_ = 0;  // the same, virtual
  trace::Ns paused_since_ns_ = 0;
  uint64_t off_since_ = 0;  // stamp as in CallSpan
  bool paused_ = false;
  bool said_goodbye_ = false;
  bool finished_ = false;
  bool replaced_ = false;
  bool handed_over_ = false;
  std::string_view reported_end_;  // the loss that finish() added
};

}  // namespace streamscope::record
