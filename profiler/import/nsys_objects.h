// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Processes, threads, devices, contexts and streams of an export of Nsight Systems, by the numbers
// that its rows use for them. nsys.cpp reads what happened on them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "assembly.h"
#include "trace/sqlite/foreign_tables.h"

namespace streamscope::import {

/// 36 years; a larger number is not a time.
inline constexpr Int kLatestTimeNs = Int{1} << 60;
/// For 32-bit columns; 4294967295 means "not applicable" there.
inline Int or_none(Int number) { return number == 0xffffffff ? kNoInt : number; }
/// A value of a row for a 32-bit column.
inline Small small(const trace::ForeignRow& row, int column) {
  const Int number = row.integer(column, kNoInt);
  return number == kNoInt ? kNoSmall : static_cast<Small>(number);
}

/// Thread-compatible.
class NsysObjects {
 public:
  /// `origin` is stored as the collector of every process.
  NsysObjects(trace::ForeignTables& tables, Assembly& assembly, std::string origin)
      : tables_(tables), assembly_(assembly), origin_(std::move(origin)) {}

  /// Reads the objects themselves. Called after the calls, before other rows: the processes of
  /// calls come first.
  void read();
  /// Called last: adds the properties of objects that had activity.
  void finish(const std::unordered_map<Int, std::string>& strings);

  /// From globalPid, or globalTid without the thread: hardware, virtual machine and process id.
  Id process(Int global);
  /// For a row, which may lack its globalPid.
  Id process_of_row(const trace::ForeignRow& row, int global_pid);
  Id thread(Int global);
  /// kNoId for a thread that no row has named so far.
  Id find_thread(Int global) const;
  /// A context number is unique in its process; rows of page migrations have none. `ordinal` is the
  /// device, kNoInt if it is not known.
  Id context(Id process, Int native, Int ordinal);
  Id stream(Id process, Int native_context, Int ordinal, Int native);
  /// The device of a context, for a context without work.
  void suggest_device(Id context, Int ordinal) { device_of_idle_.emplace(context, ordinal); }

 private:
  Id process_by_pid(Int pid);
  /// Of a row that begins with processId and contextId.
  Id context_of_row(const trace::ForeignRow& row, Int ordinal) {
    return context(process_by_pid(row.integer(0)), row.integer(1), ordinal);
  }
  Id device(Id process, Int ordinal);
  void add_null_stream(Id in, Int native);
  void read_devices();
  void read_contexts();
  void read_streams();

  trace::ForeignTables& tables_;
  Assembly& assembly_;
  std::string origin_;
  std::unordered_map<Int, Id> processes_;  // by globalPid >> 24
  std::unordered_map<Int, Id> threads_;    // by globalTid
  Int last_thread_key_ = kNoInt;
  Id last_thread_ = kNoId;
  std::map<std::tuple<Id, Int, Int>, Id> contexts_;
  std::map<Id, Int> device_of_idle_;
  std::set<std::pair<Id, Int>> null_streams_;
  std::map<std::pair<Int, Int>, Int> gpu_of_;  // (pid, device number there) -> gpu
  std::map<Int, Int> gpu_by_ordinal_;
  std::map<Int, trace::Device> gpus_;
};

}  // namespace streamscope::import
