// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// CUDA handles, addresses and numbers as the 64 bits stored in the ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace streamscope::collect {

template <class T>
uint64_t bits(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<uintptr_t>(value);
  } else if constexpr (std::is_same_v<T, std::nullptr_t>) {
    return 0;
  } else {
    return static_cast<uint64_t>(value);
  }
}

}  // namespace streamscope::collect
