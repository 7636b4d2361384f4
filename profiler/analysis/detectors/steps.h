// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Helpers for several detectors: neighbors of a call on its stream, descriptions of an op or a
// path, who may record an event, what the host may read, and whether a gain is worth reporting.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "../detector.h"

namespace streamscope::analysis {

/// The first op issued to a stream after an instant, the last one before it.
Id next_op_on(Analyses& analyses, Id stream, Ns after);
Id last_op_before(Analyses& analyses, Id stream, Ns before);

/// The steps of a path in words, joined by "then".
std::string describe(const Trace& trace, const std::vector<Hop>& path);

/// Sets the gain of every finding by replaying its change.
void set_gains(Analyses& analyses, Findings& findings,
               const std::map<Findings::Key, Change>& repairs);

/// True for events that other processes can also record and wait for; the trace shows only what
/// this process did with them.
bool is_shared_between_processes(const Trace& trace, Id event);

/// ", unless the host reads managed memory that this work writes" if the program has memory that
/// the host reads without a copy, else "". For advice not to wait for work.
std::string unless_host_reads(const Trace& trace);

/// How often each process read the time between two events.
std::vector<size_t> elapsed_times_read(const Trace& trace);

/// A gain below either limit is lost in the noise of the next run.
inline constexpr Ns kLeastGainNs = 5'000;
inline constexpr int64_t kLeastGainShare = 200;  // 1/200 of the run
bool is_worth_a_line(Analyses& analyses, Ns gain_ns);

}  // namespace streamscope::analysis
