// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Declares the functions behind the rows of list.cpp. They are defined in the files of this folder,
// one file per family.
#pragma once

#include "../detector.h"

namespace streamscope::analysis {

void find_overwritten_records(Analyses& analyses, Findings& findings);
void find_racy_bindings(Analyses& analyses, Findings& findings);
void find_uses_after_destruction(Analyses& analyses, Findings& findings);
void find_deadlock_cycles(Analyses& analyses, Findings& findings);
void find_lost_signals(Analyses& analyses, Findings& findings);
void find_stuck_kernels(Analyses& analyses, Findings& findings);
void find_host_function_hazards(Analyses& analyses, Findings& findings);
void find_implicit_syncs_under_spin(Analyses& analyses, Findings& findings);
void find_syncs_holding_locks(Analyses& analyses, Findings& findings);
void find_collective_orders(Analyses& analyses, Findings& findings);
void find_queue_full_blocks(Analyses& analyses, Findings& findings);
void find_endless_polls(Analyses& analyses, Findings& findings);
void find_redundant_waits(Analyses& analyses, Findings& findings);
void find_waits_on_unrecorded(Analyses& analyses, Findings& findings);
void find_redundant_host_syncs(Analyses& analyses, Findings& findings);
void find_over_broad_syncs(Analyses& analyses, Findings& findings);
void find_legacy_stream_barriers(Analyses& analyses, Findings& findings);
void find_pageable_copies(Analyses& analyses, Findings& findings);
void find_false_serialization(Analyses& analyses, Findings& findings);
void find_poll_storms(Analyses& analyses, Findings& findings);
void find_churn_and_leaks(Analyses& analyses, Findings& findings);
void find_orphan_records(Analyses& analyses, Findings& findings);
void find_priority_inversions(Analyses& analyses, Findings& findings);
void find_costly_timed_events(Analyses& analyses, Findings& findings);
void find_exhausted_connections(Analyses& analyses, Findings& findings);
void find_host_bound_launching(Analyses& analyses, Findings& findings);
void find_syncs_in_iterations(Analyses& analyses, Findings& findings);
void find_allocations_in_iterations(Analyses& analyses, Findings& findings);
void find_code_loading_in_iterations(Analyses& analyses, Findings& findings);
void find_host_work_in_iterations(Analyses& analyses, Findings& findings);
void find_copies_not_overlapped(Analyses& analyses, Findings& findings);
void find_input_starved(Analyses& analyses, Findings& findings);
void find_tiny_kernels(Analyses& analyses, Findings& findings);
void find_imbalance_between_streams(Analyses& analyses, Findings& findings);
void find_independent_branches(Analyses& analyses, Findings& findings);
void find_stream_races(Analyses& analyses, Findings& findings);
void find_host_races(Analyses& analyses, Findings& findings);
void find_uses_before_alloc(Analyses& analyses, Findings& findings);
void find_uses_after_free(Analyses& analyses, Findings& findings);

}  // namespace streamscope::analysis
