// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How records of events and the calls that refer to them are stored.
#pragma once

#include <cstdint>

#include "term.h"

namespace streamscope {

/// Which record a wait or a synchronization refers to. Stored in traces, in event_wait.binding and
/// host_sync.binding: append only.
enum Binding : int32_t {
  kBindingExact = 0,
  kNeverRecorded,
  kCaptured,
  kAmbiguous,
  kUnknownHistory,
};

inline constexpr Term kBindings[] = {
    {kBindingExact, "exact", "record_id is the record"},
    {kNeverRecorded, "never_recorded", "the wait is a no-op"},
    {kCaptured, "captured", "an edge of a graph"},
    {kAmbiguous, "ambiguous", "calls overlapped: see event_wait_candidate"},
    {kUnknownHistory, "unknown_history", "the record is not in the trace"},
};
constexpr std::string_view to_string(Binding binding) { return name_of(kBindings, binding); }

/// A set of them is the sum. Stored in traces, in event_record.flags: append only.
enum RecordFlag : int32_t {
  kCapturedRecord = 1,
  kExternalRecord = 2,
};

inline constexpr Term kRecordFlags[] = {
    {kCapturedRecord, "captured", "into a graph"},
    {kExternalRecord, "external", "cudaEventRecordExternal"},
};

/// What CUPTI's own records of events and synchronizations say. Stored in traces, in
/// sync_witness.act: append only.
enum SyncAct : int32_t {
  kRecordAct = 0,
  kWaitAct,
  kQueryAct,
  kSynchronizeAct,
};

inline constexpr Term kSyncActs[] = {
    {kRecordAct, "record"},
    {kWaitAct, "wait"},
    {kQueryAct, "query"},
    {kSynchronizeAct, "synchronize"},
};

}  // namespace streamscope
