// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The table of detectors. Rows without a function are planned.
#include "families.h"

namespace streamscope::analysis {
namespace {

using enum FindingSeverity;
constexpr unsigned kCalls = kCallEvidence, kEvents = kEventEvidence, kTimes = kTimeEvidence,
                   kArguments = kArgumentEvidence, kAllocations = kAllocationEvidence,
                   kGraphs = kGraphEvidence, kHangs = kHangEvidence;

// clang-format off
constexpr Detector kDetectors[] = {
    {"stream-race", "SS001", "two ops touch the same memory on different streams in no order", kError, kCalls | kEvents | kArguments, find_stream_races},
    {"host-race", "SS002", "host code touches memory that a device op still uses", kError, kCalls | kEvents | kArguments, find_host_races},
    {"use-before-alloc", "SS003", "an op uses stream-ordered memory before its allocation", kError, kCalls | kEvents | kArguments | kAllocations, find_uses_before_alloc},
    {"use-after-free", "SS004", "an op uses memory that is freed in no order with it", kError, kCalls | kEvents | kArguments | kAllocations, find_uses_after_free},
    {"wait-on-unrecorded", "SS005", "a wait for an event that nobody has recorded does nothing", kError, kCalls | kEvents, find_waits_on_unrecorded},
    {"record-overwritten", "SS006", "an event is recorded again before anybody waited for the last record", kError, kCalls | kEvents, find_overwritten_records},
    {"wait-before-record", "SS007", "a wait takes the record before the one it was meant for", kError, kCalls | kEvents | kArguments},
    {"racy-binding", "SS008", "threads record and wait for one event at the same time", kError, kCalls, find_racy_bindings},
    {"destroyed-in-use", "SS009", "a stream or an event is used after it was destroyed", kError, kCalls | kEvents, find_uses_after_destruction},
    {"capture-hazard", "SS010", "a call breaks or escapes the capture of a graph", kError, kCalls | kGraphs},
    {"deadlock-cycle", "SS101", "streams and threads wait for each other", kError, kCalls | kHangs, find_deadlock_cycles},
    {"lost-signal", "SS102", "a memory wait that no write can satisfy", kError, kCalls | kHangs, find_lost_signals},
    {"stuck-kernel", "SS103", "everything waits for one kernel that does not end", kError, kCalls | kHangs, find_stuck_kernels},
    {"host-func-hazard", "SS104", "a host function calls CUDA or does not return", kError, kCalls, find_host_function_hazards},
    {"sync-holding-lock", "SS105", "a thread synchronizes while it holds a lock that others need", kError, kCalls, find_syncs_holding_locks},
    {"collective-order", "SS106", "ranks issue collectives in different orders", kError, kCalls, find_collective_orders},
    {"implicit-sync-under-spin", "SS107", "a call that waits for the device is made while work waits for the host", kError, kCalls, find_implicit_syncs_under_spin},
    {"queue-full-block", "SS108", "a launch blocks on a full queue that its own thread would have to release", kError, kCalls, find_queue_full_blocks},
    {"endless-poll", "SS109", "a loop asks for something that cannot become true", kError, kCalls, find_endless_polls},
    {"redundant-wait", "SS201", "a stream waits for what was ordered before it anyway", kWarning, kCalls | kEvents, find_redundant_waits},
    {"redundant-host-sync", "SS202", "the host waits for what it already knew to be done", kWarning, kCalls | kEvents, find_redundant_host_syncs},
    {"over-broad-sync", "SS203", "the host waits where an event and a stream wait would do", kWarning, kCalls | kEvents | kTimes, find_over_broad_syncs},
    {"relies-on-undocumented-sync", "SS204", "only an undocumented synchronization orders two ops", kWarning, kCalls | kEvents | kArguments},
    {"legacy-stream-barrier", "SS205", "work on the legacy default stream holds up other streams", kWarning, kCalls | kTimes, find_legacy_stream_barriers},
    {"pageable-async", "SS206", "an asynchronous copy from or to pageable memory", kWarning, kTimes, find_pageable_async_copies},
    {"false-serialization", "SS207", "ops that nothing orders never run at the same time", kWarning, kCalls | kEvents | kTimes, find_false_serialization},
    {"graph-over-serialized", "SS208", "a graph has edges that nothing needs", kWarning, kGraphs | kArguments},
    {"poll-storm", "SS209", "far more queries and synchronizations than work", kWarning, kCalls, find_poll_storms},
    {"churn-and-leak", "SS210", "streams or events are made in a loop, or never destroyed", kWarning, kCalls, find_churn_and_leaks},
    {"orphan-record", "SS211", "an event is recorded and nobody looks at it", kNote, kCalls | kEvents, find_orphan_records},
    {"priority-inversion", "SS212", "urgent work waits for work of low priority", kWarning, kCalls | kEvents | kTimes, find_priority_inversions},
    {"bad-timing", "SS213", "a time is measured over unrelated work", kNote, kCalls | kEvents},
    {"pdl-weak-order", "SS214", "data passes over an edge that does not wait for completion", kNote, kCalls | kGraphs},
    {"timed-event-cost", "SS215", "events with timing slow down work on many streams", kWarning, kCalls | kTimes, find_costly_timed_events},
    {"connections-exhausted", "SS216", "more streams are blocked than there are hardware queues", kWarning, kCalls | kTimes, find_exhausted_connections},
};
// clang-format on

}  // namespace

std::span<const Detector> detectors() { return kDetectors; }

}  // namespace streamscope::analysis
