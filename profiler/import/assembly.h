// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Converts the content of a foreign file to rows of a trace: objects by their native numbers, work
// with the calls that issued it, calls with what the file knows of their streams and events, waits
// with records.
//
// Importers add data in any order and call finish(); times are ns on the timeline of the trace,
// numbers are those of the file. Everything without a counterpart is a counted loss.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "api_calls.h"
#include "call_stacks.h"
#include "losses.h"
#include "pairing.h"
#include "trace/write/writer.h"
#include "vocabulary/rank.h"

namespace streamscope::import {

using trace::kNoSmall;
using trace::kUnknownNs;
using trace::Small;

/// A function of CUDA or HIP that returned.
struct Call {
  Ns start_ns = 0, end_ns = 0;
  Int correlation = kNoInt;  ///< unique in the process
  Id thread = kNoId;
  Id name = kNoId;  ///< of name_call()
  Small result = kNoSmall;
  Id stack = kNoId;  ///< of Assembly::stacks()
};

/// A function of the program that ran on a thread from start to end, or a stack of them: where the
/// calls that the thread made meanwhile are in the program.
struct Function {
  Ns start_ns = 0, end_ns = 0;
  Id thread = kNoId;
  Id stack = kNoId;       ///< of Assembly::stacks()
  bool complete = false;  ///< the stack goes up to the outermost function; else it is one frame
};

/// A range that is a frame in samples of its thread: an operator, an annotation, a built-in
/// function.
struct FrameOfRange {
  Frame frame;
  Small system_call = kNoSmall;  ///< in which it waits; kNoSmall: whether it does is not known
};

/// What a file contains about a call that records, waits for, queries or synchronizes, besides the
/// call.
struct Act {
  Id process = kNoId;
  Int correlation = kNoInt;
  Id context = kNoId;
  Id stream = kNoId;
  Int event = kNoInt;               ///< the tool's number of the event, unique in the context
  Int instance = kNoInt;            ///< number of one record, unique in the process
  Int record_correlation = kNoInt;  ///< the call that made the record waited for
  Id record_stream = kNoId;         ///< and its stream
};

/// Sorts rows that are mostly in order already.
template <class Rows, class Before = std::ranges::less, class Key = std::identity>
void sort_stably(Rows& rows, Before before = {}, Key key = {}) {
  if (!std::ranges::is_sorted(rows, before, key)) std::ranges::stable_sort(rows, before, key);
}

/// Thread-compatible.
class Assembly {
 public:
  explicit Assembly(trace::Writer& writer) : writer_(writer) {}

  trace::Writer& writer() { return writer_; }
  LossLog& losses() { return losses_; }
  CallStacks& stacks() { return stacks_; }

  // Objects are created when first named; later data may complete them.
  Id process(Int os_pid);
  Id thread(Id process, Int os_tid);
  /// A device by a number that the importer assigns.
  Id device(Int key);
  Id find_device(Int key) const;
  Id context(Id process, Int native, Id device);
  Id stream(Id context, Int native);
  trace::Process& process_row(Id id) { return processes_[id]; }
  trace::Thread& thread_row(Id id) { return threads_[id]; }
  trace::Device& device_row(Id id) { return devices_[id]; }
  trace::Context& context_row(Id id) { return contexts_[id]; }
  trace::Stream& stream_row(Id id) { return streams_[id]; }
  /// The only process; kNoId if there are none or several.
  Id only_process() const { return processes_.size() == 1 ? 0 : kNoId; }

  Id intern(std::string_view text) { return writer_.intern(text); }
  /// Name of a function as the file writes it.
  Id name_call(std::string_view text);
  Id launch_shape(const trace::LaunchShape& shape);

  /// Reserves space for this many more; otherwise growing occasionally copies them.
  void reserve(size_t calls, size_t ops, size_t ranges);
  void add(const Call& call) { calls_.push_back(call); }
  /// Of functions that start and end together the inner one comes later.
  void add(const Function& function) { functions_.push_back(function); }
  /// `stack_id` is one of stacks().
  void add(const trace::HostSample& sample) { samples_.push_back(sample); }
  /// Adds samples of what was open on the threads that made calls, at one instant of each period:
  /// functions, and inside of them ranges with one of these names (function_samples.cpp).
  void sample_functions(std::unordered_map<Id, FrameOfRange> by_name) {
    sampled_ranges_ = std::move(by_name);
    samples_functions_ = true;
  }
  void add_record(const Act& act) { records_.push_back(act); }
  /// A stream wait, a query or a synchronization.
  void add_look(const Act& act) { looks_.push_back(act); }
  /// Work on a device; its stream must be known. `api_call_id` and `call_number` are found by the
  /// correlation id.
  void add(const trace::Op& op) { ops_.push_back(op); }
  /// A launch of this graph, by the correlation id of its call.
  void add_graph_launch(Id process, Int correlation, Int graph, Int executable);
  /// `depth` is computed.
  void add(const trace::Range& range) { ranges_.push_back(range); }
  void add(const trace::Mark& mark) { marks_.push_back(mark); }
  void add(const trace::CollectiveCall& call) { collectives_.push_back({call}); }
  /// Of a kernel: thread and times are those of its launch, without which it is left out.
  void add(const trace::CollectiveCall& call, Id process, Int correlation) {
    collectives_.push_back({call, process, correlation});
  }
  void add(const trace::Overhead& overhead) { overheads_.push_back(overhead); }
  /// The rank of a job that the file is about; `source` is stored as process.rank_source_id.
  void set_rank(const RankClaim& rank) { rank_ = rank; }
  const RankClaim& rank() const { return rank_; }
  /// All given times are relative to this time of the file; it becomes 0.
  void set_start(Ns start_ns) { start_ns_ = start_ns; }
  /// The process that made the only call with this correlation id; kNoId if none or several did.
  Id process_of_call(Int correlation);
  /// The process with most calls; kNoId if there are no calls.
  Id busiest_process() const;

  /// Writes everything. meta stores `origin` as imported_from.
  void finish();
  void set_origin(std::string_view origin) { writer_.set_meta("imported_from", origin); }

 private:
  using Shape = std::array<Int, 9>;  // columns of launch_shape
  Id event(Id process, Id context, Int native);
  CallKind kind_of(const Call& call) const { return call_kinds_[call.name]; }
  Id process_of(const Call& call) const {
    return call.thread < threads_.size() ? threads_[call.thread].process_id : kNoId;
  }
  Id process_of_stream(Id stream) const;
  Id sole_context(Id process) const;

  void shift_times();
  void index_calls();
  Id find_call(Id process, Int correlation) const;
  bool waits_for_copy(const Call& call, const trace::Op& op) const;
  void join_work();
  void join_functions();
  void sort_ranges();
  struct SampledThread;
  void take_samples();
  trace::HostSample sample_at(Ns at, Id id, SampledThread& thread);
  std::vector<Id> join_acts(std::vector<Act>& acts);
  void find_awaited_streams();
  void name_records();
  void append_records();
  void append_calls();
  void append_sync(const Call& call, size_t index, CallKind kind, const Pairing& pairing);
  void append_ops();
  void append_annotations();
  void append_collectives();
  void append_samples();
  void append_objects();
  void flush_if_large();

  trace::Writer& writer_;
  LossLog losses_;
  CallStacks stacks_{writer_};

  std::vector<trace::Process> processes_;
  std::vector<trace::Thread> threads_;
  std::vector<trace::Device> devices_;
  std::vector<trace::Context> contexts_;
  std::vector<trace::Stream> streams_;
  std::unordered_map<Int, Id> process_ids_, device_ids_;
  std::map<std::pair<Id, Int>, Id> thread_ids_, stream_ids_;
  std::map<std::tuple<Id, Int, Id>, Id> context_ids_;
  std::map<std::tuple<Id, Id, Int>, Id> events_;  // by process, context and number
  std::map<Shape, Id> shapes_;
  Shape last_shape_{};
  Id last_shape_id_ = kNoId;
  std::vector<CallKind> call_kinds_;  // by name; CallKind::kOther for other texts

  std::vector<Call> calls_;
  std::vector<Function> functions_;
  std::vector<trace::HostSample> samples_;
  bool samples_functions_ = false;
  std::unordered_map<Id, FrameOfRange> sampled_ranges_;  // by name
  std::vector<Act> records_, looks_;
  std::vector<trace::Op> ops_;
  std::vector<trace::Range> ranges_;
  std::vector<trace::Mark> marks_;
  struct CollectiveOf {
    trace::CollectiveCall call;
    Id process = kNoId;
    Int correlation = kNoInt;
  };
  std::vector<CollectiveOf> collectives_;
  std::vector<trace::Overhead> overheads_;
  Ns start_ns_ = 0;
  RankClaim rank_;
  std::map<std::pair<Id, Int>, Int> graph_launches_;  // (process, correlation) -> executable
  std::map<std::tuple<Id, Int>, Id> graphs_;

  // Made by finish(): per call, in order of start.
  struct Index {
    Int first = std::numeric_limits<Int>::max(), last = std::numeric_limits<Int>::min();
    size_t count = 0;
    std::vector<Id> dense;                   // by correlation - first
    std::vector<std::pair<Int, Id>> sorted;  // if the numbers are far apart
  };
  std::vector<Index> index_;  // by process
  bool indexed_ = false;
  std::vector<Id> call_stream_;              // of the work it issued or waited for
  std::unordered_set<Id> waiting_copies_;    // calls that are synchronous, whatever their name
  std::vector<Id> call_record_, call_look_;  // its act; empty if there are none
  std::vector<Id> call_row_;                 // row of api_call
  std::vector<RecordCall> record_calls_;
};

}  // namespace streamscope::import
