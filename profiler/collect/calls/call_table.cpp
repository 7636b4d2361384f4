// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/calls/call_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "collect/calls/bits.h"
#include "collect/calls/call_rules.h"

namespace streamscope::collect {
namespace {

using namespace rules;

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

template <class Call>
constexpr CallEntry entry_of() {
  return {Call::kFacts, &Call::read,
          RuleAccesses<typename Call::Rule>::template read<typename Call::Parameters>()};
}

}  // namespace

constinit const std::array<CallEntry, CUPTI_RUNTIME_TRACE_CBID_SIZE> runtime_calls = [] {
  std::array<CallEntry, CUPTI_RUNTIME_TRACE_CBID_SIZE> table{};
#define CALL_ID_RUNTIME(cbid, name, version, per_thread) \
  table[CUPTI_RUNTIME_TRACE_CBID_##cbid] = entry_of<RuntimeCall<CUPTI_RUNTIME_TRACE_CBID_##cbid>>();
#define CALL_ID_DRIVER(cbid, name, per_thread)
#include "call_ids.inc"
#undef CALL_ID_RUNTIME
#undef CALL_ID_DRIVER
  return table;
}();

constinit const std::array<CallEntry, CUPTI_DRIVER_TRACE_CBID_SIZE> driver_calls = [] {
  std::array<CallEntry, CUPTI_DRIVER_TRACE_CBID_SIZE> table{};
#define CALL_ID_RUNTIME(cbid, name, version, per_thread)
#define CALL_ID_DRIVER(cbid, name, per_thread) \
  table[CUPTI_DRIVER_TRACE_CBID_##cbid] = entry_of<DriverCall<CUPTI_DRIVER_TRACE_CBID_##cbid>>();
#include "call_ids.inc"
#undef CALL_ID_RUNTIME
#undef CALL_ID_DRIVER
  return table;
}();

}  // namespace streamscope::collect
