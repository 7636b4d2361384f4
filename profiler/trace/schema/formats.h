// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which release introduced each version of the trace format.
//
// docs/trace-format.md shows the list. The tables of a released format never change again:
// tests/trace compares them with tests/golden/trace/format-N.sql, which target update-golden then
// no longer writes (docs/releasing.md).
#pragma once

#include <array>
#include <string_view>

#include "trace/model.h"

namespace streamscope::trace {

struct Format {
  int number;
  std::string_view first_release;  ///< version of StreamScope; empty until its release is made
};

inline constexpr auto kFormats = std::to_array<Format>({
    {1, ""},
});

static_assert(kFormats.back().number == kFormatVersion, "a new format needs a row");

}  // namespace streamscope::trace
