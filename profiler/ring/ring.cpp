// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
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
#include <utility>

#include "process.h"

namespace streamscope::ring {
namespace {

static_assert(std::atomic<uint64_t>::is_always_lock_free &&
                  std::atomic<uint8_t>::is_always_lock_free,
              "a mapping shared between processes needs address-free atomics");

constexpr uint64_t kMinCapacity = 16;
constexpr uint64_t kMaxCapacity = uint64_t{1} << 32;

int64_t now_ns(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

/// The magic as one word: it is written last and read first.
std::atomic_ref<uint64_t> magic(RingHeader& header) {
  return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(header.magic));
}

char* append(char* to, char* end, const char* text) {
  size_t size = std::min<size_t>(std::strlen(text), end - to);
  std::memcpy(to, text, size);
  return to + size;
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
  const auto pid = static_cast<uint32_t>(::getpid());
  const uint64_t start = process_start(pid);

  char path[4096];
  char* const path_end = path + sizeof path - 80;  // room for three numbers and the extension
  char* at = append(path, path_end, directory);
  if (at == path_end) {
    *error = ENAMETOOLONG;
    return producer;
  }
  at = append(at, at + 1, "/");
  at = std::to_chars(at, at + 20, pid).ptr;
  at = append(at, at + 1, "-");
  at = std::to_chars(at, at + 20, start).ptr;
  at = append(at, at + 1, "-");
  at = std::to_chars(at, at + 20, index).ptr;
  std::memcpy(at, ".ring", 6);

  int file = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) {
    *error = errno;
    return producer;
  }
  // The room is taken now: a full disk is an error here and not a SIGBUS in the program later.
  const size_t bytes = kRingHeaderBytes + capacity * sizeof(Record);
  int failure = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  void* base = MAP_FAILED;
  if (failure == 0) {
    base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (base == MAP_FAILED) failure = errno;
  }
  ::close(file);
  if (failure != 0) {
    ::unlink(path);
    *error = failure;
    return producer;
  }
#ifdef MADV_POPULATE_WRITE
  ::madvise(base, bytes,
            MADV_POPULATE_WRITE);  // page faults now, not in traced calls; older kernels refuse
#endif

  auto* header = new (base) RingHeader{};
  header->layout_version = kLayoutVersion;
  header->pid = pid;
  header->process_start = start;
  header->capacity = capacity;
  header->clock = clock;
  header->index = index;
  header->anchor = read_anchor(clock);
  header->tid.store(static_cast<uint32_t>(::gettid()), std::memory_order_relaxed);
  header->state.store(RingState::kLive, std::memory_order_relaxed);
  header->overwrites = overwrites ? 1 : 0;
  header->submission.begin(kNone32, 0);
  // The magic comes last: a file without it is one whose making is not finished.
  magic(*header).store(std::bit_cast<uint64_t>(kRingMagic), std::memory_order_release);

  producer.header_ = header;
  producer.records_ = reinterpret_cast<Record*>(static_cast<char*>(base) + kRingHeaderBytes);
  producer.mask_ = capacity - 1;
  *error = 0;
  return producer;
}

// One in so many of the records of a ring that overwrites its oldest go at a time.
constexpr uint64_t kOverwrittenShare = 8;

// The ring looks full, or records were dropped since the last one was written.
uint64_t Producer::room() {
  if (header_->overwrites != 0) return mask_ + 1;
  cached_tail_ = header_->tail.load(std::memory_order_acquire);
  const uint64_t taken = head_ - cached_tail_ + (drop_count_ != 0 ? 1 : 0);
  return taken > mask_ ? 0 : mask_ + 1 - taken;
}

bool Producer::make_room() {
  const uint64_t needed = drop_count_ == 0 ? 1 : 2;
  if (head_ + needed - cached_tail_ > mask_ + 1) {
    if (header_->overwrites != 0) {
      // A piece at once, so that a reader of what is left has time before it is overwritten.
      cached_tail_ = head_ + needed - (mask_ + 1) + (mask_ + 1) / kOverwrittenShare;
      header_->tail.store(cached_tail_, std::memory_order_release);
    } else {
      cached_tail_ = header_->tail.load(std::memory_order_acquire);
    }
    if (head_ + needed - cached_tail_ > mask_ + 1) {
      if (drop_count_++ == 0) drop_first_ = read_clock(header_->clock);
      header_->dropped.store(header_->dropped.load(std::memory_order_relaxed) + 1,
                             std::memory_order_release);
      return false;
    }
  }
  if (drop_count_ != 0) {
    LossRecord loss{};
    loss.kind = RecordKind::kDropped;
    loss.count = drop_count_;
    loss.first = drop_first_;
    loss.last = read_clock(header_->clock);
    std::memcpy(&records_[head_++ & mask_], &loss, sizeof loss);
    drop_count_ = 0;
  }
  return true;
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
  auto& newest = reinterpret_cast<CallRecord&>(records_[(head_ - 1) & mask_]);
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

std::optional<Consumer> Consumer::open(const std::filesystem::path& file, std::string* why) {
  int descriptor = ::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) {
    *why = std::strerror(errno);
    return std::nullopt;
  }
  struct stat facts {};
  void* base = MAP_FAILED;
  const char* fault = nullptr;
  if (::fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    fault = "is not a regular file";
  } else if (static_cast<uint64_t>(facts.st_size) <
             kRingHeaderBytes + kMinCapacity * sizeof(Record)) {
    fault = "is shorter than a ring";
  } else {
    base = ::mmap(nullptr, static_cast<size_t>(facts.st_size), PROT_READ | PROT_WRITE, MAP_SHARED,
                  descriptor, 0);
    if (base == MAP_FAILED) fault = "cannot be mapped";
  }
  ::close(descriptor);
  if (fault != nullptr) {
    *why = fault;
    return std::nullopt;
  }

  Consumer consumer(file);
  consumer.header_ = static_cast<RingHeader*>(base);
  consumer.records_ = reinterpret_cast<Record*>(static_cast<char*>(base) + kRingHeaderBytes);
  consumer.mapped_bytes_ = static_cast<size_t>(facts.st_size);
  const RingHeader& header = *consumer.header_;
  const bool whole = magic(*consumer.header_).load(std::memory_order_acquire) ==
                     std::bit_cast<uint64_t>(kRingMagic);
  consumer.capacity_ = header.capacity;
  consumer.tail_ = consumer.ring_tail_ = header.tail.load(std::memory_order_relaxed);
  if (!whole) {
    fault = "is not a ring, or its making was not finished";
  } else if (header.layout_version != kLayoutVersion) {
    fault = "is a ring of another version of StreamScope";
  } else if (consumer.capacity_ < kMinCapacity || !std::has_single_bit(consumer.capacity_) ||
             consumer.capacity_ != (consumer.mapped_bytes_ - kRingHeaderBytes) / sizeof(Record) ||
             consumer.mapped_bytes_ != kRingHeaderBytes + consumer.capacity_ * sizeof(Record)) {
    fault = "is not as long as its header says";
  } else if (header.clock != ClockKind::kMonotonic &&
             header.clock != ClockKind::kTimeStampCounter) {
    fault = "names a clock that does not exist";
  } else if (header.head.load(std::memory_order_relaxed) - consumer.tail_ > consumer.capacity_) {
    fault = "holds more records than fit into it";
  }
  if (fault != nullptr) {
    *why = fault;
    return std::nullopt;
  }
  // An earlier consumer may have been killed after it moved records and before it said so here.
  consumer.backlog_.open();
  const uint64_t moved = consumer.backlog_.records().size();
  const uint64_t end = consumer.backlog_.first() + moved;
  if (moved != 0 && moved <= end && end - consumer.tail_ <= consumer.capacity_ &&
      end <= header.head.load(std::memory_order_relaxed)) {
    consumer.tail_ = consumer.backlog_.first();
    consumer.ring_tail_ = end;
  } else {
    consumer.backlog_ = Backlog(consumer.backlog_.file());
  }
  return consumer;
}

Consumer::Consumer(const std::filesystem::path& file)
    : file_(file), backlog_(file.string() + kBacklogEnding) {}

Consumer::Consumer(Consumer&& other) noexcept : backlog_("") { *this = std::move(other); }

Consumer& Consumer::operator=(Consumer&& other) noexcept {
  std::swap(header_, other.header_);
  std::swap(records_, other.records_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(capacity_, other.capacity_);
  std::swap(tail_, other.tail_);
  std::swap(ring_tail_, other.ring_tail_);
  std::swap(growing_poll_, other.growing_poll_);
  std::swap(file_, other.file_);
  backlog_ = std::move(other.backlog_);
  return *this;
}

Consumer::~Consumer() {
  if (header_ != nullptr) ::munmap(header_, mapped_bytes_);
}

Consumer::Pending Consumer::pending(bool seal_poll) {
  Pending pending = in_ring(seal_poll);
  if (tail_ != ring_tail_) pending.moved = backlog_.records().subspan(tail_ - backlog_.first());
  return pending;
}

Consumer::Pending Consumer::in_ring(bool seal_poll) {
  // The bound holds for whatever number stands in the file.
  uint64_t count = std::min(header_->head.load(std::memory_order_acquire) - ring_tail_, capacity_);
  growing_poll_ = 0;
  if (count > 0) {
    Record& newest = records_[(ring_tail_ + count - 1) & (capacity_ - 1)];
    if (newest.head.kind == RecordKind::kCall && (newest.head.flags & kPolls) != 0) {
      auto& poll = reinterpret_cast<CallRecord&>(newest);
      const std::atomic_ref<uint64_t> value(poll.value);
      if (seal_poll) {
        value.fetch_or(PollWord::kSealed, std::memory_order_acq_rel);
      } else if (!PollWord{value.load(std::memory_order_acquire)}.is_sealed()) {
        growing_poll_ = poll.begin;
        --count;
      }
    }
  }
  const uint64_t first = ring_tail_ & (capacity_ - 1);
  const uint64_t in_first = std::min(count, capacity_ - first);
  return {{}, std::span(records_ + first, in_first), std::span(records_, count - in_first)};
}

std::vector<Record> Consumer::copy(uint64_t* from) const {
  const uint64_t head = header_->head.load(std::memory_order_acquire);
  uint64_t first = std::max(*from, header_->tail.load(std::memory_order_acquire));
  first = std::max(first, head - std::min(head, capacity_));
  std::vector<Record> records;
  records.reserve(head - first);
  for (uint64_t i = first; i < head; ++i) records.push_back(records_[i & (capacity_ - 1)]);
  *from = head;
  // What has been given up meanwhile may be half overwritten.
#if !defined(__SANITIZE_THREAD__)  // which knows no fences
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
  const uint64_t valid = header_->tail.load(std::memory_order_relaxed);
  if (valid > first)
    records.erase(records.begin(),
                  records.begin() + static_cast<ptrdiff_t>(std::min(valid, head) - first));
  return records;
}

void Consumer::release(size_t count) {
  tail_ += count;
  if (tail_ < ring_tail_) return;
  backlog_.clear();
  ring_tail_ = tail_;
  header_->tail.store(ring_tail_, std::memory_order_release);
}

bool Consumer::relieve() {
  const Pending moving = in_ring(false);
  if (moving.size() == 0) return true;
  if (!backlog_.add(ring_tail_, moving.first, moving.second)) return false;
  ring_tail_ += moving.size();
  header_->tail.store(ring_tail_, std::memory_order_release);
  return true;
}

}  // namespace streamscope::ring
