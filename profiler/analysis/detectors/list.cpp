// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The table of detectors.
#include "families.h"

namespace streamscope::analysis {
namespace {

using enum FindingSeverity;
constexpr unsigned kCalls = kCallEvidence, kEvents = kEventEvidence, kTimes = kTimeEvidence,
                   kArguments = kArgumentEvidence, kAllocations = kAllocationEvidence,
                   kHangs = kHangEvidence;

// clang-format off
constexpr Detector kDetectors[] = {
    {"stream-race", "SS001", "unordered ops on different streams access the same memory", kError, kCalls | kEvents | kArguments, find_stream_races},
    {"host-race", "SS002", "host code accesses memory that a device op still uses", kError, kCalls | kEvents | kArguments, find_host_races},
    {"use-before-alloc", "SS003", "an op uses stream-ordered memory before its allocation", kError, kCalls | kEvents | kArguments | kAllocations, find_uses_before_alloc},
    {"use-after-free", "SS004", "an op uses memory that may already be freed", kError, kCalls | kEvents | kArguments | kAllocations, find_uses_after_free},
    {"wait-on-unrecorded", "SS005", "a wait for an event that has not been recorded does nothing", kError, kCalls | kEvents, find_waits_on_unrecorded},
    {"record-overwritten", "SS006", "an event is recorded again before any wait for the previous record", kError, kCalls | kEvents, find_overwritten_records},
    {"racy-binding", "SS008", "threads record and wait for the same event at the same time", kError, kCalls, find_racy_bindings},
    {"destroyed-in-use", "SS009", "a stream or an event is used after it was destroyed", kError, kCalls | kEvents, find_uses_after_destruction},
    {"deadlock-cycle", "SS101", "streams and threads wait for each other", kError, kCalls | kHangs, find_deadlock_cycles},
    {"lost-signal", "SS102", "a memory wait that no write can satisfy", kError, kCalls | kHangs, find_lost_signals},
    {"stuck-kernel", "SS103", "everything waits for one kernel that does not end", kError, kCalls | kHangs, find_stuck_kernels},
    {"host-func-hazard", "SS104", "a host function calls CUDA or does not return", kError, kCalls, find_host_function_hazards},
    {"sync-holding-lock", "SS105", "a thread synchronizes while it holds a lock that others need", kError, kCalls, find_syncs_holding_locks},
    {"collective-order", "SS106", "ranks issue collectives in different orders", kError, kCalls, find_collective_orders},
    {"implicit-sync-under-spin", "SS107", "a call that waits for the device is made while work waits for the host", kError, kCalls, find_implicit_syncs_under_spin},
    {"queue-full-block", "SS108", "a launch blocks on a full queue that its own thread would have to release", kError, kCalls, find_queue_full_blocks},
    {"endless-poll", "SS109", "a loop polls for work that can never finish", kError, kCalls, find_endless_polls},
    {"redundant-wait", "SS201", "a stream waits for work that is already ordered before it", kWarning, kCalls | kEvents, find_redundant_waits},
    {"redundant-host-sync", "SS202", "the host waits for work that it already knows to be done", kWarning, kCalls | kEvents, find_redundant_host_syncs},
    {"over-broad-sync", "SS203", "the host waits although an event and a stream wait would be enough", kWarning, kCalls | kEvents | kTimes, find_over_broad_syncs},
    {"legacy-stream-barrier", "SS205", "work on the legacy default stream blocks other streams", kWarning, kCalls | kTimes, find_legacy_stream_barriers},
    {"pageable-copy", "SS206", "a copy from or to pageable memory, which the driver stages", kWarning, kTimes, find_pageable_copies},
    {"false-serialization", "SS207", "unordered ops never run at the same time", kWarning, kCalls | kEvents | kTimes, find_false_serialization},
    {"poll-storm", "SS209", "far more queries and synchronizations than work", kWarning, kCalls, find_poll_storms},
    {"churn-and-leak", "SS210", "streams or events are created in a loop, or never destroyed", kWarning, kCalls, find_churn_and_leaks},
    {"orphan-record", "SS211", "an event is recorded but never used", kNote, kCalls | kEvents, find_orphan_records},
    {"priority-inversion", "SS212", "high-priority work waits for low-priority work", kWarning, kCalls | kEvents | kTimes, find_priority_inversions},
    {"timed-event-cost", "SS215", "events with timing slow down work on many streams", kWarning, kCalls | kTimes, find_costly_timed_events},
    {"connections-exhausted", "SS216", "more streams are blocked than there are hardware queues", kWarning, kCalls | kTimes, find_exhausted_connections},
    {"host-bound-launching", "SS301", "the device waits for a host that launches the work of an iteration piece by piece", kWarning, kCalls | kTimes, find_host_bound_launching, 0.9},
    {"sync-in-iteration", "SS302", "synchronizations in each iteration keep the host from running ahead", kWarning, kCalls | kTimes, find_syncs_in_iterations},
    {"allocation-in-iteration", "SS303", "memory is allocated or freed in each iteration", kWarning, kCalls | kTimes, find_allocations_in_iterations},
    {"code-loading-in-iteration", "SS304", "code is loaded in the steady part of a run", kWarning, kCalls | kTimes, find_code_loading_in_iterations},
    {"host-work-in-iteration", "SS305", "the device waits for long host work between two CUDA calls of each iteration", kWarning, kCalls | kTimes, find_host_work_in_iterations},
    {"copy-not-overlapped", "SS306", "copies in each iteration run alone although kernels could run beside them", kWarning, kCalls | kEvents | kTimes, find_copies_not_overlapped},
    {"input-starved", "SS307", "the device waits for the next batch of each iteration", kWarning, kCalls | kTimes, find_input_starved},
    {"tiny-kernels", "SS308", "starting many short kernels takes a large part of each iteration", kWarning, kCalls | kTimes, find_tiny_kernels, 0.9},
    {"imbalance-between-streams", "SS309", "streams that share the work of each iteration wait for one that has more of it", kWarning, kCalls | kEvents | kTimes, find_imbalance_between_streams, 0.8},
    {"independent-branches", "SS310", "work of one stream runs one after the other although it does not depend on each other", kWarning, kCalls | kEvents | kTimes | kArguments, find_independent_branches, 0.8},
};
// clang-format on

}  // namespace

std::span<const Detector> detectors() { return kDetectors; }

}  // namespace streamscope::analysis
