// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A call stack as a sampler sees it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace streamscope::record {

struct SampledFrame {
  std::string text;      ///< of a Python frame: "file:line function"
  std::string module;    ///< of a native frame: path; "" if unknown
  uint64_t address = 0;  ///< of a native frame: in its module's own file

  bool is_python() const { return !text.empty(); }
};

/// Immutable.
struct SampledStack {
  uint64_t hash = 0;
  std::vector<SampledFrame> frames;  ///< innermost first
};

}  // namespace streamscope::record
