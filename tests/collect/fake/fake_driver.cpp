// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The rest of the stand-in libcuda.so.1: every traced function under its exported name, and
// cuGetProcAddress. Each function notes its name and its arguments; one that makes an object
// stores a new handle.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#define FAKE_API extern "C" __attribute__((visibility("default")))

extern "C" decltype(cuMemHostAlloc) cuMemHostAlloc_v2;

namespace {

std::atomic<uint64_t> calls{0}, next_handle{0x10000};
std::atomic<uint64_t> latest_arguments{0};
std::atomic<const char*> latest_name{""};
std::atomic<int32_t> next_result{0};
std::atomic<void (*)()> next_inside{nullptr};
std::vector<CUgraphNode> graph_nodes;
CUgraphNode captured_node = nullptr;
thread_local CUcontext current = reinterpret_cast<CUcontext>(uintptr_t{0x7001});

template <class T>
constexpr bool kMakesHandle =
    std::is_same_v<T, CUevent*> || std::is_same_v<T, CUstream*> || std::is_same_v<T, CUgraph*> ||
    std::is_same_v<T, CUgraphExec*> || std::is_same_v<T, CUdeviceptr*> ||
    std::is_same_v<T, CUmodule*> || std::is_same_v<T, CUlibrary*>;

template <class A>
uint64_t word(A argument) {
  uint64_t bits = 0;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): an argument may be a pointer
  std::memcpy(&bits, &argument, sizeof argument < 8 ? sizeof argument : 8);
  return bits;
}

template <class First, class... Rest>
void store_handle(First first, Rest...) {
  if constexpr (kMakesHandle<First>) {
    if (first != nullptr) *first = (std::remove_pointer_t<First>)(next_handle += 0x10);
  }
}
// Host memory is real.
void store_handle(void** first, size_t bytes, unsigned) {
  static auto& memory = *new std::vector<std::vector<char>>;  // also while the process exits
  if (first != nullptr && bytes < 1 << 20) *first = memory.emplace_back(bytes).data();
}

template <size_t kIndex, class Function>
struct Fake;
const char* const kNames[] = {
#define CALL_ID_RUNTIME(cbid, name, version, per_thread)
#define CALL_ID_DRIVER(cbid, name, per_thread) #cbid,
#include "call_ids.inc"
#undef CALL_ID_DRIVER
};
enum Index : size_t {
#define CALL_ID_DRIVER(cbid, name, per_thread) kIndex_##cbid,
#include "call_ids.inc"
#undef CALL_ID_DRIVER
};

template <size_t kIndex, class... Args>
struct Fake<kIndex, CUresult(Args...)> {
  static CUresult call(Args... args) {
    uint64_t sum = 0;
    ((sum = sum * 31 + word(args)), ...);
    ++calls;
    latest_arguments = sum;
    latest_name = kNames[kIndex];
    if (auto inside = next_inside.exchange(nullptr)) inside();
    if constexpr (sizeof...(Args) > 0) {
      if (next_result == 0) store_handle(args...);
    }
    return static_cast<CUresult>(next_result.exchange(0));
  }
};

}  // namespace

extern "C" void* const fake_functions[] = {
#define CALL_ID_DRIVER(cbid, name, per_thread) \
  reinterpret_cast<void*>(&Fake<kIndex_##cbid, decltype(::name)>::call),
#include "call_ids.inc"
#undef CALL_ID_DRIVER
};

// Weak: fake_cuda.cpp has its own versions of some. Offsets are those of pairs of addresses.
#if defined(__x86_64__)
#define RUNTIME_STUB(name, offset)
#define CALL_STUB(name, offset)                                    \
  asm(".text\n.weak " #name "\n.type " #name ", @function\n" #name \
      ":\n endbr64\n leaq fake_functions(%rip), %r11\n jmp *(" #offset " / 2)(%r11)\n");
#include "call_stubs.inc"
#endif

// The function itself, whoever interposes lookups.
FAKE_API void* fake_function(const char* name) {
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; ++i)
    if (std::strcmp(kNames[i], name) == 0) return fake_functions[i];
  return nullptr;
}
FAKE_API uint64_t fake_calls() { return calls; }
FAKE_API uint64_t fake_arguments() { return latest_arguments; }
FAKE_API const char* fake_name() { return latest_name; }
FAKE_API void fake_set_result(int32_t result) { next_result = result; }
/// What the next call runs inside.
FAKE_API void fake_run_inside(void (*inside)()) { next_inside = inside; }
FAKE_API void fake_set_context(CUcontext context) { current = context; }

// The one graph: nodes, each of which depends on the one before.
FAKE_API void fake_set_graph(const CUgraphNode* nodes, size_t count) {
  graph_nodes.assign(nodes, nodes + count);
}
FAKE_API CUresult cuGraphGetNodes(CUgraph, CUgraphNode* nodes, size_t* count) {
  if (nodes != nullptr) std::copy(graph_nodes.begin(), graph_nodes.end(), nodes);
  *count = graph_nodes.size();
  return CUDA_SUCCESS;
}
#undef cuGraphGetEdges
FAKE_API CUresult cuGraphGetEdges(CUgraph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  for (size_t i = 1; from != nullptr && i < graph_nodes.size(); ++i) {
    from[i - 1] = graph_nodes[i - 1];
    to[i - 1] = graph_nodes[i];
  }
  *count = graph_nodes.empty() ? 0 : graph_nodes.size() - 1;
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuGraphNodeGetType(CUgraphNode, CUgraphNodeType* type) {
  *type = CU_GRAPH_NODE_TYPE_KERNEL;
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode, CUDA_KERNEL_NODE_PARAMS* parameters) {
  parameters->func = reinterpret_cast<CUfunction>(uintptr_t{0xf001});
  return CUDA_SUCCESS;
}
/// The newest node of the stream that is being captured; null: none is.
FAKE_API void fake_set_captured(CUgraphNode node) { captured_node = node; }
#undef cuStreamGetCaptureInfo
FAKE_API CUresult cuStreamGetCaptureInfo_v2(CUstream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                            CUgraph* graph, const CUgraphNode** nodes,
                                            size_t* count) {
  *status =
      captured_node != nullptr ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  *id = 1;
  *graph = reinterpret_cast<CUgraph>(uintptr_t{0x6001});
  *nodes = &captured_node;
  *count = captured_node != nullptr ? 1 : 0;
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuGraphDestroy(CUgraph) { return CUDA_SUCCESS; }
FAKE_API CUresult cuGraphDestroyNode(CUgraphNode) { return CUDA_SUCCESS; }

#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
FAKE_API CUresult cuCtxPushCurrent_v2(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  *context = current;
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current;
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return current != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
FAKE_API CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  *id = reinterpret_cast<uintptr_t>(context) & 0xff;
  return CUDA_SUCCESS;
}
FAKE_API CUresult cuFuncGetName(const char** name, CUfunction function) {
  const auto handle = reinterpret_cast<uintptr_t>(function);
  *name = handle == 0xf001   ? "first_kernel"
          : handle == 0xf002 ? "second_kernel"
                             : "_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_"
                               "nocastINS0_13BinaryFunctorIfffNS0_15binary_internal10MulFunctorIfE"
                               "EEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_";
  return CUDA_SUCCESS;
}

// One table, which nobody reads.
FAKE_API CUresult cuGetExportTable(const void** table, const CUuuid*) {
  *table = reinterpret_cast<const void*>(uintptr_t{0xe00e});
  return CUDA_SUCCESS;
}
FAKE_API void* fake_get_export_table() { return reinterpret_cast<void*>(&cuGetExportTable); }

#undef cuGetProcAddress
#undef cuGetProcAddress_v2
static void* own_library() {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return library;
}
// As the driver: the newest function of this name that is no newer than `version`.
FAKE_API CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version,
                                      cuuint64_t flags, CUdriverProcAddressQueryResult* status) {
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  *function = nullptr;
  for (const char* suffix : {"_v3", "_v2", ""}) {
    if (version < 3020 && *suffix != '\0') continue;
    const std::string name = std::string(symbol) + suffix;
    for (const char* variant : {"_ptsz", "_ptds", ""}) {
      if (!per_thread && *variant != '\0') continue;
      *function = dlsym(own_library(), (name + variant).c_str());
      if (*function != nullptr) break;
    }
    if (*function != nullptr) break;
  }
  if (status != nullptr)
    *status =
        *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
FAKE_API CUresult cuGetProcAddress(const char* symbol, void** function, int version,
                                   cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}
