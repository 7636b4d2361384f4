// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Tables of text in aligned columns, for terminals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/sections/document.h"

namespace streamscope::report {

/// Columns a text takes on a terminal: code points, which is right for all but combining and
/// double-width ones.
size_t display_width(std::string_view text);
/// The text cut to `width` columns, with "…" at its end if something is missing.
std::string shortened(std::string_view text, size_t width);

/// Lines of a table. Columns whose cells are all empty are left out. No line is wider than `width`
/// (0: no limit): text columns give way first; a table that is still too wide continues below, with
/// its first column repeated.
struct Table {
  struct Line {
    std::string text;
    bool head = false;
  };
  std::vector<Line> lines;
};

Table lay_out(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
              size_t width);

/// The text in lines of at most `width` columns (0: one line), broken at spaces.
std::vector<std::string> wrapped(std::string_view text, size_t width);

}  // namespace streamscope::report
