// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Another profiler inside the recorded program: notices it by the CUPTI functions it calls.
//
// CUPTI has one set of activity buffers. A second client that registers its own takes ours, and one
// that turns a kind off turns it off for everybody; Kineto (torch.profiler) does both, and CUPTI
// reports neither. Kineto is linked with libcupti, so a preloaded library sees these calls by
// having functions of the same names. The other profiler wins: its calls go through unchanged; we
// give the buffers up in good order and take them back after its last flush. Clients that look
// CUPTI's functions up with dlsym are not seen here; activities.cpp notices them by what they
// leave.
#include <cupti.h>
#include <dlfcn.h>

#include <atomic>

#include "collect/activities.h"
#include "collect/cupti_library.h"
#include "collect/session.h"

namespace streamscope::collect {
namespace {

constinit std::atomic<uint64_t> other_kinds{0};  // kinds the other client has on, bit = kind

// The function that the caller would have reached without us: next in the global scope, else in the
// scope of the library that calls (a Python module's dependencies are in no other).
template <class Function>
Function* real(const char* name, void* caller) {
  if (void* function = ::dlsym(RTLD_NEXT, name)) return reinterpret_cast<Function*>(function);
  Dl_info facts{};
  if (::dladdr(caller, &facts) == 0 || facts.dli_fname == nullptr) return nullptr;
  void* library = ::dlopen(facts.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* function = ::dlsym(library, name);
  ::dlclose(library);
  return reinterpret_cast<Function*>(function);
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

}  // namespace
}  // namespace streamscope::collect

#define STREAMSCOPE_INTERPOSED \
  extern "C" __attribute__((visibility("default"))) CUptiResult CUPTIAPI

STREAMSCOPE_INTERPOSED cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                      CUpti_BuffersCallbackCompleteFunc complete) {
  using namespace streamscope::collect;
  void* caller = __builtin_return_address(0);
  auto* function =
      real<decltype(::cuptiActivityRegisterCallbacks)>("cuptiActivityRegisterCallbacks", caller);
  if (function == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  if (is_other_client(caller, reinterpret_cast<void*>(function))) yield_activities();
  return function(request, complete);
}

STREAMSCOPE_INTERPOSED cuptiActivityEnable(CUpti_ActivityKind kind) {
  using namespace streamscope::collect;
  void* caller = __builtin_return_address(0);
  auto* function = real<decltype(::cuptiActivityEnable)>("cuptiActivityEnable", caller);
  if (function == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  if (kind < 64 && is_other_client(caller, reinterpret_cast<void*>(function)))
    other_kinds.fetch_or(uint64_t{1} << kind, std::memory_order_relaxed);
  return function(kind);
}

STREAMSCOPE_INTERPOSED cuptiActivityDisable(CUpti_ActivityKind kind) {
  using namespace streamscope::collect;
  void* caller = __builtin_return_address(0);
  auto* function = real<decltype(::cuptiActivityDisable)>("cuptiActivityDisable", caller);
  if (function == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  if (kind < 64 && is_other_client(caller, reinterpret_cast<void*>(function)))
    other_kinds.fetch_and(~(uint64_t{1} << kind), std::memory_order_relaxed);
  return function(kind);
}

STREAMSCOPE_INTERPOSED cuptiActivityFlushAll(uint32_t flag) {
  using namespace streamscope::collect;
  void* caller = __builtin_return_address(0);
  auto* function = real<decltype(::cuptiActivityFlushAll)>("cuptiActivityFlushAll", caller);
  if (function == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  CUptiResult result = function(flag);
  // Everything off and fetched: the other client is done.
  if (is_other_client(caller, reinterpret_cast<void*>(function)) &&
      other_kinds.load(std::memory_order_relaxed) == 0)
    reclaim_activities();
  return result;
}

// Finalizing would end our recording as well. The other client loses nothing but the lower cost of
// a CUPTI that is gone.
STREAMSCOPE_INTERPOSED cuptiFinalize() {
  using namespace streamscope::collect;
  void* caller = __builtin_return_address(0);
  auto* function = real<decltype(::cuptiFinalize)>("cuptiFinalize", caller);
  if (function == nullptr) return CUPTI_ERROR_NOT_INITIALIZED;
  if (!is_other_client(caller, reinterpret_cast<void*>(function))) return function();
  reclaim_activities();
  return CUPTI_SUCCESS;
}
