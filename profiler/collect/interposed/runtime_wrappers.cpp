// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Wrappers around the traced functions of the CUDA runtime, for programs that use it as a shared
// library: so their calls have the names that were written. What the runtime then calls in the
// driver is inside and not recorded.
//
// A process may have several runtimes, so the function behind a wrapper depends on who calls.
// Pointers that a program looks up have wrappers of their own, as any library may call them.
#include "collect/interposed/runtime_wrappers.h"

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <cupti_runtime_cbid.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "collect/calls/call_rules.h"
#include "collect/interposed/interposed.h"
#include "collect/interposed/interposed_calls.h"
#include "collect/interposed/parameters.h"
#include "collect/interposed/plain_call.h"
#include "collect/process/next_function.h"
#include "collect/process/session.h"

// Not in the runtime's headers: the code that nvcc 13 emits for <<<>>> calls it, and a function
// that older runtimes had.
extern "C" {
cudaError_t __cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared_bytes, cudaStream_t stream);
cudaError_t cudaThreadSynchronize();
}

namespace streamscope::collect {
namespace {

// What a call from one place reaches. Written rarely, read at each call, so without a lock: a
// reader that sees another call's entry, or half of one, looks it up itself.
struct alignas(16) Reached {
  std::atomic<uint64_t> key{0};  // place and function; 0: being changed
  std::atomic<void*> target{nullptr};
};
constexpr size_t kReachedSlots = 1 << 13;
constinit Reached reached[kReachedSlots] = {};

[[gnu::noinline]] void* find_target(Reached& slot, uint64_t key, const char* name, void* caller) {
  void* target = next_function(name, caller);
  if (target == nullptr) return nullptr;
  slot.key.store(0, std::memory_order_release);
  slot.target.store(target, std::memory_order_release);
  slot.key.store(key, std::memory_order_release);
  return target;
}

void* target_of(size_t index, const char* name, void* caller) {
  const uint64_t key = reinterpret_cast<uintptr_t>(caller) << 9 | index;
  Reached& slot = reached[(key * 0x9e3779b97f4a7c15ull) >> 51];
  if (__builtin_expect(slot.key.load(std::memory_order_acquire) == key, 1)) {
    void* target = slot.target.load(std::memory_order_acquire);
    if (slot.key.load(std::memory_order_relaxed) == key) return target;
  }
  return find_target(slot, key, name, caller);
}
static_assert(kReachedSlots == uint64_t{1} << (64 - 51));

// The address that stands for the kernel of a launch.
template <class First, class... Rest>
const void* kernel_of(First first, Rest... rest) {
  if constexpr (std::is_same_v<First, const void*>) {
    return first;
  } else if constexpr (sizeof...(rest) > 0) {
    return kernel_of(rest...);
  } else {
    return nullptr;
  }
}

enum RuntimeIndex : size_t {
#define WRAPPED_RUNTIME(exported, name, cbid) kRuntimeIndex_##exported,
#include "wrapped_runtime.inc"
#undef WRAPPED_RUNTIME
  kRuntimeFunctions
};
static_assert(kRuntimeFunctions < 512);

// What <<<>>> is compiled to has the parameters of cudaLaunchKernel, and is called so by CUPTI too.
constexpr CUpti_runtime_api_trace_cbid known_as(CUpti_runtime_api_trace_cbid id) {
  switch (id) {
    case CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000:
      return CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
    case CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000:
      return CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000;
    default:
      return id;
  }
}

// What a program found by looking a function up; the first one stays.
constinit std::atomic<void*> found_targets[kRuntimeFunctions] = {};

template <size_t kIndex, CUpti_runtime_api_trace_cbid kId, bool kFound, class Function>
struct RuntimeWrapper;
template <size_t kIndex, CUpti_runtime_api_trace_cbid kId, bool kFound, class... Args>
struct RuntimeWrapper<kIndex, kId, kFound, cudaError_t(Args...)> {
  [[gnu::aligned(64)]] static cudaError_t CUDARTAPI call(Args... args) {
    auto target = reinterpret_cast<Function>(
        kFound ? found_targets[kIndex].load(std::memory_order_acquire)
               : target_of(kIndex, streamscope_wrapped_runtime[kIndex].name,
                           __builtin_return_address(0)));
    if (target == nullptr) return cudaErrorInitializationError;
    const void* kernel = nullptr;
    if constexpr (sizeof...(Args) > 0) {
      if (Call::kFacts.kind == CallKind::kLaunch) kernel = kernel_of(args...);
    }
    if constexpr (may_be_plain(Call::kFacts)) {
      WrapperFrame frame;
      ThreadState* const thread = enter_plainly<Call::kFacts>(frame, runtime_calls[known_as(kId)],
                                                              values_of<Call>(args...), kernel);
      if (__builtin_expect(thread != nullptr, 1)) {
        const cudaError_t result = target(args...);
        leave_plainly<Call::kFacts>(frame, *thread, runtime_calls[known_as(kId)], result);
        return result;
      }
    }
    return record_any(__builtin_dwarf_cfa(), target, kernel, args...);
  }

 private:
  using Function = cudaError_t(CUDARTAPI*)(Args...);
  using Call = rules::RuntimeCall<known_as(kId)>;

  // Apart, so that plain calls have no more code than they need. `top`: where the frame of the
  // wrapper begins.
  [[gnu::noinline]] static cudaError_t record_any(const void* top, Function target,
                                                  const void* kernel, Args... args) {
    if (!session.interposing.load(std::memory_order_relaxed)) return target(args...);
    if (may_pass(Call::kFacts) && passes_calls()) return target(args...);
    Parameters<Args...> parameters;
    const void* at_exit = needs_parameters(Call::kFacts) ? parameters.set(args...) : nullptr;
    InterposedCall call(runtime_calls[known_as(kId)], Call::kFacts, at_exit,
                        values_of<Call>(args...), kernel, nullptr);
    if (!call.enter(top)) return target(args...);
    const cudaError_t result = target(args...);
    call.leave(result);
    return result;
  }
};

}  // namespace
}  // namespace streamscope::collect

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // programs may call them
#define STREAMSCOPE_RUNTIME_WRAPPER(exported, name, cbid, found)                             \
  {#exported,                                                                                \
   reinterpret_cast<void*>(                                                                  \
       &streamscope::collect::RuntimeWrapper<streamscope::collect::kRuntimeIndex_##exported, \
                                             CUPTI_RUNTIME_TRACE_CBID_##cbid, found,         \
                                             decltype(::name)>::call)},
STREAMSCOPE_CONSTINIT const StreamscopeWrapped streamscope_wrapped_runtime[] = {
#define WRAPPED_RUNTIME(exported, name, cbid) \
  STREAMSCOPE_RUNTIME_WRAPPER(exported, name, cbid, false)
#include "wrapped_runtime.inc"
#undef WRAPPED_RUNTIME
};

namespace streamscope::collect {
namespace {

STREAMSCOPE_CONSTINIT const StreamscopeWrapped found_wrappers[] = {
#define WRAPPED_RUNTIME(exported, name, cbid) \
  STREAMSCOPE_RUNTIME_WRAPPER(exported, name, cbid, true)
#include "wrapped_runtime.inc"
#undef WRAPPED_RUNTIME
};

}  // namespace

void* runtime_pointer(const char* name, void* function) {
  for (size_t i = 0; i < kRuntimeFunctions; ++i) {
    if (std::strcmp(found_wrappers[i].name, name) != 0) continue;
    void* first = nullptr;
    const bool is_first = found_targets[i].compare_exchange_strong(first, function);
    return is_first || first == function ? found_wrappers[i].wrapper : function;
  }
  return function;
}

}  // namespace streamscope::collect
