// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/process/thread_state.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "collect/process/memory.h"
#include "collect/process/session.h"
#include "collect/stacks/python_frames.h"
#include "ring/image.h"

namespace streamscope::collect {

constinit thread_local ThreadSlot thread_slot{};  // `exit_key` gives the ring back

namespace {

using ring::TextHash;

struct Pool {
  std::mutex mutex;
  ThreadState* all = nullptr;
  ThreadState* free = nullptr;
  uint32_t next_index = 0;
  bool knows_image = false;  // session.image is set
  pthread_key_t exit_key = 0;
  bool has_key = false;
};
constinit Pool pool;

constinit std::atomic<uint32_t> threads{0};          // that got a ring, including ended ones
constinit std::atomic<uint32_t> refused_threads{0};  // that got no ring
constinit std::atomic<int> refusal{0};               // errno of the last of them

// Hashes of the texts already sent. Open addressing, insert only; 0 is empty.
constexpr size_t kTextSlots = 1 << 16;
constexpr uint64_t kForgotten = ~uint64_t{0};
constinit std::atomic<uint64_t> sent_texts[kTextSlots] = {};

// True if the caller must send the text. False only if some thread sent it or is sending it.
bool claim_text(TextHash hash, std::atomic<uint64_t>** slot) {
  *slot = nullptr;
  if (hash == kForgotten) return true;
  for (size_t i = 0; i < 64; ++i) {
    std::atomic<uint64_t>& at = sent_texts[(hash + i) % kTextSlots];
    uint64_t seen = at.load(std::memory_order_relaxed);
    if (seen == hash) return false;
    if (seen == 0) {
      if (at.compare_exchange_strong(seen, hash, std::memory_order_relaxed)) {
        *slot = &at;
        return true;
      }
      if (seen == hash) return false;
    }
  }
  return true;  // crowded: sending a text twice does no harm
}

bool send_chunks(ThreadState& thread, TextHash hash, std::string_view text) {
  ring::TextRecord record{};
  record.kind = ring::RecordKind::kText;
  record.total_bytes = static_cast<uint32_t>(text.size());
  record.hash = hash;
  for (size_t offset = 0; offset < text.size(); offset += sizeof record.bytes) {
    std::string_view chunk = text.substr(offset, sizeof record.bytes);
    record.chunk_bytes = static_cast<uint16_t>(chunk.size());
    record.offset = static_cast<uint32_t>(offset);
    std::memcpy(record.bytes, chunk.data(), chunk.size());
    if (!thread.push(record)) return false;
  }
  return true;
}

void announce(ThreadState& thread) {
  char name[17] = {};
  ::prctl(PR_GET_NAME, name, 0, 0, 0);
  ring::ThreadRecord record{};
  record.kind = ring::RecordKind::kThread;
  record.tid = thread.tid;
  record.begin = ticks();
  record.name = send_text(thread, name);
  describe_python(record);
  thread.push(record);
}

ring::Producer create_ring(uint32_t index, uint64_t capacity, int* error) {
  return ring::Producer::create(session.rings_folder, index, capacity, session.clock, error,
                                session.control->flight_recorder != 0);
}

// The first ring shows which image of the process this is: those of earlier images exist already.
ring::Producer create_first_ring(uint64_t capacity, int* error) {
  ring::Producer ring;
  uint32_t image = 0;
  do {
    ring = create_ring(image * ring::kRingsPerImage, capacity, error);
  } while (!ring.valid() && *error == EEXIST && ++image < UINT32_MAX / ring::kRingsPerImage);
  if (!ring.valid()) return ring;
  pool.knows_image = true;
  pool.next_index = image * ring::kRingsPerImage + 1;
  session.image.store(image, std::memory_order_release);
  return ring;
}

ThreadState* new_state(uint64_t capacity) {
  void* memory = permanent_memory(sizeof(ThreadState));
  if (memory == nullptr) return nullptr;
  auto* state = new (memory) ThreadState;
  int error = 0;
  uint32_t index;
  {
    std::lock_guard lock(pool.mutex);
    if (!pool.knows_image) {
      state->ring = create_first_ring(capacity, &error);
      index = 0;
    } else {
      index = pool.next_index++;
    }
  }
  if (index != 0) state->ring = create_ring(index, capacity, &error);
  if (!state->ring.valid()) {
    refusal.store(error, std::memory_order_relaxed);
    refused_threads.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  std::lock_guard lock(pool.mutex);
  state->next = pool.all;
  pool.all = state;
  return state;
}

void give_back(ThreadState* state) {
  state->open_entry = nullptr;
  state->begin_submission(ring::kNone32, 0);
  state->per_thread_contexts = 0;
  state->virtual_now = 0;
  state->open_call().close();
  state->ring.close();
  std::lock_guard lock(pool.mutex);
  state->next_free = pool.free;
  pool.free = state;
}

void thread_exits(void* pointer) {
  std::free(thread_slot.pending);
  thread_slot.pending = nullptr;
  auto* state = static_cast<ThreadState*>(pointer);
  if (state == nullptr || thread_slot.state != state) return;
  thread_slot.state = nullptr;
  give_back(state);
}

// A key whose value is not null makes `thread_exits` run; it can run again if the thread records
// again.
void watch_thread_exit(void* value) {
  {
    std::lock_guard lock(pool.mutex);
    if (!pool.has_key) pool.has_key = ::pthread_key_create(&pool.exit_key, thread_exits) == 0;
  }
  if (pool.has_key) ::pthread_setspecific(pool.exit_key, value);
}

}  // namespace

ThreadState* make_thread_state() {
  if (!running()) return nullptr;
  const uint32_t epoch = session.epoch.load(std::memory_order_relaxed) + 1;
  if (thread_slot.refused_epoch == epoch) return nullptr;
  ThreadState* state = nullptr;
  {
    std::lock_guard lock(pool.mutex);
    if (pool.free != nullptr) {
      state = pool.free;
      pool.free = state->next_free;
    }
  }
  const auto tid = static_cast<uint32_t>(::gettid());
  if (state != nullptr) {
    state->ring.reopen(tid);
  } else {
    state = new_state(session.control->ring_records);
    if (state == nullptr) {
      thread_slot.refused_epoch = epoch;
      return nullptr;
    }
  }
  state->tid = tid;
  thread_slot.state = state;
  if (threads.fetch_add(1, std::memory_order_relaxed) > 0)
    session.several_threads.store(true, std::memory_order_relaxed);
  watch_thread_exit(state);
  announce(*state);
  return state;
}

ThreadState* own_thread_state(uint64_t capacity) {
  ThreadState* state = new_state(capacity);
  if (state == nullptr) return nullptr;
  state->tid = static_cast<uint32_t>(::gettid());
  state->in_collector = true;
  thread_slot.state = state;
  announce(*state);
  return state;
}

bool RoomInRing::wait_for(uint64_t records) {
  constexpr int kMostMs = 500;
  for (int waited = 0;; ++waited) {
    if (thread_.ring.room() >= records) {
      stuck_ = false;
      return true;
    }
    if (stuck_ || waited == kMostMs) break;
    timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  stuck_ = true;
  return false;
}

TextHash send_text(ThreadState& thread, std::string_view text) {
  const TextHash hash = ring::hash_text(text);
  if (hash == 0) return 0;
  std::atomic<uint64_t>* slot;
  if (claim_text(hash, &slot) && !send_chunks(thread, hash, text) && slot != nullptr)
    slot->store(
        kForgotten,
        std::memory_order_relaxed);  // the ring was full: the next user of the text sends it
  return hash;
}

PendingRanges* pending_ranges(bool make) {
  if (thread_slot.pending == nullptr && make) {
    void* memory = std::malloc(sizeof(PendingRanges));
    if (memory == nullptr) return nullptr;
    thread_slot.pending = new (memory) PendingRanges;
    if (thread_slot.state == nullptr) watch_thread_exit(&thread_slot);
  }
  return thread_slot.pending;
}

int ring_refusal() { return refusal.load(std::memory_order_relaxed); }

void report_refused_threads() {
  if (uint32_t count = refused_threads.exchange(0))
    report_loss(ring::Loss::kNoThreadRing, count,
                std::strerror(refusal.load(std::memory_order_relaxed)));
}

void end_submission_of_another_thread(uint32_t operation) {
  std::lock_guard lock(pool.mutex);
  for (ThreadState* state = pool.all; state != nullptr; state = state->next) {
    uint32_t expected = operation;  // unless the thread has begun another one meanwhile
    if (state->operation() == operation)
      state->submission().operation.compare_exchange_strong(expected, ring::kNone32);
  }
}

uint64_t total_calls() {
  std::lock_guard lock(pool.mutex);
  uint64_t sum = 0;
  for (ThreadState* state = pool.all; state != nullptr; state = state->next)
    sum += state->calls.load(std::memory_order_relaxed);
  return sum;
}

void forget_threads_after_fork() {
  // The only thread of the child; the holder of the mutex does not exist here.
  new (&pool.mutex) std::mutex;
  pool.all = pool.free = nullptr;
  pool.next_index = 0;
  pool.knows_image = false;
  threads.store(0, std::memory_order_relaxed);
  session.several_threads.store(false, std::memory_order_relaxed);
  thread_slot.state = nullptr;
  thread_slot.refused_epoch = 0;
  for (std::atomic<uint64_t>& slot : sent_texts) {
    if (slot.load(std::memory_order_relaxed) != 0) slot.store(0, std::memory_order_relaxed);
  }
}

}  // namespace streamscope::collect
