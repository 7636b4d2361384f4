// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which records show that a program makes progress, for the detection of hangs.
#pragma once

#include "ring/calls.h"
#include "ring/record.h"

namespace streamscope::record {

/// Calls, except queries of unfinished work; device work; ranges and libcoord's reports. Not what
/// the collector itself reports, such as its answers about a hang.
inline bool is_progress(const ring::Record& record) {
  using ring::RecordKind;
  const RecordKind kind = record.head.kind;
  if (kind == RecordKind::kCall)
    return reinterpret_cast<const ring::CallRecord&>(record).result != ring::kNotReady;
  return (kind >= RecordKind::kRangePush && kind <= RecordKind::kDeviceWork) ||
         (kind >= RecordKind::kOperation && kind <= RecordKind::kTask);
}

}  // namespace streamscope::record
