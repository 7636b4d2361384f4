// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Converts raw handles and device-side numbers of contexts, streams and events of one process to
// rows of the trace.
#pragma once

#include <cstdint>
#include <vector>

#include "event_binding.h"
#include "identity.h"
#include "record/drain/flat_map.h"
#include "record/drain/run_state.h"
#include "record/recovery/earlier_rows.h"
#include "ring/record.h"
#include "trace/model.h"

namespace streamscope::record {

/// Rows are created when any record first names an object. Thread-compatible.
class Objects {
 public:
  Objects(RunState& run, trace::Id process) : run_(run), process_(process) {}

  trace::Id thread(uint32_t tid) { return known_thread(tid).id; }
  /// The same with the name that the system has for it.
  trace::Id thread(uint32_t tid, const std::string& name);
  void describe(const ring::ThreadRecord& record);
  void describe(const ring::DeviceRecord& record);
  void describe(const ring::ContextRecord& record);
  void describe(const ring::StreamRecord& record);
  void describe(const ring::NameRecord& record);

  /// Row of a context; kNoId for kNone32.
  trace::Id context(uint32_t native) {
    return native == kNone ? trace::kNoId : known_context(native).id;
  }

  /// The stream to which a call of thread `tid` on `handle` refers that began at `begin` in
  /// `context`.
  trace::Id stream(uint64_t handle, uint8_t flags, uint32_t context, uint32_t tid, uint64_t begin);
  /// The stream with a device-side number, as activities name it.
  trace::Id native_stream(uint32_t context, uint32_t native, bool of_graph_node);
  /// An activity of a call on `stream` shows which device-side number that stream has.
  void learn_native(trace::Id stream, uint32_t context, uint32_t native);
  trace::Id create_stream(const ring::CallRecord& call);
  trace::Id destroy_stream(const ring::CallRecord& call);

  struct Event : Stored<trace::Event> {
    EventHistory history;
    trace::Small version = 0;  ///< of the newest record
    bool recorded_by_graphs = false;
  };
  /// Index of the event to which a call on `handle` refers that began at `begin`.
  uint32_t event(uint64_t handle, uint32_t context, uint64_t begin) {
    return life_event(event_lives_.use(handle, begin), context);
  }
  Event& operator[](uint32_t event) { return events_[event]; }
  /// The time from which on every record of an event is known, for EventHistory::bind(), if those
  /// that ended up to `lost_until` may be lost.
  uint64_t complete_since(uint32_t event, uint64_t lost_until) const;
  void create_event(const ring::CallRecord& call);
  void destroy_event(const ring::CallRecord& call);

  /// A device was reset: its streams and events are destroyed.
  void reset(const ring::CallRecord& call);

  /// Takes over the rows of an earlier writer.
  void restore(EarlierRows& rows);

 private:
  struct Context : Stored<trace::Context> {
    uint32_t null_stream = ring::kNone32;
  };
  static constexpr uint32_t kNone = ring::kNone32;

  Stored<trace::Thread>& known_thread(uint32_t tid);
  Context& known_context(uint32_t native);
  trace::Id device(uint32_t ordinal);
  uint32_t add_stream(const trace::Stream& row);
  uint32_t life_stream(uint32_t life);
  uint32_t default_stream(bool per_thread, uint32_t context, uint32_t tid);
  void set_native(uint32_t stream, uint32_t context, uint32_t native);
  uint32_t life_event(uint32_t life, uint32_t context);
  void restore_streams(EarlierRows& rows);
  void restore_events(EarlierRows& rows);

  RunState& run_;
  trace::Id process_;
  FlatMap<uint32_t, Stored<trace::Thread>> threads_;  // by tid
  FlatMap<uint32_t, trace::Id> devices_;              // ordinal -> row
  FlatMap<uint32_t, Context> contexts_;               // by native
  HandleLives stream_lives_;
  std::vector<uint32_t> stream_of_life_;         // index into streams_
  FlatMap<uint64_t, uint32_t> default_streams_;  // context and tid -> index into streams_
  FlatMap<uint64_t, uint32_t> native_streams_;   // context and number -> index into streams_
  std::vector<Stored<trace::Stream>> streams_;
  FlatMap<uint32_t, uint32_t> stream_of_row_;  // row -> index into streams_
  HandleLives event_lives_;                    // events_ has the same indexes
  std::vector<Event> events_;
};

}  // namespace streamscope::record
