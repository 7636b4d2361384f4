// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "assembly.h"
#include "vocabulary/call_row.h"
#include "vocabulary/copy_kind.h"
#include "vocabulary/memory_kind.h"

#include <algorithm>
#include <limits>

namespace streamscope::import {
namespace {

constexpr Ns kClockError = 5'000;

// A number of the file for a 32-bit column; NULL if it does not fit or means "none" there.
Small narrow(Int number) {
  return number == kNoInt || number <= std::numeric_limits<Small>::min() ||
                 number > std::numeric_limits<Small>::max()
             ? kNoSmall
             : static_cast<Small>(number);
}

template <class Map, class Key, class Rows, class Row>
Id find_or_add(Map& ids, const Key& key, Rows& rows, const Row& row) {
  const auto [known, is_new] = ids.try_emplace(key, static_cast<Id>(rows.size()));
  if (is_new) rows.push_back(row);
  return known->second;
}

}  // namespace

Id Assembly::process(Int os_pid) {
  return find_or_add(process_ids_, os_pid, processes_,
                     trace::Process{.os_pid = narrow(os_pid), .clock = 0, .complete = 1});
}

Id Assembly::thread(Id process, Int os_tid) {
  return find_or_add(thread_ids_, std::pair(process, os_tid), threads_,
                     trace::Thread{.process_id = process, .os_tid = narrow(os_tid)});
}

Id Assembly::device(Int key) {
  return find_or_add(device_ids_, key, devices_, trace::Device{.simulated = 0});
}

Id Assembly::find_device(Int key) const {
  const auto known = device_ids_.find(key);
  return known == device_ids_.end() ? kNoId : known->second;
}

Id Assembly::context(Id process, Int native, Id device) {
  return find_or_add(
      context_ids_, std::tuple(process, native, device), contexts_,
      trace::Context{.process_id = process, .device_id = device, .native_id = narrow(native)});
}

Id Assembly::stream(Id context, Int native) {
  return find_or_add(stream_ids_, std::pair(context, native), streams_,
                     trace::Stream{.context_id = context,
                                   .native_id = narrow(native),
                                   .generation = 0,
                                   .kind = trace::kUnknownStream});
}

Id Assembly::event(Id process, Id context, Int native) {
  const auto [known, is_new] =
      events_.try_emplace({process, context, native}, static_cast<Id>(events_.size()));
  if (is_new) {
    writer_.append(trace::Event{
        .process_id = process, .context_id = context, .handle = native, .generation = 0});
  }
  return known->second;
}

Id Assembly::name_call(std::string_view text) {
  const std::string_view name = without_version(text);
  const Id id = intern(name);
  if (id >= call_kinds_.size()) call_kinds_.resize(id + 1, CallKind::kOther);
  call_kinds_[id] = call_kind(name);
  return id;
}

Id Assembly::launch_shape(const trace::LaunchShape& shape) {
  const Shape key = {shape.grid_x,
                     shape.grid_y,
                     shape.grid_z,
                     shape.block_x,
                     shape.block_y,
                     shape.block_z,
                     shape.registers,
                     shape.static_shared_bytes,
                     shape.dynamic_shared_bytes};
  if (last_shape_id_ != kNoId && key == last_shape_) return last_shape_id_;
  const auto [known, is_new] = shapes_.try_emplace(key, static_cast<Id>(shapes_.size()));
  if (is_new) writer_.append(shape);
  last_shape_ = key;
  last_shape_id_ = known->second;
  return last_shape_id_;
}

void Assembly::reserve(size_t calls, size_t ops, size_t ranges) {
  calls_.reserve(calls_.size() + calls);
  ops_.reserve(ops_.size() + ops);
  ranges_.reserve(ranges_.size() + ranges);
}

void Assembly::add_graph_launch(Id process, Int correlation, Int graph, Int executable) {
  graph_launches_[{process, correlation}] = executable;
  const auto row = [&](Int native, Small is_executable, Id source) {
    const auto [known, is_new] =
        graphs_.try_emplace(std::tuple(process, native), static_cast<Id>(graphs_.size()));
    if (is_new) {
      writer_.append(trace::Graph{.process_id = process,
                                  .native_id = narrow(native),
                                  .executable = is_executable,
                                  .source_graph_id = source,
                                  .handle = native});
    }
    return known->second;
  };
  row(executable, 1, graph == kNoInt ? kNoId : row(graph, 0, kNoId));
}

Id Assembly::process_of_stream(Id stream) const {
  if (stream >= streams_.size()) return kNoId;
  const Id context = streams_[stream].context_id;
  return context < contexts_.size() ? contexts_[context].process_id : kNoId;
}

// What a device synchronization waits for if the file does not say.
Id Assembly::sole_context(Id process) const {
  Id found = kNoId;
  for (Id context = 0; context < contexts_.size(); ++context) {
    // Page migrations have a context of their own, without a number.
    if (contexts_[context].process_id != process || contexts_[context].native_id == 0) continue;
    if (found != kNoId) return kNoId;
    found = context;
  }
  return found;
}

void Assembly::shift_times() {
  if (start_ns_ == 0) return;
  const auto shift = [&](auto& rows) {
    for (auto& row : rows) {
      row.start_ns -= start_ns_;
      if constexpr (requires { row.end_ns; }) {
        if (row.end_ns != kUnknownNs) row.end_ns -= start_ns_;
      }
    }
  };
  shift(calls_);
  shift(ops_);
  shift(ranges_);
  shift(marks_);
  shift(overheads_);
  shift(functions_);
  for (trace::HostSample& sample : samples_) sample.at_ns -= start_ns_;
  for (CollectiveOf& each : collectives_) {
    if (each.process != kNoId) continue;  // has no times yet
    each.call.start_ns -= start_ns_;
    if (each.call.end_ns != kUnknownNs) each.call.end_ns -= start_ns_;
  }
}

// Numbers of a process are usually dense; then a table is used, else a sorted list.
void Assembly::index_calls() {
  if (indexed_) return;
  indexed_ = true;
  sort_stably(calls_, {}, &Call::start_ns);
  index_.resize(processes_.size());
  for (const Call& call : calls_) {
    const Id process = process_of(call);
    if (process >= index_.size() || call.correlation == kNoInt) continue;
    Index& index = index_[process];
    index.first = std::min(index.first, call.correlation);
    index.last = std::max(index.last, call.correlation);
    ++index.count;
  }
  for (Index& index : index_) {
    if (index.count == 0) continue;
    const auto width = static_cast<uint64_t>(index.last) - static_cast<uint64_t>(index.first);
    if (width < 16 * index.count + 1024) index.dense.assign(width + 1, kNoId);
  }
  for (Id id = 0; id < calls_.size(); ++id) {
    const Id process = process_of(calls_[id]);
    if (process >= index_.size() || calls_[id].correlation == kNoInt) continue;
    Index& index = index_[process];
    if (index.dense.empty()) {
      index.sorted.emplace_back(calls_[id].correlation, id);
    } else if (Id& slot = index.dense[static_cast<size_t>(calls_[id].correlation - index.first)];
               slot == kNoId) {
      slot = id;  // the first of several calls with the same number is the outermost
    }
  }
  for (Index& index : index_) std::ranges::sort(index.sorted);
}

Id Assembly::find_call(Id process, Int correlation) const {
  if (process >= index_.size() || correlation == kNoInt) return kNoId;
  const Index& index = index_[process];
  if (!index.dense.empty()) {
    const auto at = static_cast<uint64_t>(correlation) - static_cast<uint64_t>(index.first);
    return at < index.dense.size() ? index.dense[at] : kNoId;
  }
  const auto found = std::ranges::lower_bound(index.sorted, std::pair(correlation, Id{0}));
  return found != index.sorted.end() && found->first == correlation ? found->second : kNoId;
}

Id Assembly::process_of_call(Int correlation) {
  index_calls();
  Id found = kNoId;
  for (Id process = 0; process < index_.size(); ++process) {
    if (find_call(process, correlation) == kNoId) continue;
    if (found != kNoId) return kNoId;
    found = process;
  }
  return found;
}

Id Assembly::busiest_process() const {
  std::vector<size_t> counts(processes_.size());
  for (const Call& call : calls_) {
    if (const Id process = process_of(call); process < counts.size()) ++counts[process];
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  return most == counts.end() || *most == 0 ? kNoId : static_cast<Id>(most - counts.begin());
}

// Work and the calls that issued it; until append_ops(), api_call_id is the index of the call.
// CUDA documents that the call of an asynchronous copy to pageable memory returns only once the
// copy has completed.
bool Assembly::waits_for_copy(const Call& call, const trace::Op& op) const {
  return op.kind == trace::kMemcpy && op.detail == CopyKind::kDeviceToHost &&
         op.memory_kinds != kNoSmall && destination_of(op.memory_kinds) == MemoryKind::kPageable &&
         kind_of(call) == CallKind::kMemcpyAsync && op.end_ns - call.end_ns <= kClockError;
}

void Assembly::join_work() {
  sort_stably(ops_, {}, &trace::Op::start_ns);
  call_stream_.assign(calls_.size(), kNoId);
  std::map<Id, uint64_t> lost;
  for (trace::Op& op : ops_) {
    const Id process = process_of_stream(op.stream_id);
    const Id call = find_call(process, op.correlation_id);
    op.api_call_id = call;
    op.call_number = op.correlation_id;
    if (call != kNoId) {
      call_stream_[call] = op.stream_id;
      if (waits_for_copy(calls_[call], op)) waiting_copies_.insert(call);
    } else if (op.kind != trace::kMemcpy || !is_migration(op.detail)) {
      ++lost[process];
    }
  }
  for (const auto& [process, count] : lost) losses_.add("import-op-without-call", count, process);
}

// The stack of each call that has none: the functions that were open on its thread.
void Assembly::join_functions() {
  if (functions_.empty()) return;
  sort_stably(functions_, [](const Function& a, const Function& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
  });
  struct Open {
    Ns end_ns;
    Id stack;
  };
  std::vector<std::vector<Open>> open(threads_.size());  // the innermost last
  const auto close_before = [](std::vector<Open>& stack, Ns at) {
    while (!stack.empty() && stack.back().end_ns <= at) stack.pop_back();
  };
  auto next = functions_.begin();
  for (Call& call : calls_) {
    for (; next != functions_.end() && next->start_ns <= call.start_ns; ++next) {
      if (next->thread >= open.size()) continue;
      std::vector<Open>& stack = open[next->thread];
      close_before(stack, next->start_ns);
      const Id outer = stack.empty() ? kNoId : stack.back().stack;
      stack.push_back({next->end_ns, next->complete
                                         ? next->stack
                                         : stacks_.push(outer, stacks_.innermost(next->stack))});
    }
    if (call.thread >= open.size() || call.stack != kNoId) continue;
    close_before(open[call.thread], call.start_ns);
    if (!open[call.thread].empty()) call.stack = open[call.thread].back().stack;
  }
}

// For each call, the act that the file contains for it; acts of missing calls are lost.
std::vector<Id> Assembly::join_acts(std::vector<Act>& acts) {
  std::vector<Id> act_of(acts.empty() ? 0 : calls_.size(), kNoId);
  for (Id id = 0; id < acts.size(); ++id) {
    const Id call = find_call(acts[id].process, acts[id].correlation);
    if (call == kNoId) {
      losses_.add("import-sync-without-call", 1, acts[id].process);
    } else {
      act_of[call] = id;
    }
  }
  return act_of;
}

// A stream synchronization whose stream the file does not say waited for the only stream of its
// process that had work left, if it lasted until that was done: for an idle stream it does not
// wait.
void Assembly::find_awaited_streams() {
  std::vector<Id> waits;
  for (Id id = 0; id < calls_.size(); ++id) {
    const Id act = call_look_.empty() ? kNoId : call_look_[id];
    if (kind_of(calls_[id]) == CallKind::kStreamSynchronize &&
        (act == kNoId || looks_[act].stream == kNoId) && process_of(calls_[id]) < processes_.size())
      waits.push_back(id);
  }
  if (waits.empty()) return;
  struct Process {
    bool lacks_calls = false;  // so that it is not known what was issued when
    std::map<Id, Ns> ends;     // by stream, of what was issued until now
  };
  std::vector<Process> processes(processes_.size());
  std::vector<const trace::Op*> issued;
  for (const trace::Op& op : ops_) {
    const Id process = process_of_stream(op.stream_id);
    if (process >= processes.size()) continue;
    if (op.api_call_id != kNoId)
      issued.push_back(&op);
    else
      processes[process].lacks_calls = true;
  }
  const auto issue_ns = [&](const trace::Op* op) { return calls_[op->api_call_id].start_ns; };
  sort_stably(issued, {}, issue_ns);
  auto next = issued.begin();
  for (const Id id : waits) {
    const Call& call = calls_[id];
    for (; next != issued.end() && issue_ns(*next) <= call.start_ns; ++next) {
      const Id stream = (*next)->stream_id;
      Ns& end = processes[process_of_stream(stream)].ends[stream];
      end = std::max(end, (*next)->end_ns);
    }
    const Process& process = processes[process_of(call)];
    size_t busy = 0;
    Id awaited = kNoId;
    for (const auto& [stream, end] : process.ends) {
      if (end <= call.start_ns) continue;
      ++busy;
      if (call.end_ns >= end - kClockError) awaited = stream;
    }
    if (busy == 1 && !process.lacks_calls) call_stream_[id] = awaited;
  }
}

// A file with waits only describes their records just there.
void Assembly::name_records() {
  if (call_look_.empty()) return;
  const size_t looks = looks_.size();
  for (size_t i = 0; i < looks; ++i) {
    const Act& look = looks_[i];
    const Id call = find_call(look.process, look.record_correlation);
    if (call == kNoId || row_of(kind_of(calls_[call])) != CallRow::kEventRecord) continue;
    if (call_record_.empty()) call_record_.assign(calls_.size(), kNoId);
    if (call_record_[call] != kNoId) continue;
    call_record_[call] = static_cast<Id>(records_.size());
    const Id context = look.record_stream < streams_.size()
                           ? streams_[look.record_stream].context_id
                           : look.context;
    records_.push_back({.process = look.process,
                        .correlation = look.record_correlation,
                        .context = context,
                        .stream = look.record_stream,
                        .event = look.event});
  }
}

}  // namespace streamscope::import
