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
#include "collect/interposed/jumps.h"
#include "collect/interposed/parameters.h"
#include "collect/interposed/plain_call.h"
#include "collect/process/driver.h"
#include "collect/process/session.h"

// Known to CUPTI, but neither declared nor exported by the driver.
extern "C" decltype(cuMemHostAlloc) cuMemHostAlloc_v2;

// streamscope_ways, for code of this library.
extern "C" __attribute__((visibility("hidden"))) StreamscopeWay streamscope_own_ways[];

namespace streamscope::collect {
namespace {

enum Index : size_t {
#define CALL_ID_RUNTIME(cbid, name, version, per_thread)
#define CALL_ID_DRIVER(cbid, name, per_thread) kIndex_##cbid,
#include "call_ids.inc"
#undef CALL_ID_DRIVER
  kFunctions
};

std::atomic_ref<void*> target_of(size_t index) {
  return std::atomic_ref<void*>(streamscope_own_ways[index].target);
}
constinit std::atomic<bool> targets_found{false};
constinit std::mutex finding_targets;
constinit std::mutex sending_calls;

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
  using Call = rules::DriverCall<kId>;

  // Aligned, so that it is in as few lines as it can be.
  [[gnu::aligned(64)]] static CUresult CUDAAPI record(Args... args) {
    auto target = reinterpret_cast<Function>(target_of(kIndex).load(std::memory_order_acquire));
    if (__builtin_expect(target == nullptr, 0)) {
      find_targets();
      target = reinterpret_cast<Function>(wrapped_target(kIndex));
      if (target == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
    }
    if constexpr (may_be_plain(Call::kFacts)) {
      WrapperFrame frame;
      ThreadState* const thread = enter_plainly<Call::kFacts>(
          frame, driver_calls[kId], values_of<Call>(args...), kernel_among(args...));
      if (__builtin_expect(thread != nullptr, 1)) {
        const CUresult result = target(args...);
        leave_plainly<Call::kFacts>(frame, *thread, driver_calls[kId], result);
        return result;
      }
    }
    return record_any(__builtin_dwarf_cfa(), target, args...);
  }

 private:
  // Apart, so that plain calls have no more code than they need. `top`: where the frame of the
  // wrapper begins.
  [[gnu::noinline]] static CUresult record_any(const void* top, Function target, Args... args) {
    if (!session.interposing.load(std::memory_order_relaxed)) return target(args...);
    void* kernel = nullptr;
    if constexpr (sizeof...(Args) > 0) kernel = kernel_among(args...);
    if (InterposedCall::is_nested(top, kernel)) return target(args...);
    Parameters<Args...> parameters;
    const void* at_exit = needs_parameters(Call::kFacts) ? parameters.set(args...) : nullptr;
    InterposedCall call(driver_calls[kId], Call::kFacts, at_exit, values_of<Call>(args...), kernel,
                        kernel);
    if (!call.enter(top)) return target(args...);
    const CUresult result = target(args...);
    call.leave(result);
    return result;
  }
};

}  // namespace

constinit const size_t wrapped_count = kFunctions;

namespace {

// How calls are recorded, and which of them may pass.
struct Recorded {
  void* function;
  bool may_pass;
};
#define CALL_ID_RUNTIME(cbid, name, version, per_thread)
#define RECORD_FUNCTION(cbid, name) \
  reinterpret_cast<void*>(          \
      &Wrapper<kIndex_##cbid, CUPTI_DRIVER_TRACE_CBID_##cbid, decltype(::name)>::record)
STREAMSCOPE_CONSTINIT const Recorded recorded[] = {
#define CALL_ID_DRIVER(cbid, name, per_thread) \
  {RECORD_FUNCTION(cbid, name),                \
   may_pass(rules::DriverCall<CUPTI_DRIVER_TRACE_CBID_##cbid>::kFacts)},
#include "call_ids.inc"
#undef CALL_ID_DRIVER
};

std::atomic_ref<void*> way_of(size_t index) {
  return std::atomic_ref<void*>(streamscope_own_ways[index].way);
}

}  // namespace

void send_calls() {
  std::lock_guard lock(sending_calls);
  const bool pass = session.interposing.load(std::memory_order_acquire) && passes_calls();
  for (size_t i = 0; i < kFunctions; ++i) {
    void* const target = target_of(i).load(std::memory_order_acquire);
    const bool passes = pass && recorded[i].may_pass && target != nullptr;
    way_of(i).store(passes ? target : recorded[i].function, std::memory_order_release);
  }
}

bool find_targets() {
  if (targets_found.load(std::memory_order_acquire)) return true;
  if (!find_cuda()) return false;
  std::lock_guard lock(finding_targets);
  for (size_t i = 0; i < kFunctions; ++i) {
    void* none = nullptr;  // a tool's function stays
    target_of(i).compare_exchange_strong(none, driver_function(streamscope_wrapped[i].name));
  }
  targets_found.store(true, std::memory_order_release);
  send_calls();
  return true;
}

void replace_target(size_t index, void* function) {
  target_of(index).store(function, std::memory_order_release);
  send_calls();
}

void* wrapped_target(size_t index) { return target_of(index).load(std::memory_order_acquire); }

void forget_wrappers_after_fork() {
  new (&finding_targets) std::mutex;
  new (&sending_calls) std::mutex;
  send_calls();
}

}  // namespace streamscope::collect

using namespace streamscope::collect;

extern "C" {

alignas(64) STREAMSCOPE_CONSTINIT StreamscopeWay streamscope_ways[] = {
#define CALL_ID_DRIVER(cbid, name, per_thread) {RECORD_FUNCTION(cbid, name), nullptr},
#include "call_ids.inc"
#undef CALL_ID_DRIVER
};
extern StreamscopeWay streamscope_own_ways[kFunctions]
    __attribute__((alias("streamscope_ways"), visibility("hidden")));

#if defined(__x86_64__)
#define JUMP_TO_WAY(offset) " jmp *streamscope_own_ways+" offset "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP_TO_WAY(offset)                                                                      \
  " adrp x16, streamscope_own_ways\n add x16, x16, :lo12:streamscope_own_ways\n ldr x16, [x16, " \
  "#" offset "]\n br x16\n"
#endif
#define RUNTIME_STUB(name, offset)
#define CALL_STUB(name, offset)                                               \
  __attribute__((visibility("hidden"))) void streamscope_wrapper_of_##name(); \
  asm(JUMP_BEGIN("streamscope_wrapper_of_" #name) JUMP_TO_WAY(#offset)        \
          JUMP_END("streamscope_wrapper_of_" #name) ".hidden streamscope_wrapper_of_" #name "\n");
#include "call_stubs.inc"
#undef CALL_STUB
}

STREAMSCOPE_CONSTINIT const StreamscopeWrapped streamscope_wrapped[] = {
#define CALL_ID_DRIVER(cbid, name, per_thread) \
  {#cbid, reinterpret_cast<void*>(&streamscope_wrapper_of_##cbid)},
#include "call_ids.inc"
#undef CALL_ID_DRIVER
#undef CALL_ID_RUNTIME
};
