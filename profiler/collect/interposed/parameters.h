// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The arguments of a wrapped call as its table entry reads them.
#pragma once

#include <cstddef>
#include <cstring>

#include "collect/calls/call_table.h"

namespace streamscope::collect {

/// Arguments in memory as in CUPTI's parameter structs: members of these types, in this order.
template <class... Args>
class Parameters {
 public:
  /// Returns their address.
  const void* set(Args... args) {
    if constexpr (sizeof...(Args) == 0) bytes_[0] = 0;
    [[maybe_unused]] size_t at = 0;
    (put(at, args), ...);
    return bytes_;
  }

 private:
  // NOLINTBEGIN(bugprone-sizeof-expression): an argument may be a pointer
  template <class A>
  void put(size_t& at, A argument) {
    at = (at + alignof(A) - 1) / alignof(A) * alignof(A);
    std::memcpy(bytes_ + at, &argument, sizeof argument);
    at += sizeof argument;
  }
  alignas(16) unsigned char bytes_[(1 + ... + (sizeof(Args) + alignof(Args)))];
  // NOLINTEND(bugprone-sizeof-expression)
};

/// What the rule of a call (calls/call_rules.h) reads at its entry.
template <class Call, class... Args>
CallValues values_of(Args... args) {
  Parameters<Args...> parameters;
  CallValues values;
  Call::read(parameters.set(args...), false, values);
  return values;
}

}  // namespace streamscope::collect
