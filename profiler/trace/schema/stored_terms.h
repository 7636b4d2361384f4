// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which list of the vocabulary names the values of a column of a trace: for the description of the
// format, the texts of its views and the limits of its columns.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "vocabulary/access_source.h"
#include "vocabulary/annotation.h"
#include "vocabulary/call_kind.h"
#include "vocabulary/copy_kind.h"
#include "vocabulary/event_binding.h"
#include "vocabulary/finding.h"
#include "vocabulary/graph_node_kind.h"
#include "vocabulary/hang.h"
#include "vocabulary/host_sync_kind.h"
#include "vocabulary/iteration_source.h"
#include "vocabulary/kernel_signals.h"
#include "vocabulary/memory_kind.h"
#include "vocabulary/op_kind.h"
#include "vocabulary/operation.h"
#include "vocabulary/order.h"
#include "vocabulary/pool_kind.h"
#include "vocabulary/process_clock.h"
#include "vocabulary/severity.h"
#include "vocabulary/stream_kind.h"
#include "vocabulary/term.h"
#include "vocabulary/tier.h"
#include "vocabulary/timeline_act.h"
#include "vocabulary/wait_cause.h"

namespace streamscope::trace {

struct StoredTerms {
  std::string_view table;
  std::string_view column;
  Terms terms;
  enum Form {
    kNumber,       // one of them
    kOtherNumber,  // the same, but numbers that are not listed may occur: they are not ours
    kSum,          // the sum of some
    kName,         // the name of one; of `meta`, the column is the key
  } form = kNumber;
};

inline constexpr StoredTerms kStoredTerms[] = {
    {"loss", "severity", kSeverities},
    {"process", "clock", kProcessClocks},
    {"stream", "kind", kStreamKinds},
    {"api_call", "kind", kCallKinds},
    {"event_wait", "binding", kBindings},
    {"host_sync", "kind", kHostSyncKinds},
    {"host_sync", "binding", kBindings},
    {"sync_witness", "act", kSyncActs},
    {"op", "kind", kOpKinds},
    {"op", "detail", kCopyKinds, StoredTerms::kOtherNumber},
    {"op", "memory_kinds", kMemoryKinds, StoredTerms::kOtherNumber},
    {"graph_node", "kind", kGraphNodeKinds, StoredTerms::kOtherNumber},
    {"operation", "type", kOperationTypes},
    {"operation", "priority", kOperationPriorities},
    {"operation", "state", kOperationStates},
    {"operation_dependency", "elided_because", kElisions},
    {"pool", "kind", kPoolKinds},
    {"timeline_point", "act", kTimelineActs},
    {"allocation", "kind", kAllocationKinds},
    {"access", "source", kAccessSources},
    {"access", "writes", kAccessKinds},
    {"range", "kind", kRangeKinds},
    {"stack_frame", "kind", kFrameKinds},
    {"hang_node", "kind", kHangNodeKinds},
    {"hang_edge", "kind", kHangEdgeKinds},
    {"probe", "kind", kProbeKinds},
    {"edge", "kind", kEdgeKinds},
    {"wait_cause", "cause", kWaitCauses},
    {"critical_path", "kind", kPathStepKinds},
    {"finding", "severity", kFindingSeverities},
    {"finding", "confidence", kConfidences},
    {"iteration", "source", kIterationSources},
    {"event_record", "flags", kRecordFlags, StoredTerms::kSum},
    {"access", "signals", kKernelSignals, StoredTerms::kSum},
    {"meta", "tier", kTiers, StoredTerms::kName},
    {"meta", "verdicts", kOutcomes, StoredTerms::kName},
    {"v_api_call", "kind", kHostSyncCalls, StoredTerms::kName},
    {"v_edge", "kind", kEdgeKinds, StoredTerms::kName},
    {"v_critical_path", "kind", kPathStepKinds, StoredTerms::kName},
};

/// Nothing for a column without a list. By value, as GCC 12 compares no pointer to a constant in a
/// constant expression if it checks for undefined behavior.
constexpr std::optional<StoredTerms> stored_terms(std::string_view table, std::string_view column) {
  for (const StoredTerms& each : kStoredTerms) {
    if (each.table == table && each.column == column) return each;
  }
  return std::nullopt;
}

}  // namespace streamscope::trace
