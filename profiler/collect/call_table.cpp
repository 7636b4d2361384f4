// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/call_table.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>  // brings the parameter structs of both APIs

#include <array>
#include <string_view>
#include <type_traits>

namespace streamscope::collect {
namespace {

using ring::CallId;
using ring::CallKind;

// Parameters of functions that newer toolkits keep to themselves. The layouts are those of the
// toolkits that had them; inside this namespace they take precedence over a toolkit's own.
struct cudaStreamDestroy_v3020_params {
  cudaStream_t stream;
};
struct cudaEventElapsedTime_v3020_params {
  float* ms;
  cudaEvent_t start, end;
};
struct cudaMemPrefetchAsync_v8000_params {
  const void* devPtr;
  size_t count;
  int dstDevice;
  cudaStream_t stream;
};
struct cudaGraphInstantiate_v10000_params {
  cudaGraphExec_t* pGraphExec;
  cudaGraph_t graph;
  cudaGraphNode_t* pErrorNode;
  char* pLogBuffer;
  size_t bufferSize;
};
struct SemaphoresParams {
  const void* extSemArray;
  const void* paramsArray;
  unsigned int numExtSems;
  cudaStream_t stream;
};
using cudaSignalExternalSemaphoresAsync_v10000_params = SemaphoresParams;
using cudaWaitExternalSemaphoresAsync_v10000_params = SemaphoresParams;
struct CopyBatchParams {
  void** dsts;
  void** srcs;
  size_t* sizes;
  size_t count;
  void* attrs;
  size_t* attrsIdxs;
  size_t numAttrs;
  size_t* failIdx;
  cudaStream_t stream;
};
using cudaMemcpyBatchAsync_v12080_params = CopyBatchParams;
struct Copy3DBatchParams {
  size_t numOps;
  void* opList;
  size_t* failIdx;
  unsigned long long flags;
  cudaStream_t stream;
};
using cudaMemcpy3DBatchAsync_v12080_params = Copy3DBatchParams;
// Called by the code that nvcc 13 emits for <<<>>>; CUPTI reports it as cudaLaunchKernel so far.
struct LaunchParams {
  const void* kernel;
  dim3 gridDim, blockDim;
  void** args;
  size_t sharedMem;
  cudaStream_t stream;
};
using __cudaLaunchKernel_v13000_params = LaunchParams;
struct cudaThreadSynchronize_v3020_params {};
struct cudaDeviceSynchronize_v3020_params {};
struct cudaDeviceReset_v3020_params {};
struct cudaProfilerStart_v4000_params {};
struct cudaProfilerStop_v4000_params {};
struct cuCtxSynchronize_params {};
struct cuCtxSynchronize_v2_params {};
struct cuProfilerStart_params {};
struct cuProfilerStop_params {};
struct cuMemHostAlloc_v2_params {
  void** pp;
  size_t bytesize;
  unsigned int Flags;
};

// What the expressions of calls.def may use.

template <class T>
uint64_t bits(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<uintptr_t>(value);
  } else if constexpr (std::is_same_v<T, std::nullptr_t>) {
    return 0;
  } else {
    return static_cast<uint64_t>(value);
  }
}

constexpr uint64_t none = 0;

uint64_t stream_facts(unsigned flags, int priority) {
  return flags | static_cast<uint64_t>(static_cast<uint32_t>(priority)) << 32;
}

uint64_t volume(const cudaExtent& extent) {
  return uint64_t{extent.width} * extent.height * extent.depth;
}

uint64_t sum(const size_t* sizes, size_t count) {
  uint64_t total = 0;
  if (sizes != nullptr) {
    for (size_t i = 0; i < count; ++i) total += sizes[i];
  }
  return total;
}

template <class T>
uint64_t copy_bytes(const T* copy) {
  return copy != nullptr ? volume(copy->extent) : 0;
}

template <class T>
uint64_t plane_bytes(const T* copy) {
  return copy != nullptr ? uint64_t{copy->WidthInBytes} * copy->Height : 0;
}

template <class T>
uint64_t volume_bytes(const T* copy) {
  return copy != nullptr ? plane_bytes(copy) * copy->Depth : 0;
}

// cudaMemcpyKind of a copy whose ends are described by memory types.
template <class T>
uint64_t copy_kind(const T* copy) {
  if (copy == nullptr || copy->srcMemoryType == CU_MEMORYTYPE_UNIFIED ||
      copy->dstMemoryType == CU_MEMORYTYPE_UNIFIED)
    return cudaMemcpyDefault;
  return (copy->srcMemoryType == CU_MEMORYTYPE_HOST ? 0 : 2) +
         (copy->dstMemoryType == CU_MEMORYTYPE_HOST ? 0 : 1);
}

// How the fields of one line of calls.def are read. `P` is the line's parameter struct, also for
// the variants with per-thread default streams: the toolkit gives them structs of the same layout,
// but not always the same names.
#define STREAMSCOPE_RULE(rule, stream_expression, object_expression, value_expression) \
  struct rule {                                                                        \
    template <class P>                                                                 \
    static void read(const void* parameters, bool exit, CallValues& values) {          \
      [[maybe_unused]] const P& p = *static_cast<const P*>(parameters);                \
      [[maybe_unused]] auto out = [exit](auto* at) {                                   \
        return exit && at != nullptr ? bits(*at) : 0;                                  \
      };                                                                               \
      [[maybe_unused]] auto pitched = [exit](const cudaPitchedPtr* at) {               \
        return exit && at != nullptr ? bits(at->ptr) : 0;                              \
      };                                                                               \
      values.stream = bits(stream_expression);                                         \
      values.object = bits(object_expression);                                         \
      values.value = bits(value_expression);                                           \
    }                                                                                  \
  };
#define CALL_RUNTIME(name, version, kind, stream, object, value) \
  STREAMSCOPE_RULE(Rule_##name##_##version, stream, object, value)
#define CALL_DRIVER(name, kind, stream, object, value) \
  STREAMSCOPE_RULE(Rule_##name, stream, object, value)
#define CALL_SIM(name, kind)
#include "ring/calls.def"

// CallId of each line, and what of it does not depend on the callback id.
enum Line : CallId {
#define CALL_RUNTIME(name, version, kind, stream, object, value) kLine_##name##_##version,
#define CALL_DRIVER(name, kind, stream, object, value) kLine_##name,
#define CALL_SIM(name, kind) kLine_##name,
#include "ring/calls.def"
};

struct LineFacts {
  CallKind kind;
  bool has_output;
};

constexpr bool mentions_output(std::string_view fields) {
  return fields.find("out(") != fields.npos || fields.find("pitched(") != fields.npos;
}

constexpr LineFacts kLines[] = {
#define CALL_RUNTIME(name, version, kind, stream, object, value) \
  {CallKind::kind, mentions_output(#stream " " #object)},
#define CALL_DRIVER(name, kind, stream, object, value) \
  {CallKind::kind, mentions_output(#stream " " #object)},
#define CALL_SIM(name, kind) {CallKind::kind, false},
#include "ring/calls.def"
};

constexpr uint8_t kind_flags(CallKind kind) {
  switch (kind) {
    case CallKind::kLaunch:
    case CallKind::kMemcpyAsync:
    case CallKind::kMemset:
    case CallKind::kMemsetAsync:
    case CallKind::kGraphLaunch:
    case CallKind::kEventRecord:
      return kEntryWork;
    case CallKind::kMemcpy:
      return kEntryWork | kEntryStack;
    case CallKind::kEventCreate:
    case CallKind::kEventDestroy:
    case CallKind::kStreamCreate:
    case CallKind::kStreamDestroy:
    case CallKind::kGraphInstantiate:
    case CallKind::kGraphDestroy:
    case CallKind::kDeviceReset:
      return kEntryIdentity;
    case CallKind::kEventSynchronize:
    case CallKind::kStreamSynchronize:
    case CallKind::kDeviceSynchronize:
      return kEntryStack;
    default:
      return 0;
  }
}

template <class Rule, class P>
constexpr CallEntry entry(CallId line, uint8_t flags) {
  return {&Rule::template read<P>, line, kLines[line].kind,
          static_cast<uint8_t>(flags | kEntryTraced | kind_flags(kLines[line].kind) |
                               (kLines[line].has_output ? kEntryOutput : 0))};
}

using RuntimeTable = std::array<CallEntry, CUPTI_RUNTIME_TRACE_CBID_SIZE>;
using DriverTable = std::array<CallEntry, CUPTI_DRIVER_TRACE_CBID_SIZE>;

constexpr RuntimeTable kRuntimeCalls = [] {
  RuntimeTable table{};
#define CALL_ID_RUNTIME(cbid, name, version, per_thread)                                  \
  table[CUPTI_RUNTIME_TRACE_CBID_##cbid] =                                                \
      entry<Rule_##name##_##version, name##_##version##_params>(kLine_##name##_##version, \
                                                                per_thread ? kEntryPerThread : 0);
#define CALL_ID_DRIVER(cbid, name, per_thread)
#include "call_ids.inc"
#undef CALL_ID_RUNTIME
#undef CALL_ID_DRIVER
  return table;
}();

constexpr DriverTable kDriverCalls = [] {
  DriverTable table{};
#define CALL_ID_RUNTIME(cbid, name, version, per_thread)
#define CALL_ID_DRIVER(cbid, name, per_thread)                               \
  table[CUPTI_DRIVER_TRACE_CBID_##cbid] = entry<Rule_##name, name##_params>( \
      kLine_##name, kEntryDriver | (per_thread ? kEntryPerThread : 0));
#include "call_ids.inc"
#undef CALL_ID_RUNTIME
#undef CALL_ID_DRIVER
  return table;
}();

}  // namespace

std::span<const CallEntry> runtime_calls() { return kRuntimeCalls; }
std::span<const CallEntry> driver_calls() { return kDriverCalls; }

}  // namespace streamscope::collect
