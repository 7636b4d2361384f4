// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Another profiler inside the recorded program: detected by the CUPTI functions it calls.
//
// CUPTI serves one subscriber, us. A client that subscribes before it does anything else, as Kineto
// (torch.profiler) does, is refused and leaves CUPTI alone: our trace is complete, its profile is
// not, so the user is notified and the trace says so. A client that does not subscribe is not
// refused: there is one set of activity buffers, so any client that registers buffers takes ours,
// and any that disables a kind disables it for everyone; CUPTI reports neither. Such a client wins:
// its calls pass unchanged; we hand the buffers over cleanly, take them back after its last flush
// and mark the interval.
//
// Profilers are linked with libcupti, so a preloaded library sees these calls by defining functions
// of the same names. Clients that look CUPTI's functions up with dlsym are not seen here;
// activities.cpp detects them by their effects.
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "collect/cupti/activities.h"
#include "collect/cupti/callbacks.h"
#include "collect/cupti/cupti_library.h"
#include "collect/process/next_function.h"
#include "collect/process/session.h"

namespace streamscope::collect {
namespace {

constinit std::atomic<uint64_t> other_kinds{
    0};  // kinds that the other client has enabled, bit = kind

// The caller of a call that returns to `address`. We never call these functions by name: a return
// into this library means a tail call by libcupti, from a function of its own that we called.
void* caller_of(void* address) {
  Dl_info from{}, ours{};
  if (::dladdr(address, &from) == 0 ||
      ::dladdr(reinterpret_cast<const void*>(&caller_of), &ours) == 0 ||
      from.dli_fbase != ours.dli_fbase)
    return address;
  return reinterpret_cast<void*>(cupti.cuptiGetVersion);
}

template <class Function>
Function* real(const char* name, void* caller) {
  return reinterpret_cast<Function*>(next_function(name, caller));
}

// True if `caller` is a client that shares the copy of libcupti with us, and not libcupti itself.
bool is_other_client(void* caller, const void* function) {
  if (!running() || cupti.cuptiGetVersion == nullptr) return false;
  Dl_info ours{}, target{}, from{};
  if (::dladdr(reinterpret_cast<const void*>(cupti.cuptiGetVersion), &ours) == 0 ||
      ::dladdr(function, &target) == 0 || ::dladdr(caller, &from) == 0)
    return false;
  return target.dli_fbase == ours.dli_fbase && from.dli_fbase != ours.dli_fbase;
}

// CUPTI answered a client that called subscribe at `begin`.
void note_subscription(CUptiResult result, uint64_t begin, void* caller, const void* function) {
  if (result != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || !holds_cupti()) return;
  Dl_info target{}, from{};
  // Not a call inside libcupti; it does not matter which copy of it was called.
  if (::dladdr(function, &target) == 0 || ::dladdr(caller, &from) == 0 ||
      target.dli_fbase == from.dli_fbase)
    return;
  const char* path = from.dli_fname != nullptr ? from.dli_fname : "it";
  const char* slash = std::strrchr(path, '/');
  const char* client = slash != nullptr ? slash + 1 : path;
  report_loss(ring::Loss::kProfilerRefused, 1, client, begin, ticks());
  static constinit std::atomic<bool> reported{false};
  if (reported.exchange(true)) return;
  char cause[256];
  std::snprintf(cause, sizeof cause,
                "CUPTI serves only this recording and refused %s; the recording is complete",
                client);
  report_to_user("another CUDA profiler in the program sees no GPU activity", cause,
                 "run the program without `streamscope record` to use it");
}

}  // namespace
}  // namespace streamscope::collect

#define STREAMSCOPE_INTERPOSED \
  extern "C" __attribute__((visibility("default"))) CUptiResult CUPTIAPI

STREAMSCOPE_INTERPOSED cuptiSubscribe(CUpti_SubscriberHandle* subscriber,
                                      CUpti_CallbackFunc callback, void* data) {
  using namespace streamscope::collect;
  void* caller = caller_of(__builtin_return_address(0));
  auto* function = real<decltype(::cuptiSubscribe)>("cuptiSubscribe", caller);
  if (function == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  const uint64_t begin = ticks();
  const CUptiResult result = function(subscriber, callback, data);
  note_subscription(result, begin, caller, reinterpret_cast<void*>(function));
  return result;
}

// Declared by toolkits from 13.0 on only, with a type of its own for `parameters`.
STREAMSCOPE_INTERPOSED subscribe_with_parameters(CUpti_SubscriberHandle* subscriber,
                                                 CUpti_CallbackFunc callback, void* data,
                                                 void* parameters) __asm__("cuptiSubscribe_v2");
CUptiResult CUPTIAPI subscribe_with_parameters(CUpti_SubscriberHandle* subscriber,
                                               CUpti_CallbackFunc callback, void* data,
                                               void* parameters) {
  using namespace streamscope::collect;
  void* caller = caller_of(__builtin_return_address(0));
  auto* function = real<decltype(subscribe_with_parameters)>("cuptiSubscribe_v2", caller);
  if (function == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  const uint64_t begin = ticks();
  const CUptiResult result = function(subscriber, callback, data, parameters);
  note_subscription(result, begin, caller, reinterpret_cast<void*>(function));
  return result;
}

STREAMSCOPE_INTERPOSED cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                      CUpti_BuffersCallbackCompleteFunc complete) {
  using namespace streamscope::collect;
  void* caller = caller_of(__builtin_return_address(0));
  auto* function =
      real<decltype(::cuptiActivityRegisterCallbacks)>("cuptiActivityRegisterCallbacks", caller);
  if (function == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  const bool other = is_other_client(caller, reinterpret_cast<void*>(function));
  if (other) drain_activities();
  const uint64_t begin = ticks();
  const CUptiResult result = function(request, complete);
  if (other && result == CUPTI_SUCCESS) yield_activities(begin);
  return result;
}

STREAMSCOPE_INTERPOSED cuptiActivityEnable(CUpti_ActivityKind kind) {
  using namespace streamscope::collect;
  void* caller = caller_of(__builtin_return_address(0));
  auto* function = real<decltype(::cuptiActivityEnable)>("cuptiActivityEnable", caller);
  if (function == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  const CUptiResult result = function(kind);
  if (result == CUPTI_SUCCESS && kind < 64 &&
      is_other_client(caller, reinterpret_cast<void*>(function)))
    other_kinds.fetch_or(uint64_t{1} << kind, std::memory_order_relaxed);
  return result;
}

STREAMSCOPE_INTERPOSED cuptiActivityDisable(CUpti_ActivityKind kind) {
  using namespace streamscope::collect;
  void* caller = caller_of(__builtin_return_address(0));
  auto* function = real<decltype(::cuptiActivityDisable)>("cuptiActivityDisable", caller);
  if (function == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  if (kind < 64 && is_other_client(caller, reinterpret_cast<void*>(function)))
    other_kinds.fetch_and(~(uint64_t{1} << kind), std::memory_order_relaxed);
  return function(kind);
}

STREAMSCOPE_INTERPOSED cuptiActivityFlushAll(uint32_t flag) {
  using namespace streamscope::collect;
  void* caller = caller_of(__builtin_return_address(0));
  auto* function = real<decltype(::cuptiActivityFlushAll)>("cuptiActivityFlushAll", caller);
  if (function == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  CUptiResult result = function(flag);
  // Everything is disabled and fetched: the other client is finished.
  if (is_other_client(caller, reinterpret_cast<void*>(function)) &&
      other_kinds.load(std::memory_order_relaxed) == 0)
    reclaim_activities();
  return result;
}

// Finalizing would end our recording as well. The other client loses only the lower overhead of a
// finalized CUPTI.
STREAMSCOPE_INTERPOSED cuptiFinalize() {
  using namespace streamscope::collect;
  void* caller = caller_of(__builtin_return_address(0));
  auto* function = real<decltype(::cuptiFinalize)>("cuptiFinalize", caller);
  if (function == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  if (!is_other_client(caller, reinterpret_cast<void*>(function))) return function();
  reclaim_activities();
  return CUPTI_SUCCESS;
}
