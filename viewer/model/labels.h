// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Texts as they are shown: times, durations, sizes, and names short enough for a bar in the
// timeline.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "timeline/timeline_layout.h"

namespace streamscope::viewer {

// Numbers as in reports (analysis/units.h), with no-break spaces.
std::string format_duration(Ns duration_ns);
std::string format_duration_change(Ns change_ns);
std::string format_count(int64_t count);
std::string format_bytes(int64_t bytes);
std::string format_percent(double share);

/// "1 edge", "2 edges".
std::string format_count(size_t count, std::string_view one, std::string_view many = "");
/// A duration to the nanosecond: "1.234 567 ms".
std::string format_exact(Ns duration_ns);
/// An instant on an axis whose ticks are `step_ns` apart, in the unit that suits `largest_ns`:
/// enough digits to tell neighbors apart, no more.
std::string format_tick(Ns at, Ns step_ns, Ns largest_ns);

/// The text with no-break spaces between numbers and their units: "9.29 ms of 24.5 ms (37 %)".
std::string with_units_kept(std::string_view text);

/// True if `part` is in `text`, ignoring ASCII case.
bool contains_text(std::string_view text, std::string_view part);
/// Cuts `text` to `length` bytes at most, in the middle, with an ellipsis; never inside a UTF-8
/// character.
std::string ellipsize(std::string_view text, size_t length);
/// `text` with lines broken at blanks, so that none is wider than `room` unless it is one word.
/// `width` returns the width of a piece of a line.
std::string break_lines(std::string_view text, float room,
                        const std::function<float(std::string_view)>& width);

}  // namespace streamscope::viewer
