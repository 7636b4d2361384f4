// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How records of events and the calls that refer to them are stored.
#pragma once

#include <cstdint>

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

/// A set of them is the sum. Stored in traces, in event_record.flags: append only.
enum RecordFlag : int32_t {
  kCapturedRecord = 1,
  kExternalRecord = 2,
};

}  // namespace streamscope
