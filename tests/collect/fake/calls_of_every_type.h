// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Calls of functions of any type with harmless arguments, and stand-ins that check them.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace fake {

inline void check(bool holds, const char* what, const char* name) {
  if (holds) return;
  std::printf("%s: %s\n", name, what);
  std::exit(1);
}

/// A handle, a place for one, or nothing that anyone could follow.
template <class T>
T argument() {
  static uint64_t place = 0;
  if constexpr (std::is_same_v<T, CUstream> || std::is_same_v<T, CUevent> ||
                std::is_same_v<T, CUgraphExec> || std::is_same_v<T, CUfunction>) {
    return reinterpret_cast<T>(uintptr_t{0xf001});
  } else if constexpr (std::is_same_v<T, CUevent*> || std::is_same_v<T, CUstream*> ||
                       std::is_same_v<T, CUdeviceptr*> || std::is_same_v<T, CUgraphExec*>) {
    return reinterpret_cast<T>(&place);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(3);
  } else {
    return T{};
  }
}

/// The first bytes of an argument.
template <class T>
uint64_t word(const T& argument) {
  uint64_t bits = 0;
  std::memcpy(&bits, &argument, sizeof argument < 8 ? sizeof argument : 8);
  return bits;
}

template <class... Args>
uint64_t sum_of(const Args&... args) {
  uint64_t sum = 0;
  ((sum = sum * 31 + word(args)), ...);
  return sum;
}

/// What a library of stand-ins was called with.
struct Witness {
  uint64_t (*calls)();
  uint64_t (*arguments)();  // sum_of() those of the latest call
  void (*set_result)(int32_t result);
};

/// One call: it reaches the library once, unchanged, and its result comes back.
template <class Result, class... Args>
void call(const Witness& witness, const char* name, Result (*function)(Args...), int32_t result) {
  check(function != nullptr, "not found", name);
  const uint64_t before = witness.calls();
  witness.set_result(result);
  check(function(argument<Args>()...) == static_cast<Result>(result), "another result", name);
  check(witness.calls() == before + 1, "not called once", name);
  check(witness.arguments() == sum_of(argument<Args>()...), "other arguments", name);
}

}  // namespace fake
