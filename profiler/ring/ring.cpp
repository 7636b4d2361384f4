// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "ring.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>

#include "descriptor.h"
#include "guard.h"
#include "held_signals.h"
#include "process.h"
#include "ring_file.h"

namespace streamscope::ring {
namespace {

static_assert(std::atomic<uint64_t>::is_always_lock_free &&
                  std::atomic<uint8_t>::is_always_lock_free,
              "a mapping shared between processes needs address-free atomics");

int64_t now_ns(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

/// Bytes that a ring's name needs after its directory.
constexpr size_t kNameBytes = 80;

/// DIRECTORY/PID-START-INDEX.ring, into memory of its length: the program's stacks may be small.
void write_path(char* to, const char* directory, uint32_t pid, uint64_t start, uint32_t index) {
  const size_t length = std::strlen(directory);
  std::memcpy(to, directory, length);
  char* at = to + length;
  *at++ = '/';
  at = std::to_chars(at, at + 20, pid).ptr;
  *at++ = '-';
  at = std::to_chars(at, at + 20, start).ptr;
  *at++ = '-';
  at = std::to_chars(at, at + 20, index).ptr;
  std::memcpy(at, ".ring", 6);
}

/// Storage is allocated now: a full disk is an error here and not a SIGBUS in the program later.
int take_room(int file, uint64_t from, uint64_t bytes) {
  const HeldSignals held;  // for a limit on the size of files
  int failure;
  do {
    failure = ::posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(bytes));
  } while (failure == EINTR);
  return failure;
}

/// Causes the page faults now, not in traced calls; older kernels refuse.
void touch([[maybe_unused]] void* begin, [[maybe_unused]] uint64_t bytes) {
#ifdef MADV_POPULATE_WRITE
  ::madvise(begin, bytes, MADV_POPULATE_WRITE);
#endif
}

}  // namespace

ClockKind best_clock() {
#if defined(__x86_64__)
  unsigned a, b, c, d;
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) &&
      (d & (1u << 8)) != 0)  // invariant time-stamp counter
    return ClockKind::kTimeStampCounter;
#endif
  return ClockKind::kMonotonic;
}

uint64_t read_monotonic() { return static_cast<uint64_t>(now_ns(CLOCK_MONOTONIC)); }

ClockAnchor read_anchor(ClockKind kind) {
  ClockAnchor best{};
  uint64_t best_gap = ~uint64_t{0};
  for (int i = 0; i < 8; ++i) {
    uint64_t before = read_clock(kind);
    int64_t monotonic = now_ns(CLOCK_MONOTONIC);
    uint64_t after = read_clock(kind);
    int64_t realtime = now_ns(CLOCK_REALTIME);
    if (after - before < best_gap) {
      best_gap = after - before;
      best = {kind == ClockKind::kMonotonic ? static_cast<uint64_t>(monotonic)
                                            : before + (after - before) / 2,
              monotonic, realtime};
    }
  }
  return best;
}

Producer Producer::create(const char* directory, uint32_t index, uint64_t capacity, ClockKind clock,
                          int* error, bool overwrites) {
  Producer producer;
  capacity = std::bit_ceil(std::clamp(capacity, kMinCapacity, kMaxCapacity));
  const uint64_t size = std::min(capacity, kFirstRecords);
  const auto pid = static_cast<uint32_t>(::getpid());
  const uint64_t start = process_start(pid);
  if (start == 0) {  // the consumer would take 0 for the sign of another process
    *error = EMFILE;
    return producer;
  }
  const size_t path_bytes = std::strlen(directory) + kNameBytes;
  if (path_bytes > PATH_MAX) {
    *error = ENAMETOOLONG;
    return producer;
  }
  char* const path = static_cast<char*>(__builtin_alloca(path_bytes));
  write_path(path, directory, pid, start, index);
  const int file = open_high(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) {
    *error = errno;
    return producer;
  }
  *error = take_room(file, 0, file_bytes(size));
  void* base = MAP_FAILED;
  if (*error == 0) {
    base = ::mmap(nullptr, file_bytes(size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED) *error = errno;
  }
  ::close(file);
  if (*error != 0) {
    ::unlink(path);
    return producer;
  }
  touch(base, file_bytes(size));
  guard(base, kRingHeaderBytes);
  guard(static_cast<char*>(base) + kRingHeaderBytes, size * sizeof(Record));

  auto* header = new (base) RingHeader{};
  header->layout_version = kLayoutVersion;
  header->pid = pid;
  header->process_start = start;
  header->capacity = capacity;
  header->first_size = size;
  header->clock = clock;
  header->index = index;
  header->anchor = read_anchor(clock);
  header->tid.store(static_cast<uint32_t>(::gettid()), std::memory_order_relaxed);
  header->state.store(RingState::kLive, std::memory_order_relaxed);
  header->overwrites = overwrites ? 1 : 0;
  header->submission.begin(kNone32, 0);
  // The magic is written last: a file without it is incomplete.
  magic(*header).store(std::bit_cast<uint64_t>(kRingMagic), std::memory_order_release);

  producer.header_ = header;
  producer.records_ = reinterpret_cast<Record*>(static_cast<char*>(base) + kRingHeaderBytes);
  producer.mask_ = size - 1;
  producer.limit_ = size;
  producer.directory_ = directory;
  return producer;
}

uint64_t Producer::room() const {
  if (header_->overwrites != 0) return header_->capacity;
  const uint64_t most =
      header_->growth_error.load(std::memory_order_relaxed) == 0 ? header_->capacity : size();
  const uint64_t taken =
      head_ - header_->tail.load(std::memory_order_acquire) + (drop_count_ != 0 ? 1 : 0);
  return taken > most ? 0 : most - taken;
}

// Doubles the places, which have all been used since `base_`.
void Producer::grow() {
  const uint32_t growths = header_->growths.load(std::memory_order_relaxed);
  if (size() >= header_->capacity || growths >= kMostGrowths || is_lost(records_)) return;
  const int failure = double_size();
  header_->growth_error.store(failure, std::memory_order_relaxed);
  if (failure != 0) return;
  base_ = head_ - size() / 2;
  header_->bases[growths] = base_;
  header_->growths.store(growths + 1, std::memory_order_release);
}

namespace {

// Only the producing thread knows where the records are; the header stays where it is.
void* move_mapping([[maybe_unused]] int file, void* records, uint64_t bytes) {
#if defined(__SANITIZE_THREAD__)  // considers what mremap() gave back as still in use
  void* moved =
      ::mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, kRingHeaderBytes);
  if (moved != MAP_FAILED) ::munmap(records, bytes);
  return moved;
#else
  return ::mremap(records, bytes, 2 * bytes, MREMAP_MAYMOVE);
#endif
}

}  // namespace

int Producer::double_size() {
  char* const path = static_cast<char*>(__builtin_alloca(std::strlen(directory_) + kNameBytes));
  write_path(path, directory_, header_->pid, header_->process_start, header_->index);
  const int file = open_high(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
  if (file < 0) return errno;
  const uint64_t old_bytes = size() * sizeof(Record);
  int failure = take_room(file, file_bytes(size()), old_bytes);
  void* moved = nullptr;
  if (failure == 0) {
    moved = move_mapping(file, records_, old_bytes);
    if (moved == MAP_FAILED) failure = errno;
  }
  ::close(file);
  if (failure != 0) return failure;
  guard_moved(records_, moved, 2 * old_bytes);
  records_ = static_cast<Record*>(moved);
  touch(static_cast<char*>(moved) + old_bytes, old_bytes);
  mask_ = 2 * size() - 1;
  return 0;
}

// A ring that overwrites its oldest records drops this share of them at a time.
constexpr uint64_t kOverwrittenShare = 8;

// The ring is at its end or full, or records were dropped since the last one was written.
bool Producer::make_room() {
  uint64_t tail = header_->tail.load(std::memory_order_acquire);
  const auto at_end = [this] { return ((head_ - base_) & mask_) == 0 && head_ != base_; };
  // If records are being dropped, this was already tried here.
  if (at_end() && tail != head_ && drop_count_ == 0) grow();
  const uint64_t needed = drop_count_ == 0 ? 1 : 2;
  if (head_ + needed - tail > size() && header_->overwrites != 0) {
    // Several at once, so that a reader of the rest has time before it is overwritten.
    tail = head_ + needed - size() + size() / kOverwrittenShare;
    header_->tail.store(tail, std::memory_order_release);
  }
  if (head_ + needed - tail > size()) {
    if (drop_count_++ == 0) drop_first_ = read_clock(header_->clock);
    header_->dropped.store(header_->dropped.load(std::memory_order_relaxed) + 1,
                           std::memory_order_release);
    limit_ = head_;
    return false;
  }
  const uint64_t end = base_ + ((head_ - base_) / size() + 1) * size();
  limit_ = std::min(tail + size(), end);
  if (drop_count_ == 0) return true;
  LossRecord loss{};
  loss.kind = RecordKind::kDropped;
  loss.count = drop_count_;
  loss.first = drop_first_;
  loss.last = read_clock(header_->clock);
  std::memcpy(static_cast<void*>(&place(head_++)), &loss, sizeof loss);
  drop_count_ = 0;
  return head_ != limit_ || make_room();
}

bool Producer::push_poll(const CallRecord& call) {
  if (poll_head_ == head_ && drop_count_ == 0 && add_to_newest(call)) return true;
  CallRecord first = call;
  first.flags |= kPolls;
  first.value = 0;
  if (!push(first)) return false;
  poll_head_ = head_;
  return true;
}

bool Producer::add_to_newest(const CallRecord& call) {
  auto& newest = reinterpret_cast<CallRecord&>(place(head_ - 1));
  const bool same = newest.call == call.call && newest.flags == (call.flags | kPolls) &&
                    newest.stream == call.stream && newest.object == call.object &&
                    newest.context == call.context && newest.operation == call.operation &&
                    newest.stack == call.stack && newest.result == call.result;
  if (!same) return false;
  const uint64_t ticks = call.end - newest.begin;
  const std::atomic_ref<uint64_t> value(newest.value);
  PollWord seen{value.load(std::memory_order_relaxed)};
  // The consumer may seal it at any moment.
  return seen.takes(ticks) &&
         value.compare_exchange_strong(seen.word, seen.with(ticks).word, std::memory_order_release,
                                       std::memory_order_relaxed);
}

void Producer::close() { header_->state.store(RingState::kClosed, std::memory_order_release); }

void Producer::reopen(uint32_t tid) {
  header_->tid.store(tid, std::memory_order_relaxed);
  header_->state.store(RingState::kLive, std::memory_order_release);
}

}  // namespace streamscope::ring
