// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Maps a CUPTI callback id to what is recorded of the call: two flat tables made from calls.def and
// the toolkit.
#pragma once

#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>

#include <array>
#include <cstdint>

#include "ring/calls.h"

namespace streamscope::collect {

/// Fields of a CallRecord that come from the call's parameters.
struct CallValues {
  uint64_t stream = 0;
  uint64_t object = 0;
  uint64_t value = 0;
};

/// One side of a copy, or what a memset fills: rows of `bytes` that are `pitch` apart. No bytes:
/// not memory with an address.
struct MemoryEnd {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t pitch = 0;
};

/// Receives what a call's work accesses.
class AccessSink {
 public:
  /// Both ends have as many rows. A memset has no source.
  virtual void touches(const MemoryEnd& source, const MemoryEnd& destination, uint32_t rows) = 0;

 protected:
  ~AccessSink() = default;
};

enum CallEntryFlags : uint16_t {
  kEntryPerThread = 1 << 0,  // the variant for per-thread default streams
  kEntryDriver = 1 << 1,     // a function of the driver
  kEntryOutput = 1 << 2,     // the call stores a field: read the parameters again at its exit
  kEntryWork = 1 << 3,       // puts work on a device, whose times CUPTI reports
  kEntryIdentity =
      1 << 4,            // creates or destroys a stream, event or graph: recorded also while paused
  kEntryStack = 1 << 5,  // may block the host or take long: its call stack is recorded
  kEntryTraced = 1 << 6,     // every entry that is traced
  kEntryAccesses = 1 << 7,   // a copy or memset: see `accesses`
  kEntryEnds = 1 << 8,       // destroys a stream, an event, or everything in a context or a module
  kEntryAllocates = 1 << 9,  // gives the program memory: `object` is its address, `value` its size
  kEntryFollowed = 1 << 10,  // begins or ends the recording, with --capture-range cudaProfilerApi
};

struct CallFacts {
  ring::CallId id = 0;
  CallKind kind = CallKind::kOther;
  uint16_t flags = 0;  // CallEntryFlags
};

struct CallEntry : CallFacts {
  /// Reads the parameters; `exit`: the call has succeeded and its outputs are valid. Null: not
  /// traced.
  void (*read)(const void* parameters, bool exit, CallValues& values) = nullptr;
  /// Reports which memory the work accesses; not null with kEntryAccesses.
  void (*accesses)(const void* parameters, AccessSink& sink) = nullptr;
};

/// Tables by callback id.
extern const std::array<CallEntry, CUPTI_RUNTIME_TRACE_CBID_SIZE> runtime_calls;
extern const std::array<CallEntry, CUPTI_DRIVER_TRACE_CBID_SIZE> driver_calls;

}  // namespace streamscope::collect
