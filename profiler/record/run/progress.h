// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which records say that a program goes on, for whoever watches for one that stands still.
#pragma once

#include "ring/calls.h"
#include "ring/record.h"

namespace streamscope::record {

/// Calls, but for queries of work that is not ready; device work; ranges and what libcoord tells.
/// Not what the collector says by itself, as when it is asked about a hang.
inline bool is_progress(const ring::Record& record) {
  using ring::RecordKind;
  const RecordKind kind = record.head.kind;
  if (kind == RecordKind::kCall)
    return reinterpret_cast<const ring::CallRecord&>(record).result != ring::kNotReady;
  return (kind >= RecordKind::kRangePush && kind <= RecordKind::kDeviceWork) ||
         (kind >= RecordKind::kOperation && kind <= RecordKind::kTask);
}

}  // namespace streamscope::record
