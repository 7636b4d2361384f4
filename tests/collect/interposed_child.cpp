// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program of the driver API for the tests of interposition: `collect_interposed_child SCENARIO`.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

extern "C" {
decltype(cuMemHostAlloc) cuMemHostAlloc_v2;
#define CALL_ID_RUNTIME(cbid, name, version, per_thread)
#define CALL_ID_DRIVER(cbid, name, per_thread) decltype(name) cbid;
#include "call_ids.inc"
#undef CALL_ID_DRIVER
#undef CALL_ID_RUNTIME
uint64_t fake_calls();
uint64_t fake_arguments();
void fake_set_result(int32_t result);
}

namespace {

void check(bool holds, const char* what, const char* name) {
  if (holds) return;
  std::printf("%s: %s\n", name, what);
  std::exit(1);
}

// A handle, a place for one, or nothing that anyone could follow.
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

template <class T>
uint64_t word(T argument) {
  uint64_t bits = 0;
  std::memcpy(&bits, &argument, sizeof argument < 8 ? sizeof argument : 8);
  return bits;
}

// One call: it reaches the driver once, unchanged, and its result comes back.
template <class... Args>
void call(const char* name, CUresult (*function)(Args...), int32_t result) {
  check(function != nullptr, "not found", name);
  uint64_t sum = 0;
  ((sum = sum * 31 + word(argument<Args>())), ...);
  const uint64_t before = fake_calls();
  fake_set_result(result);
  check(function(argument<Args>()...) == result, "another result", name);
  check(fake_calls() == before + 1, "not called once", name);
  check(fake_arguments() == sum, "other arguments", name);
}

template <class... Args>
void call_only(CUresult (*function)(Args...)) {
  function(argument<Args>()...);
}

// The stand-in answers queries in its own way.
bool is_query(std::string_view name) { return name == "cuStreamQuery" || name == "cuEventQuery"; }

template <class Function>
void call_found(const char* name, void* found, int32_t result) {
  auto* function = reinterpret_cast<Function*>(found);
  if (is_query(name)) return call_only(function);
  call(name, function, result);
}

using Find = void* (*)(const char* name);

void* library() {
  static void* const handle = dlopen("libcuda.so.1", RTLD_NOW);
  return handle;
}
void* find_by_dlsym(const char* name) { return dlsym(library(), name); }
void* find_by_version(const char* name) { return dlvsym(library(), name, "FAKE"); }
void* find_by_default(const char* name) { return dlsym(RTLD_DEFAULT, name); }
void* find_by_address(const char* name) {
  using GetAddress =
      CUresult(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  static auto* const get = reinterpret_cast<GetAddress*>(dlsym(library(), "cuGetProcAddress_v2"));
  void* function = nullptr;
  CUdriverProcAddressQueryResult status{};
  get(name, &function, 2000, CU_GET_PROC_ADDRESS_DEFAULT, &status);
  return function;
}

// Prints line of calls.def, variant and result of each.
int every_function(Find find) {
  int32_t result = 0;
#define CALL_ID_RUNTIME(cbid, name, version, per_thread)
#define CALL_ID_DRIVER(cbid, name, per_thread)                                  \
  if (std::string_view(#cbid) != "cuMemHostAlloc_v2") {                         \
    std::printf("%s %d %d\n", #name, per_thread, is_query(#cbid) ? 0 : result); \
    call_found<decltype(::name)>(#cbid, find(#cbid), result);                   \
    result = result == 0 ? CUDA_ERROR_INVALID_VALUE : 0;                        \
  }
#include "call_ids.inc"
#undef CALL_ID_DRIVER
  return 0;
}

// By the program's own references.
void* find_linked(const char* name) {
  static const std::map<std::string_view, void*> all = {
#define CALL_ID_DRIVER(cbid, name, per_thread) {#cbid, reinterpret_cast<void*>(&::cbid)},
#include "call_ids.inc"
#undef CALL_ID_DRIVER
#undef CALL_ID_RUNTIME
  };
  return all.at(name);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view scenario = count > 1 ? arguments[1] : "";
  cuInit(0);
  if (scenario == "linked") return every_function(find_linked);
  if (scenario == "dlsym") return every_function(find_by_dlsym);
  if (scenario == "dlvsym") return every_function(find_by_version);
  if (scenario == "default") return every_function(find_by_default);
  if (scenario == "address") return every_function(find_by_address);
  std::printf("no scenario %s\n", std::string(scenario).c_str());
  return 2;
}
