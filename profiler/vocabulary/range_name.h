// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Names of NVTX ranges that a program numbers, one for each iteration: "step 7/24", "iter[7]", and
// "ProfilerStep#7" of the PyTorch profiler.
#pragma once

#include <string_view>

namespace streamscope {

/// What is left of a name without numbers at its end and what joins them: "iteration 7" and
/// "iter[7]" are "iteration" and "iter". All of it if it has none or is only that.
constexpr std::string_view without_last_numbers(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789 \t_-:=#/.,([{)]}");
  if (last == name.npos || name.find_first_of("0123456789", last + 1) == name.npos) return name;
  return name.substr(0, last + 1);
}

/// True if a range with this name is meant by `wanted`: it has this name, or a numbered one.
constexpr bool is_named(std::string_view name, std::string_view wanted) {
  return name == wanted || without_last_numbers(name) == wanted;
}

}  // namespace streamscope
