// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finds a call of one run in another run of the same program.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "trace/read/reader.h"
#include "vocabulary/call_place.h"

namespace streamscope::analysis {

/// The calls of one process by their place.
class PlacedCalls {
 public:
  PlacedCalls(const trace::Trace& trace, trace::Id process);

  /// Nothing if such a call has no place, or is one of another process.
  std::optional<CallPlace> place_of(trace::Id api_call) const;
  /// The row of api_call; kNoId if the program made no such call.
  trace::Id find(const CallPlace& place) const;

 private:
  struct Key {
    uint32_t thread;
    CallKind kind;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::vector<trace::Id>> calls_;  // by their number
};

}  // namespace streamscope::analysis
