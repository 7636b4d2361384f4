// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/calls/call_table.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>  // defines the parameter structs of both APIs

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>
#include <utility>

#include "collect/calls/bits.h"

namespace streamscope::collect {
namespace {

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

// What the statements of accesses.def can use.

constexpr MemoryEnd nothing{};  // NOLINT(readability-identifier-naming)

template <class T>
MemoryEnd bytes_at(T address, uint64_t bytes) {
  return {bits(address), bytes, 0};
}

struct Rows {
  MemoryEnd end;
  uint64_t count = 1;
};
template <class T>
Rows rows_at(T address, uint64_t pitch, uint64_t width, uint64_t height) {
  if (width == pitch || height == 1) return {bytes_at(address, width * height), 1};
  return {{bits(address), width, static_cast<uint32_t>(pitch)}, height};
}

// A box in memory whose slices are `slice` apart: rows, if the slices are contiguous.
struct Box {
  uint64_t address = 0, pitch = 0, slice = 0;
};
// Maximum number of slices reported one by one.
constexpr uint64_t kSlicesReported = 64;

class Accesses {
 public:
  explicit Accesses(AccessSink& sink) : sink_(sink) {}

  void copy(const MemoryEnd& source, const MemoryEnd& destination, uint64_t rows = 1) const {
    sink_.touches(source, destination, static_cast<uint32_t>(rows));
  }
  // Pitches differ, so one end may be contiguous and the other not.
  void copy(Rows source, Rows destination) const {
    const uint64_t rows = std::max(source.count, destination.count);
    for (Rows* end : {&source, &destination}) {
      if (end->count == rows || end->end.bytes == 0) continue;
      end->end.bytes /= rows;
      end->end.pitch = static_cast<uint32_t>(end->end.bytes);
    }
    copy(source.end, destination.end, rows);
  }
  void copy(const Rows& source, const MemoryEnd& none) const { copy(source, Rows{none}); }
  void copy(const MemoryEnd& none, const Rows& destination) const { copy(Rows{none}, destination); }
  void set(const MemoryEnd& destination) const { copy(nothing, destination); }
  void set(const Rows& destination) const { copy(nothing, destination); }

  template <class Batch>
  void copy_batch(const Batch& p) const {
    if (p.srcs == nullptr || p.dsts == nullptr || p.sizes == nullptr) return;
    for (size_t i = 0; i < p.count; ++i)
      copy(bytes_at(p.srcs[i], p.sizes[i]), bytes_at(p.dsts[i], p.sizes[i]));
  }
  void set_volume(const cudaPitchedPtr& to, const cudaExtent& extent) const {
    copy_boxes({}, {bits(to.ptr), to.pitch, to.pitch * to.ysize}, extent.width, extent.height,
               extent.depth);
  }
  template <class Copy>
  void copy_volume(const Copy* p) const {
    // An extent is in elements if an array is involved; their size is not known here.
    if (p == nullptr || p->srcArray != nullptr || p->dstArray != nullptr) return;
    const auto box = [](const cudaPitchedPtr& at, const cudaPos& from) {
      const uint64_t slice = uint64_t{at.pitch} * at.ysize;
      return Box{bits(at.ptr) + from.x + from.y * at.pitch + from.z * slice, at.pitch, slice};
    };
    copy_boxes(box(p->srcPtr, p->srcPos), box(p->dstPtr, p->dstPos), p->extent.width,
               p->extent.height, p->extent.depth);
  }
  template <class Copy>
  void copy_plane(const Copy* p) const {
    if (p == nullptr) return;
    copy_boxes(
        {origin(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcXInBytes + p->srcY * p->srcPitch),
         p->srcPitch, 0},
        {origin(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstXInBytes + p->dstY * p->dstPitch),
         p->dstPitch, 0},
        p->WidthInBytes, p->Height, 1);
  }
  template <class Copy>
  void copy_planes(const Copy* p) const {
    if (p == nullptr) return;
    const uint64_t from = uint64_t{p->srcPitch} * p->srcHeight,
                   to = uint64_t{p->dstPitch} * p->dstHeight;
    copy_boxes({origin(p->srcMemoryType, p->srcHost, p->srcDevice,
                       p->srcXInBytes + p->srcY * p->srcPitch + p->srcZ * from),
                p->srcPitch, from},
               {origin(p->dstMemoryType, p->dstHost, p->dstDevice,
                       p->dstXInBytes + p->dstY * p->dstPitch + p->dstZ * to),
                p->dstPitch, to},
               p->WidthInBytes, p->Height, p->Depth);
  }

 private:
  template <class Type, class Host, class Device>
  static uint64_t origin(Type type, Host host, Device device, uint64_t offset) {
    const bool on_host = type == static_cast<Type>(CU_MEMORYTYPE_HOST);
    if (type == static_cast<Type>(CU_MEMORYTYPE_ARRAY)) return 0;
    return (on_host ? bits(host) : bits(device)) + offset;
  }
  static Rows end(const Box& box, uint64_t slice, uint64_t width, uint64_t height) {
    if (box.address == 0) return {};
    return rows_at(box.address + slice * box.slice, box.pitch, width, height);
  }
  void copy_boxes(const Box& from, const Box& to, uint64_t width, uint64_t height,
                  uint64_t depth) const {
    const auto stacked = [&](const Box& box) {
      return box.address == 0 || box.slice == box.pitch * height;
    };
    if (stacked(from) && stacked(to)) height *= std::exchange(depth, 1);
    for (uint64_t slice = 0; slice < std::min(depth, kSlicesReported); ++slice)
      copy(end(from, slice, width, height), end(to, slice, width, height));
  }

  AccessSink& sink_;
};

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

// What the lines access; null for those without a line in accesses.def.
template <class Rule>
struct RuleAccesses {
  template <class P>
  static constexpr void (*read())(const void*, AccessSink&) {
    return nullptr;
  }
};
#define ACCESS(line, ...)                                       \
  template <>                                                   \
  struct RuleAccesses<Rule_##line> {                            \
    template <class P>                                          \
    struct Of : Accesses {                                      \
      using Accesses::Accesses;                                 \
      void report(const P& p) const { __VA_ARGS__; }            \
    };                                                          \
    template <class P>                                          \
    static constexpr void (*read())(const void*, AccessSink&) { \
      return [](const void* parameters, AccessSink& sink) {     \
        Of<P>(sink).report(*static_cast<const P*>(parameters)); \
      };                                                        \
    }                                                           \
  };
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

constexpr bool allocates(CallKind kind) {
  return kind == CallKind::kMalloc || kind == CallKind::kMallocAsync;
}

constexpr int kind_flags(CallKind kind) {
  return (ring::issues_work(kind) ? kEntryWork : 0) | (ring::blocks_host(kind) ? kEntryStack : 0) |
         (makes_or_ends(kind) ? kEntryIdentity : 0) | (ends(kind) ? kEntryEnds : 0) |
         (allocates(kind) ? kEntryAllocates : 0);
}

template <class Rule, class P>
constexpr CallEntry entry(CallId line, int flags) {
  constexpr auto kAccesses = RuleAccesses<Rule>::template read<P>();
  const LineFacts& facts = kLines[line];
  return {&Rule::template read<P>, kAccesses, line, facts.kind,
          static_cast<uint16_t>(flags | kind_flags(facts.kind) | kEntryTraced |
                                (kAccesses != nullptr ? kEntryAccesses : 0) |
                                (facts.ends_many ? kEntryEnds : 0) |
                                (facts.has_output ? kEntryOutput : 0))};
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

constinit const std::span<const CallEntry> runtime_calls{kRuntimeCalls};
constinit const std::span<const CallEntry> driver_calls{kDriverCalls};

}  // namespace streamscope::collect
