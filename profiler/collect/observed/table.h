// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A table in device memory, its spill, its launches, and the streams whose work must end before it
// is read.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collect/observed/sanitizer_library.h"
#include "collect/observed/touch_table.h"

namespace streamscope::collect {

/// Of a small table: 8 MiB, which stay in the cache of the device, where most kernels find them.
inline constexpr uint64_t kSmallSlots = 1 << 17;
/// Of a large one: 100 MiB, of which a copy of 256 MiB fills 64 %.
inline constexpr uint64_t kLargeSlots = 1'650'000;

/// Of a spill: 256 MiB of host memory, of which random granules fill 76 % before one finds no slot.
inline constexpr uint64_t kSpillSlots = 1 << 22;

/// What a table is to be filled with at most, so that granules find a slot nearby.
constexpr uint64_t most_slots(uint64_t capacity) { return capacity / 10 * 7; }

/// The call that made a launch, and its kernel.
struct Launch {
  uint32_t call_number = 0;
  uint64_t begin = 0;  // ticks
  CUfunction function = nullptr;
  uint64_t threads = 0;
  bool of_graph = false;  // one of the kernels of a graph launch
  uint8_t code = 0;       // KernelSignals, CodeTraits
};

/// A stream with launches in a table, and how their end is known: the stream is idle, or has passed
/// a mark that was recorded after them.
struct StreamOfTable {
  uint64_t handle = 0;
  uint64_t since = 0;  // ticks: when a call used it last
  SanitizerStream own = nullptr;
  enum State { kRuns, kGetsMark, kMarked, kDone } state = kRuns;
  CUevent mark = nullptr;

  /// Whether its launches have ended, as far as the driver tells now. Its context is current.
  bool is_done() const;
};

/// Not thread-safe.
struct Table {
  enum { kFree, kFilling, kClosed } state = kFree;
  TouchTable* device = nullptr;  // in device memory; null: not made yet
  TouchTable header = {};        // what it is when empty
  TouchTable spill = {};         // what its spill is when empty; without slots: it has none
  std::vector<Launch> launches;
  std::vector<StreamOfTable> streams;
  uint64_t expected_slots = 0;  // of the launches
  uint32_t being_launched = 0;  // calls that have not returned, so their streams may still be idle
  int64_t since_ns = 0;         // of the first launch

  /// In a callback, with a stream of the context. Null, or what failed. If the host lacks memory
  /// for the spill, a launch that finds no room in the table is not known.
  const char* make(CUcontext context, SanitizerStream stream, uint64_t slots);
  /// Expected slots from which another table shall take over.
  uint64_t full_slots() const { return most_slots(header.capacity); }
  /// A launch in this stream that may fill so many slots. Its place; null if there is none.
  TouchLaunch* add(const Launch& launch, uint64_t stream, SanitizerStream own, uint64_t slots);
  bool is_nearly_full() const;
  /// Handles are used again: the entry of one that ended has a mark.
  StreamOfTable* find(uint64_t handle, StreamOfTable::State stream_state);
  /// It was read and emptied. Returns what its launches were.
  std::vector<Launch> reuse();
};

/// One handle for each default stream.
inline uint64_t normal_stream(uint64_t handle) {
  return handle == 0 ? reinterpret_cast<uintptr_t>(CU_STREAM_LEGACY) : handle;
}

}  // namespace streamscope::collect
