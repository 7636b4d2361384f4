// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The names of the values of an enumeration. Each enumeration that traces store has one list of
// them beside it, from which come the description of the trace format, the texts in its views, the
// limits of its columns, and the names in reports and the viewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace streamscope {

struct Term {
  int32_t number;
  std::string_view name;     ///< in views of a trace, JSON and reports
  std::string_view meaning;  ///< for people, where the name does not say it

  template <class Enum>
  constexpr Term(Enum value, std::string_view its_name, std::string_view its_meaning = {})
      : number(static_cast<int32_t>(value)), name(its_name), meaning(its_meaning) {}
};
/// In the order of their numbers, which have no gaps.
using Terms = std::span<const Term>;

/// "unknown" for a number that is not in the list.
template <class Value>
constexpr std::string_view name_of(Terms terms, Value number) {
  const int64_t index = int64_t{static_cast<int32_t>(number)} - terms.front().number;
  return index >= 0 && index < static_cast<int64_t>(terms.size())
             ? terms[static_cast<size_t>(index)].name
             : std::string_view("unknown");
}
constexpr std::optional<int32_t> number_named(Terms terms, std::string_view name) {
  for (const Term& term : terms) {
    if (term.name == name) return term.number;
  }
  return std::nullopt;
}

}  // namespace streamscope
