// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A ring of records in a mapped file: one producing thread inside the observed process, one
// consumer outside.
//
// The producer never blocks or allocates while pushing; a full ring drops the record and counts it.
// All state is in the file, so whatever was pushed survives the end of either process, however it
// ends. The owner (collect) hands the ring of an ended thread to a new one; ThreadRecords mark the
// boundaries.
//
// A ring starts small and doubles as needed, up to its capacity; only then does the producer make
// system calls. It grows when its places are about to be reused (head - base is a multiple of its
// size) and some of them still hold records: the new places follow the old ones, and base, the
// number of the record in the first place, lets all records stay where they are. So a ring below
// its capacity is never full.
#pragma once

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backlog.h"
#include "guard.h"
#include "record.h"

namespace streamscope::ring {

enum class ClockKind : uint32_t { kMonotonic = 0, kTimeStampCounter = 1 };

/// One instant on all clocks, read as close together as possible.
struct ClockAnchor {
  uint64_t ticks;        // of the ring's ClockKind
  int64_t monotonic_ns;  // CLOCK_MONOTONIC
  int64_t realtime_ns;   // CLOCK_REALTIME
};

/// The clock that this machine offers: the time-stamp counter if the processor reports it as
/// invariant.
ClockKind best_clock();
/// CLOCK_MONOTONIC in nanoseconds.
uint64_t read_monotonic();
/// Reads `kind`. About 15 ns (counter) or 25 ns (monotonic).
inline uint64_t read_clock(ClockKind kind) {
#if defined(__x86_64__)
  if (kind == ClockKind::kTimeStampCounter) return __rdtsc();
#endif
  (void)kind;
  return read_monotonic();
}
/// Reads `kind` after everything before it in the program has completed; for stamps at the exit of
/// calls, which could otherwise be taken while the call still waits for memory. About 5 to 15 ns
/// more.
inline uint64_t read_clock_after(ClockKind kind) {
#if defined(__x86_64__)
  if (kind == ClockKind::kTimeStampCounter) {
    unsigned processor;
    return __rdtscp(&processor);
  }
#endif
  return read_clock(kind);
}
/// Returns the tightest of several readings; takes a few microseconds.
ClockAnchor read_anchor(ClockKind kind);

enum class RingState : uint32_t { kLive = 1, kClosed = 2 };

/// The call that the producing thread is currently in, if any. Written at the call's entry and
/// cleared at its exit, so that a hang or a sudden end shows where every thread was.
///
/// The CallRecord that the call will have, as words: writing it and copying it into the ring take
/// few instructions. `begin` is 0 while no call is open; `end` is 1 from before the exit stamp is
/// read until the record is published, 0 before. All but read() and write() is for the producing
/// thread.
class alignas(64) OpenCall {
 public:
  /// What is known at entry; the call is not open yet.
  void prepare(CallId call, uint8_t flags, uint32_t number, uint64_t stream, uint64_t object,
               uint64_t value, uint32_t context, uint32_t operation, uint32_t stack) {
    set(kStart, static_cast<uint64_t>(RecordKind::kCall) | uint64_t{flags} << 8 |
                    uint64_t{call} << 16 | uint64_t{number} << 32);
    set(kEnd, 0);
    set(kStream, stream);
    set_object(object);
    set(kValue, value);
    set_context(context);
    set(kOperation, operation | uint64_t{stack} << 32);
  }
  /// `begin`: ticks at entry.
  void open(uint64_t begin) { words_[kBegin].store(begin, std::memory_order_release); }
  void close() { open(0); }
  /// The writer orders calls by their end. From here until the record is published, it must not
  /// assume that this thread will report nothing older than now.
  void begin_leaving() {
    set(kEnd, 1);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  /// What is known of the call only now.
  void set_object(uint64_t object) { set(kObject, object); }
  void set_context(uint32_t context) { set(kContext, context); }

  uint64_t stream() const { return words_[kStream].load(std::memory_order_relaxed); }
  /// The latest call, but for its end and its result.
  void copy_to(CallRecord& record) const {
    std::memcpy(static_cast<void*>(&record), words_, sizeof record);
  }
  CallRecord call() const {
    CallRecord record;
    copy_to(record);
    return record;
  }

  struct View {
    CallRecord call;  // without end and result
    bool leaving;
  };
  /// From another thread or process: the call that is open. Nothing if none is, or if it was
  /// overwritten meanwhile: then its call has ended, and its record is in the ring.
  std::optional<View> read() const;
  /// Fills the slot of a ring that nothing else uses yet.
  void write(const View& view);

 private:
  enum Word : size_t { kStart, kBegin, kEnd, kStream, kObject, kValue, kContext, kOperation };
  // Released, so that what is written after close() is seen after it.
  void set(Word word, uint64_t value) { words_[word].store(value, std::memory_order_release); }

  std::atomic<uint64_t> words_[8];
  static_assert(sizeof(CallRecord) == sizeof words_ && std::endian::native == std::endian::little);
};

/// The libcoord operation whose submission the producing thread began last: it is in progress, or
/// has ended and the next OperationRecord of the thread reports that, too.
struct Submission {
  std::atomic<uint64_t> ended;      // as OperationRecord::begin; 0: in progress. libcoord writes it
  std::atomic<uint32_t> operation;  // kNone32: none
  std::atomic<uint32_t> flags;      // RecordFlags

  void begin(uint32_t of, uint8_t record_flags) {
    ended.store(0, std::memory_order_relaxed);
    operation.store(of, std::memory_order_release);
    flags.store(record_flags, std::memory_order_release);
  }
  void end(uint64_t at) { ended.store(at, std::memory_order_release); }
};

/// Maximum number of times that a ring can double.
inline constexpr uint32_t kMostGrowths = 32;

/// First page of a ring file. Producer and consumer fields are on different cache lines.
struct RingHeader {
  char magic[8];            // kRingMagic
  uint32_t layout_version;  // kLayoutVersion
  uint32_t pid;
  uint64_t process_start;  // start time of the process in clock ticks since boot (/proc/PID/stat
                           // field 22)
  uint64_t capacity;       // maximum number of records, a power of two
  uint64_t first_size;     // initial number of records, a power of two
  ClockKind clock;
  uint32_t index;      // number of the ring within its process; 0 is the first
  ClockAnchor anchor;  // taken when the ring was created

  alignas(64) std::atomic<uint64_t> head;  // records pushed since the beginning; producer writes
  std::atomic<uint64_t> dropped;           // records dropped since the beginning; producer writes
  std::atomic<uint32_t> tid;               // thread that produces now
  std::atomic<uint32_t> store_asked;       // how often it has waited for what is stored
  std::atomic<RingState> state;            // producer side writes
  std::atomic<uint64_t> stacks;            // call stacks taken since the beginning
  std::atomic<uint64_t> stack_ticks;       // their cost for the program
  Submission submission;                   // read at every call, so in a line that each one touches
  OpenCall open_call;
  alignas(64) std::atomic<uint64_t> tail;  // records consumed; written by the consumer, or by the
                                           // producer if it overwrites the oldest records
  std::atomic<uint32_t> stored;  // the latest `store_asked` that the consumer has fulfilled
  uint32_t overwrites;           // 1: a full ring drops its oldest records; no one releases any

  alignas(64) std::atomic<uint32_t> growths;  // number of times it has doubled; producer writes
  std::atomic<int32_t> growth_error;          // errno of the last attempt to grow, 0 if that worked
  uint64_t bases[kMostGrowths];               // record in the first place since the n-th growth
};

inline constexpr char kRingMagic[8] = {'S', 'S', 'R', 'I', 'N', 'G', '\0', '\1'};
inline constexpr size_t kRingHeaderBytes = 4096;
/// Initial capacity of a ring in records: 36 KiB with the header.
inline constexpr uint64_t kFirstRecords = 512;
static_assert(sizeof(RingHeader) <= kRingHeaderBytes);

/// The producing end. Thread-compatible: one thread at a time pushes.
class Producer {
 public:
  Producer() = default;
  /// Creates `DIRECTORY/PID-START-INDEX.ring` (0600, O_EXCL, O_NOFOLLOW), which grows to `capacity`
  /// records, rounded up to a power of two. If that fails, returns a Producer that is not valid(),
  /// and `error` says why. `directory` is used whenever the ring grows, so it must outlive the
  /// Producer. `overwrites`: a full ring drops its oldest records.
  static Producer create(const char* directory, uint32_t index, uint64_t capacity, ClockKind clock,
                         int* error, bool overwrites = false);

  bool valid() const { return header_ != nullptr; }
  RingHeader& header() const { return *header_; }

  /// Copies `record` (64 bytes) into the ring. False and counted if the ring is full. A push after
  /// drops is preceded by a kDropped LossRecord with their number and time, so two free places are
  /// needed then.
  template <class T>
  bool push(const T& record) {
    T* place = claim<T>();
    if (place == nullptr) return false;
    *place = record;
    publish(place);
    return true;
  }

  /// Pushes a query that was not ready. If the newest record of the ring is of the same query and
  /// the consumer has not taken it, that record counts it, so that a polling loop does not fill the
  /// ring.
  bool push_poll(const CallRecord& call);

  /// The place of the next record, to be filled in and then published; null and counted if the ring
  /// is full. Nothing else may be pushed in between. Saves a hot caller the copy.
  template <class T>
  T* claim() {
    if (__builtin_expect(!has_room(), 0) && !make_room()) return nullptr;
    return claim_room<T>();
  }
  /// False if claim() must use its slow path.
  bool has_room() const { return head_ != limit_; }
  /// claim() after has_room() returned true.
  template <class T>
  T* claim_room() {
    static_assert(kIsRecord<T>);
    return new (&place(head_)) T;
  }
  /// `place`: what claim() returned.
  void publish(const void* place) {
    header_->head.store(++head_, std::memory_order_release);
    // At the end of the ring nothing follows, which does no harm.
    fetch_for_writing(static_cast<const Record*>(place) + 1 + kFetchAhead);
  }

  /// Minimum number of records that can be pushed now, if the thread pushes nothing else and the
  /// ring can grow (unless the last attempt failed).
  uint64_t room() const;

  /// Marks the ring closed: the thread has ended. The mapping stays until the process ends.
  void close();
  /// Takes a closed ring for a new thread.
  void reopen(uint32_t tid);

 private:
  // A place of the ring was last read by another processor or is in memory only; a store to it
  // takes some 100 ns, which slows the traced program. Fetching a few places ahead hides that
  // behind the calls in between.
  static constexpr uint64_t kFetchAhead = 4;
  static void fetch_for_writing(const void* place) {
#if defined(__x86_64__)
    asm volatile("prefetchw %0" ::"m"(*static_cast<const char*>(place)));  // ignored where unknown
#else
    __builtin_prefetch(place, 1);
#endif
  }
  Record& place(uint64_t number) const { return records_[(number - base_) & mask_]; }
  bool make_room();
  bool add_to_newest(const CallRecord& call);
  void grow();
  int double_size();
  uint64_t size() const { return mask_ + 1; }

  RingHeader* header_ = nullptr;
  Record* records_ = nullptr;
  uint64_t mask_ = 0;
  uint64_t base_ = 0;        // number of a record in the first place
  uint64_t head_ = 0;        // private copy of header_->head
  uint64_t limit_ = 0;       // records before this number are sure to have a place
  uint64_t poll_head_ = 0;   // head_ when a poll was the newest record
  uint64_t drop_count_ = 0;  // since the last push
  // Rarely used.
  uint64_t drop_first_ = 0;  // ticks of the first of these drops
  const char* directory_ = nullptr;
};

/// The consuming end. One consumer per ring; thread-compatible.
class Consumer {
 public:
  /// Maps a ring file. Nothing if the file is not a whole ring of this layout version; `why` then
  /// says what is wrong. Validates everything it later relies on: a torn or hostile file cannot
  /// make it read outside the mapping. `error`: errno of a call that failed; 0 if the file is at
  /// fault.
  static std::optional<Consumer> open(const std::filesystem::path& file, std::string* why,
                                      int* error = nullptr);

  const RingHeader& header() const { return *header_; }
  const std::filesystem::path& file() const { return file_; }
  /// Number of the first record that is not yet released.
  uint64_t tail() const { return tail_; }

  /// Records pushed and not yet released, in up to two pieces of the ring plus what was moved out
  /// of it before. Acquires the producer's stores. Valid until release(), relieve() or the next
  /// call.
  struct Pending {
    std::span<const Record> moved, first, second;
    size_t size() const { return moved.size() + first.size() + second.size(); }
    const Record& operator[](size_t i) const {
      if (__builtin_expect(i < moved.size(), 0)) return moved[i];
      i -= moved.size();
      return i < first.size() ? first[i] : second[i - first.size()];
    }
  };
  /// A poll that is the newest record is sealed; without `seal_poll` it is left out while it can
  /// still count more queries.
  Pending pending(bool seal_poll = true);
  /// Entry time of the poll that the last pending() left out, 0 if none.
  uint64_t growing_poll() const { return growing_poll_; }
  /// Copies of the records from number `*from` on, for a ring that overwrites its oldest; those
  /// already overwritten are left out, and `*from` becomes the number after the last.
  std::vector<Record> copy(uint64_t* from);
  /// Gives the places of the first `count` pending records back to the producer.
  void release(size_t count);
  /// Records that the ring can hold: its capacity, or its size if it could not grow.
  uint64_t most_records() const {
    return header_->growth_error.load(std::memory_order_relaxed) == 0 ? capacity_ : size_;
  }
  /// Tells the producer what is stored (RingHeader::store_asked).
  void set_stored(uint32_t asked) { header_->stored.store(asked, std::memory_order_release); }
  /// True if the ring is more than half full.
  bool is_filling() const {
    return header_->head.load(std::memory_order_relaxed) - ring_tail_ > most_records() / 2;
  }
  /// 0 if all records can be read. Otherwise why some cannot: errno of a call, or negative if the
  /// file is too short for them.
  int unreadable() const { return unreadable_; }
  /// Moves the content of the ring to its backlog, which frees the places for the producer
  /// immediately. False if the backlog has no space.
  bool relieve();
  /// The file of the backlog, if there is one.
  const std::filesystem::path& backlog_file() const { return backlog_->file(); }

 private:
  explicit Consumer(const std::filesystem::path& file);
  const char* check() const;
  Pending in_ring(bool seal_poll);
  uint64_t readable_head();
  int map_records();
  bool is_cut_off();
  Record& place(uint64_t number) const { return records_.get()[(number - base_) & (size_ - 1)]; }

  std::unique_ptr<RingHeader, Unmap> header_;
  std::unique_ptr<Record, Unmap> records_;  // the first place
  uint64_t capacity_ = 0;
  uint64_t size_ = 0;  // places
  uint64_t base_ = 0;  // number of a record in the first place
  uint32_t growths_ = 0;
  int unreadable_ = 0;
  uint64_t lost_mappings_ = 0;  // of this process, at the last check
  uint64_t tail_ = 0;           // records released
  uint64_t ring_tail_ = 0;      // and moved; our own copy, since the file is not trusted
  uint64_t growing_poll_ = 0;
  std::filesystem::path file_;
  std::unique_ptr<Backlog> backlog_;
};

}  // namespace streamscope::ring
