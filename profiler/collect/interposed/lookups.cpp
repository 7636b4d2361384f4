// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/interposed/lookups.h"

#include <cuda.h>
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string_view>

#include "collect/interposed/graphs.h"
#include "collect/interposed/interposed.h"
#include "collect/interposed/runtime_wrappers.h"
#include "collect/interposed/wrappers.h"
#include "collect/observed/observer.h"
#include "collect/observed/tensor_maps.h"
#include "collect/process/driver.h"
#include "collect/process/inject.h"
#include "collect/process/next_function.h"
#include "collect/process/session.h"
#include "collect/process/symbols.h"

#undef cuGetProcAddress

namespace streamscope::collect {
namespace {

constinit std::atomic<bool> handed_out{false};
constinit std::atomic<bool> initialized{false};  // through our cuInit

// dlsym as it is without us. Every ordinary way to find it ends at our own definition.
using Dlsym = void*(void*, const char*);
Dlsym* real_dlsym() {
  return reinterpret_cast<Dlsym*>(streamscope_lookups.real_dlsym.load(std::memory_order_acquire));
}

// Who asks.

bool starts_with_any(std::string_view file, std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view prefix : prefixes)
    if (file.starts_with(prefix)) return true;
  return false;
}

// The library that contains an address: where it is loaded, and its file name. Empty if that is
// unknown. Takes as long as the library has symbols.
struct Owner {
  const void* base = nullptr;
  std::string_view file;
};
Owner owner_of(const void* address) {
  Dl_info facts{};
  if (::dladdr(address, &facts) == 0 || facts.dli_fname == nullptr) return {};
  const std::string_view file = facts.dli_fname;
  return {facts.dli_fbase, file.substr(file.rfind('/') + 1)};
}

// The driver, this library, and tools that need the driver's own functions.
bool gets_own_functions(void* caller) {
  static const void* const ours = owner_of(reinterpret_cast<void*>(&gets_own_functions)).base;
  const Owner owner = owner_of(caller);
  return owner.base == ours ||
         starts_with_any(owner.file,
                         {"libcuda.so", "libcuda-injection", "libcudadebugger", "libcupti",
                          "libnvperf", "libsanitizer-", "libInterceptorInjection",
                          "libToolsInjection", "libnvidia-", "libnsys", "libnvtx"});
}

// Answers.

enum FollowedIndex {
  kGetAddressV1,
  kGetAddressV2,
  kInit,
  kGraphDestroy,
  kGraphDestroyNode,
  kEncodeTiled,
  kEncodeIm2col,
  kReplaceAddress,
  kCreateCondition,
  kAllFollowed
};

bool find_all() {
  static constinit std::atomic<bool> found{false};
  if (found.load(std::memory_order_acquire)) return true;
  if (!find_targets()) return false;
  for (int i = 0; i < kAllFollowed; ++i) {
    void* none = nullptr;
    streamscope_followed[i].real.compare_exchange_strong(
        none, driver_function(streamscope_followed[i].name));
  }
  found.store(true, std::memory_order_release);
  return true;
}

// The driver's own function; null if there is no driver.
template <class Function>
Function* followed(FollowedIndex index) {
  find_all();
  return reinterpret_cast<Function*>(
      streamscope_followed[index].real.load(std::memory_order_acquire));
}

// The wrapper of a function of the driver; null if there is none.
void* wrapper_of(const char* name, void* function) {
  for (int i = 0; i < kAllFollowed; ++i) {
    const StreamscopeFollowed& followed = streamscope_followed[i];
    // A tool's function may stand before the driver's, which it finds itself.
    if (followed.real.load(std::memory_order_relaxed) == function ||
        driver_function(followed.name) == function)
      return followed.wrapper;
  }
  void* wrapper = nullptr;
  // Several names may share a function: the one that was asked for wins.
  for (size_t i = 0; i < wrapped_count; ++i) {
    if (wrapped_target(i) != function) continue;
    if (wrapper == nullptr || std::strcmp(streamscope_wrapped[i].name, name) == 0)
      wrapper = streamscope_wrapped[i].wrapper;
  }
  return wrapper;
}

// A library that ncu puts in the driver's place exports the driver's names, before the driver is
// loaded: from then on our wrappers call its functions. Null if `function` is not one of these.
void* wrapper_around_stand_in(std::string_view name, void* function) {
  const auto is_stand_in = [&] { return owner_of(function).file.starts_with("libcuda-injection"); };
  for (int i = 0; i < kAllFollowed; ++i) {
    if (streamscope_followed[i].name != name) continue;
    if (!is_stand_in()) return nullptr;
    streamscope_followed[i].real.store(function, std::memory_order_release);
    return streamscope_followed[i].wrapper;
  }
  for (size_t i = 0; i < wrapped_count; ++i) {
    if (streamscope_wrapped[i].name != name) continue;
    if (!is_stand_in()) return nullptr;
    replace_target(i, function);
    return streamscope_wrapped[i].wrapper;
  }
  return nullptr;
}

// What a program gets that asked for `name` and would have got `function`.
void* answer(const char* name, void* function) {
  if (std::string_view(name).starts_with("cuda") &&
      owner_of(function).file.starts_with("libcudart"))
    return runtime_pointer(name, function);
  if (function == nullptr) return function;
  void* wrapper = find_all() ? wrapper_of(name, function) : nullptr;
  if (wrapper == nullptr) wrapper = wrapper_around_stand_in(name, function);
  if (wrapper == nullptr) return function;
  handed_out.store(true, std::memory_order_relaxed);
  return wrapper;
}

// The exported name of what cuGetProcAddress finds, where that matters.
const char* exported_name(const char* symbol, int version) {
  constexpr int kFirstWithStatus = 12000;
  return version >= kFirstWithStatus && std::strcmp(symbol, "cuGetProcAddress") == 0
             ? "cuGetProcAddress_v2"
             : symbol;
}

CUresult CUDAAPI get_address_v1(const char* symbol, void** function, int version,
                                cuuint64_t flags) {
  auto* real = followed<decltype(get_address_v1)>(kGetAddressV1);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = real(symbol, function, version, flags);
  if (result == CUDA_SUCCESS && function != nullptr &&
      !gets_own_functions(__builtin_return_address(0)))
    *function = answer(exported_name(symbol, version), *function);
  return result;
}

CUresult CUDAAPI get_address_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult* status) {
  auto* real = followed<decltype(get_address_v2)>(kGetAddressV2);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = real(symbol, function, version, flags, status);
  if (result == CUDA_SUCCESS && function != nullptr &&
      !gets_own_functions(__builtin_return_address(0)))
    *function = answer(exported_name(symbol, version), *function);
  return result;
}

CUresult CUDAAPI init(unsigned flags) {
  auto* real = followed<decltype(init)>(kInit);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  initialized.store(true, std::memory_order_relaxed);
  const CUresult result = real(flags);
  if (result == CUDA_SUCCESS) driver_initialized();
  return result;
}

// Handles of a graph and its nodes may be used again as soon as they are gone.
CUresult CUDAAPI destroy_graph(CUgraph graph) {
  auto* real = followed<decltype(destroy_graph)>(kGraphDestroy);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  forget_graph(graph);
  return real(graph);
}

CUresult CUDAAPI destroy_node(CUgraphNode node) {
  auto* real = followed<decltype(destroy_node)>(kGraphDestroyNode);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  forget_node(node);
  return real(node);
}

CUresult noted(CUresult result, const CUtensorMap* map, int type, cuuint32_t rank,
               const void* address, const cuuint64_t* dimensions, const cuuint64_t* strides) {
  static_assert(sizeof(cuuint64_t) == sizeof(uint64_t));
  if (!session.observes || result != CUDA_SUCCESS) return result;
  const auto numbers = [](const cuuint64_t* first, size_t count) {
    return std::span(reinterpret_cast<const uint64_t*>(first), first == nullptr ? 0 : count);
  };
  note_tensor_map(
      *map, mapped_memory(type, reinterpret_cast<uintptr_t>(address), numbers(dimensions, rank),
                          numbers(strides, rank > 0 ? rank - 1 : 0)));
  return result;
}

CUresult CUDAAPI encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                              void* address, const cuuint64_t* dimensions,
                              const cuuint64_t* strides, const cuuint32_t* box,
                              const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                              CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                              CUtensorMapFloatOOBfill fill) {
  auto* real = followed<decltype(encode_tiled)>(kEncodeTiled);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result = real(map, type, rank, address, dimensions, strides, box, element_strides,
                               interleave, swizzle, promotion, fill);
  return noted(result, map, type, rank, address, dimensions, strides);
}

CUresult CUDAAPI encode_im2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                               void* address, const cuuint64_t* dimensions,
                               const cuuint64_t* strides, const int* lower, const int* upper,
                               cuuint32_t channels, cuuint32_t pixels,
                               const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                               CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                               CUtensorMapFloatOOBfill fill) {
  auto* real = followed<decltype(encode_im2col)>(kEncodeIm2col);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  const CUresult result =
      real(map, type, rank, address, dimensions, strides, lower, upper, channels, pixels,
           element_strides, interleave, swizzle, promotion, fill);
  return noted(result, map, type, rank, address, dimensions, strides);
}

CUresult CUDAAPI replace_address(CUtensorMap* map, void* address) {
  auto* real = followed<decltype(replace_address)>(kReplaceAddress);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  if (!session.observes || map == nullptr) return real(map, address);
  const CUtensorMap before = *map;
  const CUresult result = real(map, address);
  if (result == CUDA_SUCCESS) note_moved_tensor_map(before, *map, address);
  return result;
}

// Kernels in the bodies of conditional nodes fail when they are patched, with compute-sanitizer
// too.
CUresult CUDAAPI create_condition(CUgraphConditionalHandle* handle, CUgraph graph,
                                  CUcontext context, unsigned initial, unsigned flags) {
  auto* real = followed<decltype(create_condition)>(kCreateCondition);
  if (real == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  if (session.observes)
    observe_no_more("the Compute Sanitizer breaks graphs with conditional nodes");
  return real(handle, graph, context, initial, flags);
}

// True if `function` is exported by the library of the stubs.
bool is_stub(const void* function) {
  const void* own_dlsym = streamscope_lookups.stub_dlsym.load(std::memory_order_relaxed);
  const void* base = owner_of(function).base;
  return own_dlsym != nullptr && base != nullptr && base == owner_of(own_dlsym).base;
}

// Called by the stubs. Libraries come in the order in which names are searched: the first ones
// behind the stubs that have the functions. They are libc's, or those of another library that wraps
// them. All up to libc are there as long as the process.
void prepare() {
  Dl_info facts{};
  link_map* library = nullptr;
  if (::dladdr1(__builtin_return_address(0), &facts, reinterpret_cast<void**>(&library),
                RTLD_DL_LINKMAP) == 0)
    return;
  void *dlsym = nullptr, *dlvsym = nullptr;
  for (; library != nullptr && (dlsym == nullptr || dlvsym == nullptr); library = library->l_next) {
    const Symbols table = symbols_of(library->l_addr, library->l_ld);
    if (find_symbol(table, "streamscope_stubs") != nullptr) continue;
    if (dlsym == nullptr) dlsym = find_symbol(table, "dlsym");
    if (dlvsym == nullptr) dlvsym = find_symbol(table, "dlvsym");
  }
  streamscope_lookups.real_dlvsym.store(dlvsym, std::memory_order_relaxed);
  streamscope_lookups.real_dlsym.store(dlsym, std::memory_order_release);
}

// A name that begins with "cu"; not RTLD_NEXT, which needs the caller's own place in the order.
void* find_call(void* library, const char* name) {
  void* caller = __builtin_return_address(0);
  void* function =
      library == RTLD_DEFAULT ? next_function(name, caller) : real_dlsym()(library, name);
  // The program's own handle stands for the global scope.
  if (function != nullptr && library != RTLD_DEFAULT && is_stub(function))
    function = real_dlsym()(RTLD_NEXT, name);
  if (function == nullptr || gets_own_functions(caller)) return function;
  return answer(name, function);
}

void* find_versioned_call(void* library, const char* name, const char* version) {
  void* caller = __builtin_return_address(0);
  auto* find = reinterpret_cast<void* (*)(void*, const char*, const char*)>(
      streamscope_lookups.real_dlvsym.load(std::memory_order_acquire));
  void* function = find(library == RTLD_DEFAULT ? RTLD_NEXT : library, name, version);
  if (function != nullptr && is_stub(function)) function = find(RTLD_NEXT, name, version);
  if (function == nullptr || gets_own_functions(caller)) return function;
  return answer(name, function);
}

}  // namespace

bool can_interpose() {
  const void* stub = streamscope_lookups.stub_dlsym.load(std::memory_order_relaxed);
  // Another library may wrap dlsym before us; if it asks us, wrappers were handed out. A library
  // that was opened with RTLD_DEEPBIND reaches the driver and libc without us.
  return stub != nullptr && real_dlsym() != nullptr &&
         (handed_out.load(std::memory_order_relaxed) ||
          (initialized.load(std::memory_order_relaxed) &&
           real_dlsym()(RTLD_DEFAULT, "dlsym") == stub));
}

}  // namespace streamscope::collect

constinit StreamscopeLookups streamscope_lookups = {nullptr,
                                                    nullptr,
                                                    &streamscope::collect::prepare,
                                                    &streamscope::collect::find_call,
                                                    &streamscope::collect::find_versioned_call,
                                                    nullptr};

#define STREAMSCOPE_FOLLOWED(name, function) \
  { name, reinterpret_cast<void*>(&streamscope::collect::function), nullptr }
STREAMSCOPE_CONSTINIT StreamscopeFollowed streamscope_followed[] = {
    STREAMSCOPE_FOLLOWED("cuGetProcAddress", get_address_v1),
    STREAMSCOPE_FOLLOWED("cuGetProcAddress_v2", get_address_v2),
    STREAMSCOPE_FOLLOWED("cuInit", init),
    STREAMSCOPE_FOLLOWED("cuGraphDestroy", destroy_graph),
    STREAMSCOPE_FOLLOWED("cuGraphDestroyNode", destroy_node),
    STREAMSCOPE_FOLLOWED("cuTensorMapEncodeTiled", encode_tiled),
    STREAMSCOPE_FOLLOWED("cuTensorMapEncodeIm2col", encode_im2col),
    STREAMSCOPE_FOLLOWED("cuTensorMapReplaceAddress", replace_address),
    STREAMSCOPE_FOLLOWED("cuGraphConditionalHandleCreate", create_condition)};
