// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The traced calls as both sides of a ring know them: a number, a name and a kind.
//
// calls.def is the only list. `profiler/collect` expands it with the toolkit's headers into
// callback ids and parameter access; here it provides names only, so that the writer needs no CUDA.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "record.h"
#include "vocabulary/call_kind.h"

namespace streamscope::ring {

struct CallInfo {
  std::string_view name;  // as the program wrote it, e.g. "cudaEventRecord"
  CallKind kind;
};

/// Describes a call; `id` must be below call_count(). Thread-safe.
const CallInfo& call_info(CallId id);

/// Number of calls in the table; ids are 0 .. call_count() - 1.
CallId call_count();

/// Id of the call with this name. Linear search; for tests and setup.
std::optional<CallId> find_call(std::string_view name);

/// The kind of a call's record. Nothing for other records, and for calls that are not in the table.
inline std::optional<CallKind> kind_of_call(const Record& record) {
  if (record.head.kind != RecordKind::kCall || record.head.small >= call_count())
    return std::nullopt;
  return call_info(record.head.small).kind;
}

/// True for calls that create, destroy or rebind an event or stream; the writer orders these
/// exactly across threads.
bool changes_identity(CallKind kind);

/// True for calls whose purpose is to make the host wait: their call stack is worth its cost.
constexpr bool blocks_host(CallKind kind) {
  return kind == CallKind::kMemcpy || kind == CallKind::kEventSynchronize ||
         kind == CallKind::kStreamSynchronize || kind == CallKind::kDeviceSynchronize;
}

/// True for calls that query whether work is done and return immediately.
constexpr bool is_query(CallKind kind) {
  return kind == CallKind::kEventQuery || kind == CallKind::kStreamQuery;
}
/// CUDA's result code of a query whose work is not done.
inline constexpr int32_t kNotReady = 600;

/// True for calls that put work into a stream for which a device reports times.
constexpr bool issues_work(CallKind kind) {
  return kind == CallKind::kLaunch || kind == CallKind::kMemcpy || kind == CallKind::kMemcpyAsync ||
         kind == CallKind::kMemset || kind == CallKind::kMemsetAsync ||
         kind == CallKind::kGraphLaunch || kind == CallKind::kEventRecord;
}

}  // namespace streamscope::ring
