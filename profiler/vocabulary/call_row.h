// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// In which table of a trace a traced call is a row.
#pragma once

#include <cstdint>

#include "call_kind.h"

namespace streamscope {

enum class CallRow : uint8_t { kApiCall, kEventRecord, kEventWait, kHostSync };

/// Every call is in exactly one of these tables.
constexpr CallRow row_of(CallKind kind) {
  switch (kind) {
    case CallKind::kEventRecord:
    case CallKind::kContextRecord:
      return CallRow::kEventRecord;
    case CallKind::kStreamWait:
    case CallKind::kContextWait:
      return CallRow::kEventWait;
    case CallKind::kEventQuery:
    case CallKind::kEventSynchronize:
    case CallKind::kStreamQuery:
    case CallKind::kStreamSynchronize:
    case CallKind::kDeviceSynchronize:
    case CallKind::kMemcpy:
      return CallRow::kHostSync;
    default:
      return CallRow::kApiCall;
  }
}

}  // namespace streamscope
