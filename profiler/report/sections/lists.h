// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the sections of a report have in common: their columns, and lists that are cut.
#pragma once

#include <fmt/format.h>

#include <ranges>
#include <string>

#include "analysis/labels.h"
#include "analysis/units.h"
#include "document.h"
#include "trace/read/reader.h"

namespace streamscope::report {

inline constexpr size_t kRowsShown = 10;  ///< of lists by cost: the rest is rarely worth reading
inline constexpr size_t kStreamsShown = 32;

inline Column left(const char* name) { return {name, false}; }
inline Column right(const char* name) { return {name, true}; }

/// The first rows of a list by cost; a footnote counts the others.
template <class List>
auto first_of(const List& list, size_t most, const char* others, Section& section) {
  if (list.size() > most) {
    section.footnotes.push_back(
        fmt::format("{} {} not shown", analysis::format_count(list.size() - most), others));
  }
  return list | std::views::take(most);
}

inline std::string quoted_or(const trace::Trace& trace, trace::Id text, const char* otherwise) {
  const std::string name = analysis::printable(trace.text(text));
  return name.empty() ? otherwise : name;
}

}  // namespace streamscope::report
