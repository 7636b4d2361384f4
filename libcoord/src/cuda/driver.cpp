// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "cuda/driver.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>

#include "codes.h"

namespace coord::cuda {

namespace {

// The name as expanded by the macros of cuda.h.
#define COORD_TEXT_OF(name) #name
#define COORD_NAME(function) COORD_TEXT_OF(function)

std::atomic<bool> in_child_of_user{false};

Driver load() {
  Driver loaded;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    loaded.why_not = why != nullptr ? why : "libcuda.so.1 was not found";
    return loaded;
  }
  const auto find = [&]<typename Function>(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    if (function == nullptr && loaded.why_not.empty())
      loaded.why_not = std::string("the driver lacks ") + name;
  };
#define COORD_LOAD(member, function) find(loaded.member.raw, COORD_NAME(function));
  COORD_DRIVER_FUNCTIONS(COORD_LOAD)
#undef COORD_LOAD
  find(loaded.capture_info.raw, "cuStreamGetCaptureInfo_v2");
  find(loaded.memory_prefetch.raw, "cuMemPrefetchAsync");
  find(loaded.graph_get_edges.raw, "cuGraphGetEdges");
  find(loaded.event_elapsed_time.raw, "cuEventElapsedTime");
  if (!loaded.why_not.empty()) return loaded;

  if (const CUresult result = loaded.init.raw(0); result != CUDA_SUCCESS) {
    const char* text = nullptr;
    loaded.get_error_string.raw(result, &text);
    loaded.why_not = std::string("cuInit: ") + (text != nullptr ? text : "failed");
  }
  pthread_atfork(nullptr, nullptr, [] { in_child_of_user.store(true, std::memory_order_relaxed); });
  return loaded;
}

}  // namespace

const Driver& driver() {
  static const Driver* const loaded = new Driver(load());
  return *loaded;
}

bool forked() noexcept { return in_child_of_user.load(std::memory_order_relaxed); }

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  const char* text = nullptr;
  driver().get_error_name.raw(result, &name);
  driver().get_error_string.raw(result, &text);
  throw Error(kind_of_code(result), result, name != nullptr ? name : "unknown", call,
              text != nullptr ? text : "no description from the driver");
}

bool check_ready(CUresult result, const char* call) {
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, call);
  return true;
}

}  // namespace coord::cuda
