// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// cuda.h then declares every version of every function, under its exported name.
#define __CUDA_API_VERSION_INTERNAL
#include "collect/interposed/wrappers.h"

#include <cuda.h>
#include <cudaProfiler.h>
#include <cupti_driver_cbid.h>

#include <atomic>
#include <mutex>
#include <new>
#include <type_traits>

#include "collect/calls/call_rules.h"
#include "collect/interposed/interposed.h"
#include "collect/interposed/interposed_calls.h"
#include "collect/interposed/parameters.h"
#include "collect/process/driver.h"
#include "collect/process/session.h"

// Known to CUPTI, but neither declared nor exported by the driver.
extern "C" decltype(cuMemHostAlloc) cuMemHostAlloc_v2;

namespace streamscope::collect {
namespace {

enum Index : size_t {
#define CALL_ID_RUNTIME(cbid, name, version, per_thread)
#define CALL_ID_DRIVER(cbid, name, per_thread) kIndex_##cbid,
#include "call_ids.inc"
#undef CALL_ID_DRIVER
  kFunctions
};

constinit std::atomic<void*> targets[kFunctions] = {};
constinit std::atomic<bool> targets_found{false};
constinit std::mutex finding_targets;

// The kernel that a launch gets.
template <class First, class... Rest>
void* kernel_among(First first, Rest... rest) {
  if constexpr (std::is_same_v<First, CUfunction>) {
    return first;
  } else if constexpr (sizeof...(rest) > 0) {
    return kernel_among(rest...);
  } else {
    return nullptr;
  }
}

template <size_t kIndex, CUpti_driver_api_trace_cbid kId, class Function>
struct Wrapper;
template <size_t kIndex, CUpti_driver_api_trace_cbid kId, class... Args>
struct Wrapper<kIndex, kId, CUresult(Args...)> {
  using Function = CUresult(CUDAAPI*)(Args...);

  // Small, and with the arguments where they are: what a call costs while recording is off.
  static CUresult CUDAAPI call(Args... args) {
    if (may_pass(rules::DriverCall<kId>::kFacts) && passes_calls()) {
      const auto target =
          reinterpret_cast<Function>(targets[kIndex].load(std::memory_order_acquire));
      if (__builtin_expect(target != nullptr, 1)) return target(args...);
    }
    return record(args...);
  }

  [[gnu::noinline]] static CUresult CUDAAPI record(Args... args) {
    auto target = reinterpret_cast<Function>(targets[kIndex].load(std::memory_order_acquire));
    if (__builtin_expect(target == nullptr, 0)) {
      find_targets();
      target = reinterpret_cast<Function>(wrapped_target(kIndex));
      if (target == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
    }
    if (!session.interposing.load(std::memory_order_relaxed)) return target(args...);
    using Call = rules::DriverCall<kId>;
    void* kernel = nullptr;
    if constexpr (sizeof...(Args) > 0) kernel = kernel_among(args...);
    Parameters<Args...> parameters;
    const void* at_exit = needs_parameters(Call::kFacts) ? parameters.set(args...) : nullptr;
    InterposedCall call(driver_calls[kId], Call::kFacts, at_exit, values_of<Call>(args...), kernel,
                        kernel);
    if (!call.enter<Call::kFacts.kind, Call::kFacts.flags>(__builtin_dwarf_cfa()))
      return target(args...);
    const CUresult result = target(args...);
    call.leave<Call::kFacts.kind, Call::kFacts.flags>(result);
    return result;
  }
};

}  // namespace

constinit const size_t wrapped_count = kFunctions;

bool find_targets() {
  if (targets_found.load(std::memory_order_acquire)) return true;
  if (!find_cuda()) return false;
  std::lock_guard lock(finding_targets);
  for (size_t i = 0; i < kFunctions; ++i) {
    void* none = nullptr;  // a tool's function stays
    targets[i].compare_exchange_strong(none, driver_function(streamscope_wrapped[i].name));
  }
  targets_found.store(true, std::memory_order_release);
  return true;
}

void replace_target(size_t index, void* function) {
  targets[index].store(function, std::memory_order_release);
}

void* wrapped_target(size_t index) { return targets[index].load(std::memory_order_acquire); }

void forget_wrappers_after_fork() { new (&finding_targets) std::mutex; }

}  // namespace streamscope::collect

STREAMSCOPE_CONSTINIT const StreamscopeWrapped streamscope_wrapped[] = {
#define CALL_ID_DRIVER(cbid, name, per_thread)                             \
  {#cbid,                                                                  \
   reinterpret_cast<void*>(                                                \
       &streamscope::collect::Wrapper<streamscope::collect::kIndex_##cbid, \
                                      CUPTI_DRIVER_TRACE_CBID_##cbid, decltype(::name)>::call)},
#include "call_ids.inc"
#undef CALL_ID_DRIVER
#undef CALL_ID_RUNTIME
};
