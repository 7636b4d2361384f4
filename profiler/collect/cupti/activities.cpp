// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/cupti/activities.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <new>
#include <span>

#include "collect/calls/call_table.h"
#include "collect/cupti/cupti_library.h"
#include "collect/cupti/decode.h"
#include "collect/process/gate.h"
#include "collect/process/memory.h"
#include "collect/process/session.h"
#include "collect/process/thread_state.h"

namespace streamscope::collect {

namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr size_t kScrapBytes = 64 << 10;
constexpr size_t kMaxBuffers = 256;         // 256 MiB: beyond that the writer is hopelessly behind
constexpr uint64_t kDecoderRingFactor = 4;  // the decoder's ring holds the records of all threads
constexpr int kFinishMs = 2000;
constexpr int kLeaveMs = 500;  // _exit() waits for the newest times, even in a signal handler
constexpr CuptiVersion kOverheadDataVersion = 24;  // records own malloc'ed data at least since 12.6

// A buffer and how much of it CUPTI had filled when it returned it. The records start 64 bytes in.
struct alignas(64) Buffer {
  Buffer* next;
  size_t valid_bytes;
  bool scrap;
  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(this) + 64; }
  static Buffer* of(uint8_t* bytes) { return reinterpret_cast<Buffer*>(bytes - 64); }
};
static_assert(sizeof(Buffer) == 64);

struct Exchange {
  std::mutex mutex;
  std::condition_variable changed;
  Buffer* free = nullptr;
  Buffer* free_scrap = nullptr;
  Buffer* completed = nullptr;  // newest first
  size_t buffer_count = 0;
  bool decoding = false;  // the decoder holds buffers
  bool flushing =
      false;  // a flush is in progress and may hold records that it has not delivered yet
  unsigned requested = 0;  // flushes that are not finished, not counting the regular ones
};
// Never destroyed: CUPTI may call while the process exits.
alignas(Exchange) constinit unsigned char exchange_memory[sizeof(Exchange)] = {};
constinit Exchange* exchange = nullptr;

constinit std::atomic<bool> usable{false};  // CUPTI may be called
constinit std::atomic<bool> taken{false};
constinit std::atomic<uint64_t> conflict_begin{0};
constinit std::atomic<uint64_t> dropped_total{0};
constinit std::atomic<uint64_t> scrapped{0};
constinit uint64_t enabled_kinds = 0;  // bit = kind; written before the threads start
// Written before the threads start.
constinit bool correlates = false;     // not CallNumbers::kCupti
constinit bool reports_calls = false;  // CallNumbers::kOwn
constinit std::atomic<bool> correlates_coord{false};

// What _exit() and the flusher tell each other.
enum Leaving : uint32_t { kStays, kLeaves, kDelivered };
constinit std::atomic<uint32_t> leaving{kStays};

// Waits while it has that value, for a time. Only a system call.
void wait_while_leaving_is(Leaving value, long milliseconds) {
  const timespec limit{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  ::syscall(SYS_futex, &leaving, FUTEX_WAIT_PRIVATE, value, &limit, nullptr, 0);
}

void change_leaving(Leaving before, Leaving after) {
  uint32_t expected = before;
  if (!leaving.compare_exchange_strong(expected, after)) return;
  ::syscall(SYS_futex, &leaving, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

// From now on another client owns the buffers.
void mark_taken(uint64_t begin) {
  if (taken.exchange(true)) return;
  conflict_begin.store(begin, std::memory_order_relaxed);
  static constinit std::atomic<bool> reported{false};
  if (!reported.exchange(true)) {
    report_to_user("GPU times are incomplete",
                   "another CUDA profiler (such as torch.profiler) took over CUPTI's buffers",
                   "use --tier structure, which leaves CUPTI to it");
  }
}

// Work of the device with a record for each operation. KERNEL would serialize kernels;
// CONCURRENT_KERNEL does not. Copies between devices come as MEMCPY2, from CUPTI 13.0 on with
// MEMCPY alone (H200, driver 580): enabling MEMCPY2 as well there only adds 27 us to the launch of
// a graph of 200 kernels.
std::span<const CUpti_ActivityKind> work_kinds() {
  static constexpr CUpti_ActivityKind kKinds[] = {
      CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
      CUPTI_ACTIVITY_KIND_MEMCPY2};
  return {kKinds, cupti.version < kCupti13_0 ? std::size(kKinds) : std::size(kKinds) - 1};
}

// A few functions cost a record of each of their calls. All of them (CUPTI_ACTIVITY_KIND_DRIVER)
// would cost more than callbacks. CUPTI 13.0 reports functions only now and then that were switched
// off and on again, so they are switched on once and off at the end.
void correlate_calls(bool on) {
  if (!reports_calls) return;
  for (CUpti_CallbackId id = 0; id < driver_calls.size(); ++id) {
    if (driver_calls[id].read != nullptr && is_correlated(driver_calls[id].kind))
      cupti.cuptiActivityEnableDriverApi(id, on ? 1 : 0);
  }
}

// Decoding.

class RingSink final : public DecodeSink {
 public:
  explicit RingSink(ThreadState& thread) : thread_(thread), room_(thread) {}

  ring::TextHash text(std::string_view text) override {
    // Kernel names are pointers that CUPTI keeps valid as long as the code is loaded.
    const uint32_t epoch = session.names_epoch.load(std::memory_order_relaxed);
    Name& slot = names_[(reinterpret_cast<uintptr_t>(text.data()) >> 3) % kNameSlots];
    if (slot.text != text.data() || slot.epoch != epoch || slot.bytes != text.size()) {
      room_.wait_for(text.size() / 44 + 2);
      slot = {text.data(), text.size(), send_text(thread_, text), epoch};
    }
    return slot.hash;
  }
  void op(const ring::OpRecord& record) override {
    if (correlates) {
      if (!reports_calls && was_paused(record.correlation_id)) return;
      ring::OpRecord joined = record;
      joined.flags |= ring::kOwnNumber;
      push(joined);
    } else if (!was_paused(record.correlation_id)) {
      push(record);
    }
  }
  void shape(const ring::LaunchShapeRecord& record) override {
    uint32_t& slot = shapes_[record.shape % kShapeSlots];
    if (slot == record.shape + 1) return;
    slot = record.shape + 1;
    push(record);
  }
  void witness(const ring::SyncWitnessRecord& record) override { push(record); }
  void overhead(const ring::OverheadRecord& record) override { push(record); }
  void correlation(ring::CorrelationRecord record, uint32_t callback_id) override {
    if (!reports_calls) return unknown(kActivityDriver);
    if (callback_id >= driver_calls.size() || driver_calls[callback_id].read == nullptr) return;
    record.call = driver_calls[callback_id].id;
    push(record);
  }
  void unknown(uint32_t kind) override {
    ++unknown_;
    // Kinds we never enabled arrive only if another client of CUPTI enabled them.
    if (kind >= 64 || (enabled_kinds >> kind & 1) == 0) foreign_ = true;
  }

  // Losses since the last call.
  void report() {
    if (lost_ != 0) report_loss(ring::Loss::kActivityRing, lost_);
    if (unknown_ != 0 && !foreign_) report_loss(ring::Loss::kUnknownActivity, unknown_);
    if (foreign_) mark_taken(ticks());
    lost_ = unknown_ = 0;
    foreign_ = false;
  }

 private:
  static constexpr size_t kNameSlots = 1024, kShapeSlots = 4096;
  struct Name {
    const char* text;
    size_t bytes;
    ring::TextHash hash;
    uint32_t epoch;
  };

  template <class T>
  void push(const T& record) {
    if (room_.wait_for(2)) {
      thread_.push(record);
    } else {
      ++lost_;
    }
  }

  ThreadState& thread_;
  RoomInRing room_;
  Name names_[kNameSlots] = {};
  uint32_t shapes_[kShapeSlots] = {};
  uint64_t lost_ = 0, unknown_ = 0;
  bool foreign_ = false;
};

void decode_buffer(Buffer& buffer, RingSink& sink) {
  CUpti_Activity* record = nullptr;
  while (usable.load(std::memory_order_relaxed) &&
         cupti.cuptiActivityGetNextRecord(buffer.bytes(), buffer.valid_bytes, &record) ==
             CUPTI_SUCCESS) {
    decode(record, cupti.version, sink);
    if (record->kind == CUPTI_ACTIVITY_KIND_OVERHEAD && cupti.version >= kOverheadDataVersion) {
      void* data;  // CUpti_ActivityOverhead3::overheadData is ours to free
      std::memcpy(&data, reinterpret_cast<const char*>(record) + 48, sizeof data);
      std::free(data);
    }
  }
  // CUPTI must not have to wait for a lock of ours: the mutex is not held here.
  size_t dropped = 0;
  if (usable.load(std::memory_order_relaxed) &&
      cupti.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS &&
      dropped != 0) {
    dropped_total.fetch_add(dropped, std::memory_order_relaxed);
    report_loss(ring::Loss::kCuptiDropped, dropped);
  }
}

void* decode_buffers(void*) {
  ThreadState* thread = own_thread_state(session.control->ring_records * kDecoderRingFactor);
  void* memory = thread != nullptr ? permanent_memory(sizeof(RingSink)) : nullptr;
  RingSink* sink = memory != nullptr ? new (memory) RingSink(*thread) : nullptr;
  std::unique_lock lock(exchange->mutex);
  for (;;) {
    exchange->changed.wait(lock, [] { return exchange->completed != nullptr; });
    Buffer* newest = exchange->completed;
    exchange->completed = nullptr;
    exchange->decoding = true;
    lock.unlock();

    Buffer* oldest = nullptr;
    while (newest != nullptr) {
      Buffer* next = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = next;
    }
    while (oldest != nullptr) {
      Buffer* buffer = oldest;
      oldest = buffer->next;
      if (sink != nullptr && !buffer->scrap) decode_buffer(*buffer, *sink);
      std::lock_guard guard(exchange->mutex);
      Buffer*& list = buffer->scrap ? exchange->free_scrap : exchange->free;
      buffer->next = list;
      list = buffer;
    }
    if (sink != nullptr) {
      if (uint64_t count = scrapped.exchange(0)) report_loss(ring::Loss::kActivityBuffers, count);
      sink->report();
    }

    lock.lock();
    exchange->decoding = false;
    exchange->changed.notify_all();
  }
  return nullptr;
}

// Buffers.

Buffer* new_buffer(size_t bytes, bool scrap) {
  void* memory = permanent_memory(64 + bytes);
  return memory != nullptr ? new (memory) Buffer{nullptr, 0, scrap} : nullptr;
}

Buffer* take(Buffer*& list) {
  Buffer* buffer = list;
  if (buffer != nullptr) list = buffer->next;
  return buffer;
}

void CUPTIAPI buffer_requested(uint8_t** bytes, size_t* size, size_t* max_records) {
  *max_records = 0;  // as many as fit
  Buffer* buffer;
  {
    std::lock_guard lock(exchange->mutex);
    buffer = take(exchange->free);
    if (buffer == nullptr && exchange->buffer_count < kMaxBuffers) {
      buffer = new_buffer(kBufferBytes, false);
      if (buffer != nullptr) ++exchange->buffer_count;
    }
    if (buffer == nullptr) {
      buffer = take(exchange->free_scrap);
      if (buffer == nullptr) buffer = new_buffer(kScrapBytes, true);
    }
  }
  *bytes = buffer != nullptr ? buffer->bytes() : nullptr;
  *size = buffer == nullptr ? 0 : buffer->scrap ? kScrapBytes : kBufferBytes;
}

// No buffer belongs to a context since CUDA 6: that parameter is null.
void CUPTIAPI buffer_completed(CUcontext, uint32_t, uint8_t* bytes, size_t, size_t valid_bytes) {
  if (bytes == nullptr) return;
  Buffer* buffer = Buffer::of(bytes);
  buffer->valid_bytes = valid_bytes;
  if (buffer->scrap && valid_bytes != 0) scrapped.fetch_add(1, std::memory_order_relaxed);
  std::lock_guard lock(exchange->mutex);
  buffer->next = exchange->completed;
  exchange->completed = buffer;
  exchange->changed.notify_all();
}

uint64_t CUPTIAPI timestamp() { return static_cast<uint64_t>(monotonic_ns()); }

// Flushing.

// One at a time: a flush does not wait for records that another one is delivering, and may return
// immediately while another is in progress.
void flush(uint32_t flags) {
  std::unique_lock lock(exchange->mutex);
  exchange->changed.wait(lock, [] { return !exchange->flushing; });
  exchange->flushing = true;
  lock.unlock();
  cupti.cuptiActivityFlushAll(flags);
  lock.lock();
  exchange->flushing = false;
  exchange->changed.notify_all();
}

// The flusher's part of deliver_before_exit().
void deliver_all() {
  flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  std::unique_lock lock(exchange->mutex);
  exchange->changed.wait(lock,
                         [] { return exchange->completed == nullptr && !exchange->decoding; });
  change_leaving(kLeaves, kDelivered);
}

void* flush_regularly(void*) {
  const uint32_t epoch = session.epoch.load(std::memory_order_relaxed);
  const ring::Control& control = *session.control;
  const long interval_ms = control.flush_interval_ms != 0 ? control.flush_interval_ms : 100;
  uint32_t requests = control.flush_request.load(std::memory_order_relaxed);
  bool again = false;  // work issued just before a flush is ready only at the next
  while (usable.load(std::memory_order_relaxed) &&
         session.epoch.load(std::memory_order_relaxed) == epoch) {
    wait_while_leaving_is(kStays, interval_ms);
    if (!usable.load(std::memory_order_relaxed) || taken.load(std::memory_order_relaxed)) continue;
    if (leaving.load() != kStays) {
      deliver_all();
      return nullptr;
    }
    const uint32_t now = control.flush_request.load(std::memory_order_relaxed);
    const bool seen = session.work_seen.exchange(false, std::memory_order_relaxed);
    // While calls pass, nobody notes them, and earlier ones may still be running.
    const bool passing = session.passing.load(std::memory_order_relaxed) &&
                         control.device_times.load(std::memory_order_relaxed) != 0;
    if (now != requests || seen || again || passing)
      flush(now != requests ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
    requests = now;
    again = seen;
  }
  return nullptr;
}

void deliver_before_exit() {
  if (!usable.load(std::memory_order_relaxed) || taken.load(std::memory_order_relaxed)) return;
  const int64_t until = monotonic_ns() + kLeaveMs * int64_t{1'000'000};
  change_leaving(kStays, kLeaves);
  while (leaving.load() != kDelivered && monotonic_ns() < until)
    wait_while_leaving_is(kLeaves, (until - monotonic_ns()) / 1'000'000 + 1);
}

void end_request() {
  std::lock_guard lock(exchange->mutex);
  --exchange->requested;
  exchange->changed.notify_all();
}

void* flush_all_once(void*) {
  flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  end_request();
  return nullptr;
}

// Twice: work that has just ended is ready only at the next flush.
void* flush_finished_once(void*) {
  flush(0);
  flush(0);
  end_request();
  return nullptr;
}

// Runs the body in a thread of its own, and waits for the decoding of what it flushes.
bool request_flush(void* (*body)(void*), int limit_ms) {
  if (!usable.load(std::memory_order_relaxed) || exchange == nullptr) return true;
  const int64_t until = monotonic_ns() + limit_ms * int64_t{1'000'000};
  std::unique_lock lock(exchange->mutex);
  ++exchange->requested;
  lock.unlock();
  const bool started = start_thread("streamscope-fls", body, nullptr);
  lock.lock();
  if (!started) {
    --exchange->requested;
    return false;
  }
  const auto is_over = [] {
    return exchange->requested == 0 && exchange->completed == nullptr && !exchange->decoding;
  };
  while (!is_over() && monotonic_ns() < until) {
    // Not wait_for: GCC 12's thread sanitizer does not support the call that it makes.
    exchange->changed.wait_until(lock,
                                 std::chrono::system_clock::now() + std::chrono::milliseconds(20));
  }
  return is_over();
}

void disable_all() {
  for (uint32_t kind = 0; kind < 64; ++kind) {
    if ((enabled_kinds >> kind & 1) != 0)
      cupti.cuptiActivityDisable(static_cast<CUpti_ActivityKind>(kind));
  }
}

bool enable(CUpti_ActivityKind kind) {
  if (cupti.cuptiActivityEnable(kind) != CUPTI_SUCCESS) return false;
  enabled_kinds |= uint64_t{1} << kind;
  return true;
}

}  // namespace

bool is_correlated(CallKind kind) {
  return kind == CallKind::kEventRecord ? correlates_coord.load(std::memory_order_relaxed)
                                        : ring::issues_work(kind);
}

void pause_activities(bool pause) {
  if (!usable.load(std::memory_order_relaxed) || taken.load(std::memory_order_relaxed)) return;
  for (CUpti_ActivityKind kind : work_kinds()) {
    if ((enabled_kinds >> kind & 1) == 0) continue;
    if (pause) {
      cupti.cuptiActivityDisable(kind);
    } else {
      cupti.cuptiActivityEnable(kind);
    }
  }
}

bool can_correlate_calls() {
  return cupti.cuptiActivityEnableDriverApi != nullptr && cupti.cuptiSetThreadIdType != nullptr;
}

void correlate_coord_calls() {
  if (correlates_coord.exchange(true) || !usable.load(std::memory_order_acquire)) return;
  if (!taken.load(std::memory_order_relaxed)) correlate_calls(true);
}

int start_activities(const ring::Control& control, bool late, CallNumbers numbers) {
  if (exchange == nullptr) exchange = new (exchange_memory) Exchange;
  CUptiResult result = cupti.cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
  if (result != CUPTI_SUCCESS) return result;
  correlates = numbers != CallNumbers::kCupti;
  reports_calls = numbers == CallNumbers::kOwn;
  usable.store(true, std::memory_order_release);
  // The clock must be set to ours before the first kind is enabled.
  if (cupti.cuptiActivityRegisterTimestampCallback != nullptr)
    cupti.cuptiActivityRegisterTimestampCallback(timestamp);
  if (cupti.cuptiSetThreadIdType != nullptr)
    cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);

  if (control.tier >= Tier::kTimes) {
    for (CUpti_ActivityKind kind : work_kinds()) enable(kind);
    enable(CUPTI_ACTIVITY_KIND_OVERHEAD);
    const bool nodes =
        control.graphs == ring::GraphDetail::kNodes || (control.with & ring::kWithGraphNodes) != 0;
    correlate_calls(true);
    if (!nodes && !late) {
      enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    } else if (late && !nodes) {
      report_loss(ring::Loss::kGraphTimes, 1, "recording began after CUDA was in use");
    }
  }
  if (control.tier >= Tier::kEvents) {
    enable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
    enable(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
    // Polling programs would flood the buffers with queries that were not ready.
    if (cupti.cuptiActivityEnableAllSyncRecords != nullptr)
      cupti.cuptiActivityEnableAllSyncRecords(0);
    if ((control.with & ring::kWithEventTimes) != 0 &&
        cupti.cuptiActivityEnableCudaEventDeviceTimestamps != nullptr)
      cupti.cuptiActivityEnableCudaEventDeviceTimestamps(1);
  }
  if (!start_thread("streamscope-dec", decode_buffers, nullptr) ||
      !start_thread("streamscope-fls", flush_regularly, nullptr)) {
    stop_activities();
    return CUPTI_ERROR_OUT_OF_MEMORY;
  }
  session.pause_device_times.store(pause_activities, std::memory_order_release);
  session.deliver_device_times.store(deliver_before_exit, std::memory_order_release);
  return CUPTI_SUCCESS;
}

bool flush_by_force(int limit_ms) { return request_flush(flush_all_once, limit_ms); }

bool flush_finished(int limit_ms) {
  return taken.load(std::memory_order_relaxed) || request_flush(flush_finished_once, limit_ms);
}

void drain_activities() {
  if (!taken.load(std::memory_order_relaxed)) flush_by_force(kFinishMs);
}

void yield_activities(uint64_t begin) {
  if (!usable.load(std::memory_order_relaxed)) return;
  correlate_calls(false);  // the other client did not ask for these records
  mark_taken(begin);
}

void reclaim_activities() {
  if (correlates) {
    // Once another client has used the kind DRIVER, CUPTI 13.0 reports no single functions any
    // more, and Kineto leaves its own clock behind: the times are lost until the end.
    if (taken.load(std::memory_order_relaxed)) disable_all();
    return;
  }
  if (!taken.exchange(false) || !usable.load(std::memory_order_relaxed)) return;
  report_loss(ring::Loss::kProfilerConflict, 1, "until the other profiler stopped",
              conflict_begin.load(std::memory_order_relaxed));
  cupti.cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
  // The other client disabled kinds for everyone. GRAPH_TRACE stayed on the whole time, or it stays
  // off: enabling it again after a graph was created without it crashes the graph's next launch.
  for (uint32_t kind = 0; kind < 64; ++kind) {
    if ((enabled_kinds >> kind & 1) != 0 && kind != CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
      cupti.cuptiActivityEnable(static_cast<CUpti_ActivityKind>(kind));
  }
}

void abandon_activities() { usable.store(false, std::memory_order_relaxed); }

void stop_activities() {
  if (!usable.exchange(false)) return;
  session.pause_device_times.store(nullptr, std::memory_order_release);
  session.deliver_device_times.store(nullptr, std::memory_order_release);
  correlate_calls(false);
  disable_all();
}

void finish_activities() {
  if (!taken.load(std::memory_order_relaxed)) {
    flush_by_force(kFinishMs);
    return;
  }
  report_loss(ring::Loss::kProfilerConflict, 1, "until the end",
              conflict_begin.load(std::memory_order_relaxed));
}

uint64_t dropped_activities() { return dropped_total.load(std::memory_order_relaxed); }

void forget_activities_after_fork() {
  usable.store(false, std::memory_order_relaxed);
  taken.store(false, std::memory_order_relaxed);
  session.work_seen.store(false, std::memory_order_relaxed);
  dropped_total.store(0, std::memory_order_relaxed);
  scrapped.store(0, std::memory_order_relaxed);
  enabled_kinds = 0;
  correlates = reports_calls = false;
  session.deliver_device_times.store(nullptr, std::memory_order_relaxed);
  leaving.store(kStays, std::memory_order_relaxed);
  exchange = nullptr;  // its threads and buffers are the parent's; a new one replaces it
}

}  // namespace streamscope::collect
