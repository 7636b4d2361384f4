// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace faults {

/// What a call does; a persistent fault affects every call of its kinds. The driver has the same
/// numbers.
enum Kinds : uint32_t {
  kOther = 0,
  kRead = 1,         // reads a file's data
  kWrite = 2,        // writes a file's data
  kSpace = 4,        // takes disk space
  kName = 8,         // makes, changes or removes a name
  kDescriptor = 16,  // takes a descriptor
  kMapping = 32,     // takes address space
  kTask = 64,        // starts a thread or process
  kSync = 128,       // waits for the disk
  kLook = 256,       // queries a file
  kHeap = 512,       // takes memory from the heap
};

enum class Action : uint32_t { kNothing, kCount, kError, kShort, kKillBefore, kKillAfter };

struct Slot {
  std::atomic<uint64_t> key;
  std::atomic<uint64_t> count;
};

constexpr uint64_t kSlots = 1 << 14;

struct Table {
  Action action;
  int32_t error;    // errno of kError
  uint32_t sticky;  // kinds that fail from then on; 0: this once
  uint32_t heap;    // count and fail allocations as well
  uint64_t wanted;  // hash of call and place
  uint64_t nth;     // which of its calls, from 1
  std::atomic<uint64_t> hits;
  std::atomic<uint64_t> fired;
  Slot slots[kSlots];
};

struct Verdict {
  int error = 0;
  bool is_short = false;
  bool kill_after = false;
};

/// The fault for a call that `caller` makes. `file` is its descriptor, or -1.
Verdict decide(const char* call, uint32_t kinds, const void* caller, int file);

/// From here on calls of `streamscope` itself count.
void main_begins();

/// Ends this process as kill -9 does.
[[noreturn]] void die();

}  // namespace faults
