// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Calls as a source sees them -> CallRecords: one per outermost traced call of a thread, pushed at
// its exit.
//
// There are two sources: CUPTI's callbacks (cupti/callbacks.h) and wrappers around the functions
// themselves (interposed/wrappers.h). A call inside a traced call is part of it and not recorded.
// Order across threads follows from the exit stamps alone (entry order is unreliable).
#pragma once

#include <cuda.h>

#include <cstdint>

#include "collect/calls/call_table.h"
#include "collect/process/session.h"
#include "collect/process/thread_state.h"

namespace streamscope::collect {

/// A call, as its source sees it at entry and again at exit.
struct SeenCall {
  const void* parameters = nullptr;     // laid out as CUPTI's parameter structs
  ring::TextHash kernel = 0;            // launches: the kernel's name, 0 if not known yet
  CUcontext context = nullptr;          // current in the thread; null: none
  uint32_t context_id = ring::kNone32;  // kNone32: none, or not known yet
  uint32_t number = 0;                  // unique in the process
  bool own_number = false;              // not CUPTI's
  uint64_t end = 0;                     // exit only: its stamp, by stamp_end(); 0: take it
};

/// Settings of the recorder that depend on the run. Call before the first call.
void prepare_call_recorder(bool late);

/// The calling thread is inside a traced call.
inline bool is_inside_a_call(const ThreadState* thread) {
  return thread != nullptr && thread->open_entry != nullptr;
}

/// Entry of an outermost call with these values. `thread`: null if it has no state yet. Returns the
/// state in which the call is open now, null if it is not recorded.
ThreadState* begin_call(ThreadState* thread, const CallEntry& entry, CallValues values,
                        const SeenCall& call);

/// Exit of the thread's open call, which is `call`.
void end_call(ThreadState& thread, const SeenCall& call, int32_t result);

/// Stamp for the exit of the thread's open call, for a source that has more to do before
/// end_call().
uint64_t stamp_end(ThreadState& thread);

/// The thread's open call launched a kernel with this successful call of the driver, itself or
/// inside: reports its parameters, with --with args.
void report_launch(ThreadState& thread, const CallEntry& entry, const void* parameters);

/// Hash of a kernel's name, sent once. `name` stays valid as long as its code is loaded.
ring::TextHash kernel_name(ThreadState& thread, const char* name);

/// Where the thread keeps the name of the kernel that this address stands for.
inline KernelNameSlot* kernel_set(ThreadState& thread, const void* address) {
  static_assert(kKernelSets == 256);
  const uint64_t hash = reinterpret_cast<uintptr_t>(address) * 0x9e3779b97f4a7c15ull;
  return &thread.kernel_names[hash >> 56 << 1];
}
/// The name as far as it is known, null if not.
inline const KernelNameSlot* find_kernel(ThreadState& thread, const void* address) {
  const KernelNameSlot* const set = kernel_set(thread, address);
  const uint32_t epoch = session.names_epoch.load(std::memory_order_relaxed);
  for (const KernelNameSlot* slot : {set, set + 1})
    if (slot->text == address && slot->epoch == epoch) return slot;
  return nullptr;
}
/// Keeps a name, in place of the older one of its set.
inline void keep_kernel(ThreadState& thread, const void* address, ring::TextHash hash) {
  KernelNameSlot* const set = kernel_set(thread, address);
  set[1] = set[0];
  set[0] = {static_cast<const char*>(address), hash,
            session.names_epoch.load(std::memory_order_relaxed)};
}

/// A stream is about to be destroyed.
void end_captured_stream(uint64_t handle);

void forget_calls_after_fork();

}  // namespace streamscope::collect
