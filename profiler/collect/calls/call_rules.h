// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The lines of calls.def as code: how the fields of a call are read from its parameters, and its
// facts. For those that know at compile time which function is called; all others use the tables.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>
// The parameter structs of both APIs. cupti.h itself cannot be read where cuda.h declares all
// versions.
#ifdef __CUDA_API_VERSION_INTERNAL
#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>
#include <generated_cuda_meta.h>
#include <generated_cuda_runtime_api_meta.h>
#else
#include <cupti.h>
#endif

#include <string_view>

#include "collect/calls/bits.h"
#include "collect/calls/call_table.h"
#include "vocabulary/call_place.h"

namespace streamscope::collect::rules {

using ring::CallId;

// Parameters of functions that newer toolkits no longer declare. The layouts are those of the
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

// What the expressions of calls.def can use.

constexpr uint64_t none = 0;  // NOLINT(readability-identifier-naming)

inline uint64_t stream_facts(unsigned flags, int priority) {
  return flags | static_cast<uint64_t>(static_cast<uint32_t>(priority)) << 32;
}

inline uint64_t volume(const cudaExtent& extent) {
  return uint64_t{extent.width} * extent.height * extent.depth;
}

inline uint64_t sum(const size_t* sizes, size_t count) {
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
// but not always of the same name.
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

/// Lines that copy or set memory: see accesses.def.
template <class Rule>
inline constexpr bool kAccesses = false;
#define ACCESS(line, ...) \
  template <>             \
  inline constexpr bool kAccesses<Rule_##line> = true;
#include "collect/calls/accesses.def"

// CallId of each line, and its properties that do not depend on the callback id.
enum Line : CallId {
#define CALL_RUNTIME(name, version, kind, stream, object, value) kLine_##name##_##version,
#define CALL_DRIVER(name, kind, stream, object, value) kLine_##name,
#define CALL_SIM(name, kind) kLine_##name,
#include "ring/calls.def"
};

struct LineFacts {
  CallKind kind;
  bool has_output;
  bool ends_many;
};

constexpr bool mentions_output(std::string_view fields) {
  return fields.find("out(") != fields.npos || fields.find("pitched(") != fields.npos;
}

// Calls of the driver that destroy a context or a module with everything in it, or may do so.
constexpr bool ends_many(std::string_view name) {
  return name == "cuCtxDetach" || name.starts_with("cuCtxDestroy") ||
         name.starts_with("cuGreenCtxDestroy") || name.starts_with("cuDevicePrimaryCtxRelease") ||
         name == "cuModuleUnload" || name == "cuLibraryUnload";
}

constexpr LineFacts kLines[] = {
#define CALL_RUNTIME(name, version, kind, stream, object, value) \
  {CallKind::kind, mentions_output(#stream " " #object), false},
#define CALL_DRIVER(name, kind, stream, object, value) \
  {CallKind::kind, mentions_output(#stream " " #object), ends_many(#name)},
#define CALL_SIM(name, kind) {CallKind::kind, false, false},
#include "ring/calls.def"
};

constexpr bool makes_or_ends(CallKind kind) {
  switch (kind) {
    case CallKind::kEventCreate:
    case CallKind::kEventDestroy:
    case CallKind::kStreamCreate:
    case CallKind::kStreamDestroy:
    case CallKind::kGraphInstantiate:
    case CallKind::kGraphDestroy:
    case CallKind::kDeviceReset:
      return true;
    default:
      return false;
  }
}

constexpr bool ends(CallKind kind) {
  return kind == CallKind::kEventDestroy || kind == CallKind::kStreamDestroy ||
         kind == CallKind::kDeviceReset;
}

constexpr bool begins_or_ends_recording(CallKind kind) {
  return kind == CallKind::kProfilerStart || kind == CallKind::kProfilerStop;
}

// Allocations and code loading take so long that a stack costs little beside them.
constexpr bool takes_long(CallKind kind) {
  return kind == CallKind::kMalloc || kind == CallKind::kFree || kind == CallKind::kModuleLoad;
}

constexpr int kind_flags(CallKind kind) {
  return (ring::issues_work(kind) ? kEntryWork : 0) |
         (ring::blocks_host(kind) || takes_long(kind) ? kEntryStack : 0) |
         (begins_or_ends_recording(kind) ? kEntryFollowed : 0) |
         (makes_or_ends(kind) ? kEntryIdentity : 0) | (ends(kind) ? kEntryEnds : 0) |
         (allocates_memory(kind) ? kEntryAllocates : 0);
}

/// A traced function of this line, whose parameters are laid out as `P`.
template <class R, class P, CallId kLine, int kFlags>
struct Call {
  using Rule = R;
  using Parameters = P;
  /// As CallEntry::read.
  static void read(const void* parameters, bool exit, CallValues& values) {
    Rule::template read<P>(parameters, exit, values);
  }
  static constexpr CallFacts kFacts{
      kLine, kLines[kLine].kind,
      static_cast<uint16_t>(kFlags | kind_flags(kLines[kLine].kind) | kEntryTraced |
                            (kAccesses<Rule> ? kEntryAccesses : 0) |
                            (kLines[kLine].ends_many ? kEntryEnds : 0) |
                            (kLines[kLine].has_output ? kEntryOutput : 0))};
};

/// By callback id.
template <CUpti_runtime_api_trace_cbid kId>
struct RuntimeCall;
template <CUpti_driver_api_trace_cbid kId>
struct DriverCall;
#define CALL_ID_RUNTIME(cbid, name, version, per_thread)                                   \
  template <>                                                                              \
  struct RuntimeCall<CUPTI_RUNTIME_TRACE_CBID_##cbid>                                      \
      : Call<Rule_##name##_##version, name##_##version##_params, kLine_##name##_##version, \
             per_thread ? kEntryPerThread : 0> {};
#define CALL_ID_DRIVER(cbid, name, per_thread)         \
  template <>                                          \
  struct DriverCall<CUPTI_DRIVER_TRACE_CBID_##cbid>    \
      : Call<Rule_##name, name##_params, kLine_##name, \
             kEntryDriver | (per_thread ? kEntryPerThread : 0)> {};
#include "call_ids.inc"
#undef CALL_ID_RUNTIME
#undef CALL_ID_DRIVER

}  // namespace streamscope::collect::rules
