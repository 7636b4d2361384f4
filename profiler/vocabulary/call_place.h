// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A name for a call that holds in every run of a program that makes the same calls.
#pragma once

#include <cstdint>

#include "vocabulary/call_kind.h"

namespace streamscope {

constexpr bool allocates_memory(CallKind kind) {
  return kind == CallKind::kMalloc || kind == CallKind::kMallocAsync;
}
/// True for the kinds of calls that a CallPlace can name.
constexpr bool has_place(CallKind kind) {
  return is_launch(kind) || kind == CallKind::kMemcpyAsync || kind == CallKind::kMemset ||
         kind == CallKind::kMemsetAsync || allocates_memory(kind);
}

struct CallPlace {
  CallKind kind;    ///< has_place()
  uint32_t thread;  ///< numbered in the order in which threads make their first call with a place
  uint64_t number;  ///< of the calls of this kind in the thread; of allocations those that succeed

  bool operator==(const CallPlace&) const = default;
};

}  // namespace streamscope
