// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The collector's state for each thread of the observed program: its ring, its open call, small
// caches.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "ring/ring.h"

namespace streamscope::collect {

struct CallEntry;
class WrapperFrame;
struct PythonNames;
struct WalkedStacks;
struct KernelParameters;

/// A range that was pushed while nothing was recorded; reported when recording begins.
struct PendingRange {
  uint64_t begin;
  uint64_t payload;
  uint64_t bytes;
  uint32_t peer;
  uint32_t color;
  uint16_t category;
  bool is_collective;
  uint16_t text_bytes;
  const void* domain;
  char text[72];
};

inline constexpr uint32_t kMaxPendingRanges = 32;

/// Sets of two names by address: frameworks launch hundreds of kernels in turn.
inline constexpr size_t kKernelSets = 256;

struct alignas(32) KernelNameSlot {
  const char* text = nullptr;
  ring::TextHash hash = 0;
  uint32_t epoch = 0;
};

/// A context and its number, as of an epoch of handles; with the stream that is known to be in it.
struct alignas(32) ContextSlot {
  uint64_t stream = 0;
  void* context = nullptr;
  uint32_t id = 0;
  uint32_t epoch = 0;
};

/// A call site of libcoord operations and the name of the last one, as sent. In a pair of cache
/// lines, of which most names need only the first.
struct alignas(128) CallSiteSlot {
  const char* file = nullptr;
  const char* function = nullptr;
  uint32_t line = 0;
  uint32_t epoch = 0;
  ring::TextHash call_site = 0;
  ring::TextHash name = 0;
  uint32_t text_bytes = 0;  // of `text`; 0 also if the name did not fit
  char text[36];
};

/// One per recorded thread; lives in a pool and is never freed, so that a late callback cannot
/// touch freed memory. What every call needs comes first, in two cache lines.
struct alignas(128) ThreadState {
  ring::Producer ring;
  const CallEntry* open_entry = nullptr;  // outermost traced call this thread is in, null outside
  uint64_t begin = 0;                     // its entry stamp
  uint32_t open_number = 0;               // its number; outside, that of the latest one
  bool in_collector = false;              // set while the collector itself calls CUDA or CUPTI
  std::atomic<uint64_t> calls{0};         // traced calls so far; only its thread counts
  // Of the source `interposed`; see interposed/interposed_calls.cpp.
  const WrapperFrame* interposed = nullptr;  // of the open call
  uint32_t next_number = 0;                  // numbers of calls that the thread has taken
  uint32_t end_of_numbers = 0;
  void* launched = nullptr;         // latest kernel that the open call launched
  ContextSlot known_context;        // the latest current one
  ContextSlot stream_contexts[16];  // by stream
  uint32_t legacy_calls = 0;        // see is_early_legacy_call()
  uint32_t tid = 0;
  uint64_t virtual_now = 0;  // end of its latest simulated call
  uint64_t per_thread_contexts =
      0;  // contexts (bit = id % 64) whose per-thread stream was reported
  alignas(64) KernelNameSlot kernel_names[2 * kKernelSets];  // kernel_slot()
  CallSiteSlot call_sites[16];
  KernelParameters* kernel_parameters = nullptr;  // created at the first launch, with --with args
  uint8_t launched_code = 0;              // of the kernel `launched` (observed/kernel_code.h), once
  PythonNames* python_names = nullptr;    // created at the first Python frame
  WalkedStacks* walked_stacks = nullptr;  // created at the first stack
  ThreadState* next = nullptr;            // all states of this process
  ThreadState* next_free = nullptr;

  void count_call() {
    calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  ring::OpenCall& open_call() const { return ring.header().open_call; }
  ring::Submission& submission() const { return ring.header().submission; }

  template <class T>
  bool push(const T& record) {
    return ring.push(record);
  }
  /// The same, for hot callers: `fill` writes the record in its final place.
  template <class T, class Fill>
  void push_in_place(Fill fill) {
    T* const place = ring.claim<T>();
    if (place == nullptr) return;
    fill(*place);
    ring.publish(place);
  }
  void push_state(uint32_t of, uint32_t state, uint8_t flags, uint64_t at) {
    push_in_place<ring::OperationStateRecord>([&](ring::OperationStateRecord& record) {
      record = {};
      record.kind = ring::RecordKind::kOperationState;
      record.flags = flags;
      record.state = static_cast<uint8_t>(state);
      record.operation = of;
      record.begin = at;
    });
  }
  /// The libcoord operation that this thread is submitting.
  uint32_t operation() const {
    return __builtin_expect(submission().ended.load(std::memory_order_relaxed) == 0, 1)
               ? submission().operation.load(std::memory_order_relaxed)
               : ring::kNone32;
  }
  /// Writes the end of the latest submission, if it has ended, as a record of its own.
  void push_submission_end() {
    const uint64_t ended = submission().ended.load(std::memory_order_relaxed);
    if (ended == 0) return;
    push_state(submission().operation.load(std::memory_order_relaxed),
               static_cast<uint32_t>(kOperationSubmitted),
               static_cast<uint8_t>(submission().flags.load(std::memory_order_relaxed)), ended);
  }
  /// From here on the thread submits this operation; kNone32: none.
  void begin_submission(uint32_t of, uint8_t flags) {
    push_submission_end();
    submission().begin(of, flags);
  }
};

struct PendingRanges;

/// What a thread of the program stores for the collector. Trivial, so that no C++ destructor runs
/// for it.
struct ThreadSlot {
  ThreadState* state;
  PendingRanges* pending;
  uint32_t refused_epoch;  // session epoch + 1 in which no ring could be created for this thread
};
extern constinit thread_local ThreadSlot thread_slot;

/// State of the calling thread if it has one already. Cheap.
inline ThreadState* existing_thread() { return thread_slot.state; }

/// What this_thread() does at a thread's first call.
ThreadState* make_thread_state();

/// State of the calling thread; created at its first call, null if there is no session or no ring
/// for it. Not for forked children of a recorded process before they start a session of their own.
inline ThreadState* this_thread() {
  ThreadState* state = existing_thread();
  return __builtin_expect(state != nullptr, 1) ? state : make_thread_state();
}

/// A state with a ring of `capacity` records for a thread of the collector itself.
ThreadState* own_thread_state(uint64_t capacity);

/// Room in the ring of a thread of the collector, which may wait for the writer where the program
/// must not.
class RoomInRing {
 public:
  explicit RoomInRing(ThreadState& thread) : thread_(thread) {}
  /// False if the writer does not make room for so many records in 0.5 s. Then it is not waited for
  /// again until there is.
  bool wait_for(uint64_t records);

 private:
  ThreadState& thread_;
  bool stuck_ = false;
};

/// Hash of `text` for a record; the bytes are sent once per process, through the ring of `thread`.
ring::TextHash send_text(ThreadState& thread, std::string_view text);

/// Ranges the calling thread opened while nothing was recorded.
struct PendingRanges {
  uint32_t count = 0;     // kept in `ranges`
  uint32_t overflow = 0;  // opened beyond those, names not kept
  PendingRange ranges[kMaxPendingRanges];
};
/// Null if there is none and `make` is false, or memory is low.
PendingRanges* pending_ranges(bool make);

/// Writes the loss for the threads that got no ring since the last time.
void report_refused_threads();
/// errno of the last ring that could not be created.
int ring_refusal();
/// Number of calls that all threads of this process have made so far.
uint64_t total_calls();

/// The thread that submits this operation no longer does so. Called on any other thread.
void end_submission_of_another_thread(uint32_t operation);
/// In a forked child: forgets all states without touching the parent's rings.
void forget_threads_after_fork();

}  // namespace streamscope::collect
