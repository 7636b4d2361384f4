// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Whether the program is recorded at this moment: the writer's setting, the capture range, and the
// windows in which recording is off to measure its cost.
#pragma once

#include <cstdint>
#include <string_view>

namespace streamscope::collect {

/// Opens the gate of a new session if writer and capture range allow it, and returns that.
bool open_gate();

/// A range or profiler call that delimits the recording was entered or left.
void capture_range_opened();
void capture_range_closed();

/// For the thread that watches the writer: sleeps until recording may have to be switched, or a
/// change is announced after `seen` changes, and what it does then. Only update_gate() begins and
/// ends windows. `soon`: something else has to be done in a few ms.
void sleep_until_switch(uint32_t seen, bool soon);
void update_gate();

/// The process is ending: the windows end, and device times are neither paused nor resumed any
/// more, as CUPTI crashes if they are while CUDA ends. Waits for a switch in progress, 1 s at most.
void end_windows();

/// True if ends of NVTX ranges of this name are counted as the program's progress. Windows then end
/// with one, too.
bool shows_progress(std::string_view range);
/// Such a range ended. Async-signal-safe.
void note_range_end();

/// Operations issued while paused have correlation ids in one of these intervals; the decoder drops
/// their activities.
void note_paused_correlation(uint32_t correlation_id);
bool was_paused(uint32_t correlation_id);

void forget_gate_after_fork();

}  // namespace streamscope::collect
