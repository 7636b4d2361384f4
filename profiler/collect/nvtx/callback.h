// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What NVTX calls in our library.
#pragma once

#include <optional>

#include "collect/nvtx/other_tool.h"

namespace streamscope::collect {

/// What NVTX calls: a handler, and the other tool's function, whose result the program gets.
template <NvtxCallbackModule kModule, unsigned kId, auto kHandler>
struct Callback;
template <NvtxCallbackModule kModule, unsigned kId, class... Args, void (*kHandler)(Args...)>
struct Callback<kModule, kId, kHandler> {
  static void NVTX_API call(Args... args) {
    kHandler(args...);
    if (auto* other = other_function<void NVTX_API(Args...)>(kModule, kId)) other(args...);
  }
};
template <NvtxCallbackModule kModule, unsigned kId, class... Args, int (*kHandler)(Args...)>
struct Callback<kModule, kId, kHandler> {
  static int NVTX_API call(Args... args) {
    const int own = kHandler(args...);
    auto* other = other_function<int NVTX_API(Args...)>(kModule, kId);
    return other != nullptr ? other(args...) : own;
  }
};
template <NvtxCallbackModule kModule, unsigned kId, class Result, class... Args,
          Result (*kHandler)(std::optional<Result>, Args...)>
struct Callback<kModule, kId, kHandler> {
  static Result NVTX_API call(Args... args) {
    auto* other = other_function<Result NVTX_API(Args...)>(kModule, kId);
    return kHandler(other != nullptr ? std::optional<Result>(other(args...)) : std::nullopt,
                    args...);
  }
};

struct Handler {
  unsigned id;
  NvtxFunctionPointer function;
};

template <NvtxCallbackModule kModule, unsigned kId, auto kHandler>
Handler handler() {
  return {kId, reinterpret_cast<NvtxFunctionPointer>(&Callback<kModule, kId, kHandler>::call)};
}

}  // namespace streamscope::collect
