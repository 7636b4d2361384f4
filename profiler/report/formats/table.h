// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Tables of text in aligned columns, for terminals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/sections/document.h"

namespace streamscope::report {

/// The columns of a text on a terminal: its code points, correct except for combining and
/// double-width ones.
size_t display_width(std::string_view text);
/// The text cut to `width` columns, ending in "…" if it was cut.
std::string shortened(std::string_view text, size_t width);

struct TableLine {
  std::string text;
  bool head = false;
};

/// Lines of a table. No line is wider than `width` (0: no limit): text columns shrink first; a
/// table that is still too wide continues below, with its first column repeated.
std::vector<TableLine> lay_out(const std::vector<Column>& columns,
                               const std::vector<std::vector<std::string>>& rows, size_t width);

/// The text in lines of at most `width` columns (0: one line), broken at spaces.
std::vector<std::string> wrapped(std::string_view text, size_t width);

}  // namespace streamscope::report
