// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "calls.h"
#include "guard.h"
#include "ring.h"
#include "ring_file.h"

namespace streamscope::ring {
namespace {

constexpr int kTooShort = -1, kCutOff = -2;

/// Maps `bytes` of a file from `offset` on. Null with `error` if that fails: errno or kTooShort.
template <class T>
std::unique_ptr<T, Unmap> map_part(const std::filesystem::path& file, uint64_t offset,
                                   uint64_t bytes, int* error) {
  *error = 0;
  const int descriptor = ::open(file.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) {
    *error = errno;
    return nullptr;
  }
  struct stat facts {};
  void* part = MAP_FAILED;
  if (::fstat(descriptor, &facts) != 0) {
    *error = errno;
  } else if (S_ISREG(facts.st_mode) && static_cast<uint64_t>(facts.st_size) >= offset + bytes) {
    part = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor,
                  static_cast<off_t>(offset));
    if (part == MAP_FAILED) *error = errno;
  } else {
    *error = kTooShort;
  }
  ::close(descriptor);
  if (part == MAP_FAILED) return nullptr;
  guard(part, bytes);
  return {static_cast<T*>(part), Unmap{bytes}};
}

bool is_power(uint64_t number) { return std::has_single_bit(number) && number >= kMinCapacity; }

}  // namespace

std::optional<Consumer> Consumer::open(const std::filesystem::path& file, std::string* why,
                                       int* error) {
  Consumer consumer(file);
  int failure = 0;
  const auto refuse = [&](const char* fault) {
    *why = failure > 0 ? std::strerror(failure) : fault;
    if (error != nullptr) *error = std::max(failure, 0);
    return std::nullopt;
  };
  consumer.header_ = map_part<RingHeader>(file, 0, file_bytes(kMinCapacity), &failure);
  if (consumer.header_ == nullptr) return refuse("is shorter than a ring");
  if (const char* fault = consumer.check()) return refuse(fault);
  const RingHeader& header = *consumer.header_;
  consumer.capacity_ = header.capacity;
  consumer.tail_ = consumer.ring_tail_ = header.tail.load(std::memory_order_relaxed);
  failure = consumer.map_records();
  if (consumer.records_ == nullptr) return refuse("is not as long as its header says");
  if (consumer.readable_head() - consumer.tail_ > consumer.size_)
    return refuse("holds more records than fit into it");
  // An earlier consumer may have been killed after it moved records and before it recorded that
  // here.
  consumer.backlog_->open();
  const uint64_t moved = consumer.backlog_->records().size();
  const uint64_t end = consumer.backlog_->first() + moved;
  if (moved != 0 && moved <= end && end - consumer.tail_ <= consumer.capacity_ &&
      end <= header.head.load(std::memory_order_relaxed)) {
    consumer.tail_ = consumer.backlog_->first();
    consumer.ring_tail_ = end;
  } else {
    consumer.backlog_ = std::make_unique<Backlog>(consumer.backlog_file());
  }
  return consumer;
}

// What is wrong with the header; null if nothing is.
const char* Consumer::check() const {
  if (magic(*header_).load(std::memory_order_acquire) != std::bit_cast<uint64_t>(kRingMagic))
    return "is not a ring, or its creation was not finished";
  if (header_->layout_version != kLayoutVersion)
    return "is a ring of another version of StreamScope";
  const uint32_t growths = header_->growths.load(std::memory_order_relaxed);
  if (!is_power(header_->capacity) || header_->capacity > kMaxCapacity ||
      !is_power(header_->first_size) || growths > kMostGrowths ||
      header_->first_size > header_->capacity >> growths)
    return "is not as long as its header says";
  if (header_->clock != ClockKind::kMonotonic && header_->clock != ClockKind::kTimeStampCounter)
    return "names a clock that does not exist";
  return nullptr;
}

Consumer::Consumer(const std::filesystem::path& file)
    : file_(file), backlog_(std::make_unique<Backlog>(file.string() + kBacklogEnding)) {}

// Stays true once the file was truncated under one of its mappings.
bool Consumer::is_cut_off() {
  const uint64_t lost = lost_mappings();
  if (lost == lost_mappings_) return unreadable_ == kCutOff;
  lost_mappings_ = lost;
  if (is_lost(header_.get()) || is_lost(records_.get())) unreadable_ = kCutOff;
  return unreadable_ == kCutOff;
}

// Maps the places that the ring has now. Returns 0; or errno or kTooShort with nothing changed.
int Consumer::map_records() {
  const uint32_t growths = header_->growths.load(std::memory_order_acquire);
  // The file may change at any time: its values are read once and then checked.
  const uint64_t size = header_->first_size << growths;
  if (growths > kMostGrowths || !is_power(size) || size > capacity_) return kTooShort;
  int error = 0;
  auto records = map_part<Record>(file_, kRingHeaderBytes, size * sizeof(Record), &error);
  if (records == nullptr) return error;
  records_ = std::move(records);
  size_ = size;
  growths_ = growths;
  base_ = growths == 0 ? 0 : header_->bases[growths - 1];
  return 0;
}

// End of the readable records. All of these are where they were before the ring grew.
uint64_t Consumer::readable_head() {
  const uint64_t head = header_->head.load(std::memory_order_acquire);
  if (is_cut_off()) return ring_tail_;
  const uint32_t growths = header_->growths.load(std::memory_order_acquire);
  if (growths == growths_) return head;
  const uint64_t grown_at = header_->bases[growths_ % kMostGrowths] + size_;
  unreadable_ = map_records();
  return growths == growths_ ? head : std::min(head, grown_at);
}

Consumer::Pending Consumer::pending(bool seal_poll) {
  Pending pending = in_ring(seal_poll);
  if (tail_ != ring_tail_) pending.moved = backlog_->records().subspan(tail_ - backlog_->first());
  return pending;
}

Consumer::Pending Consumer::in_ring(bool seal_poll) {
  // The bound holds for any number in the file.
  uint64_t count = std::min(readable_head() - ring_tail_, size_);
  growing_poll_ = 0;
  if (count > 0) {
    Record& newest = place(ring_tail_ + count - 1);
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
  const uint64_t first = (ring_tail_ - base_) & (size_ - 1);
  const uint64_t in_first = std::min(count, size_ - first);
  return {{}, std::span(&place(ring_tail_), in_first), std::span(records_.get(), count - in_first)};
}

std::optional<OpenCall::View> OpenCall::read() const {
  uint64_t words[std::size(words_)];
  words[kBegin] = words_[kBegin].load(std::memory_order_acquire);
  if (words[kBegin] == 0) return std::nullopt;
  for (size_t word = 0; word < std::size(words_); ++word) {
    if (word != kBegin) words[word] = words_[word].load(std::memory_order_acquire);
  }
  if (words_[kBegin].load(std::memory_order_acquire) != words[kBegin]) return std::nullopt;
  View view{.call = {}, .leaving = words[kEnd] != 0};
  std::memcpy(static_cast<void*>(&view.call), words, sizeof view.call);
  view.call.end = 0;
  view.call.result = 0;
  if (view.call.kind != RecordKind::kCall || view.call.call >= call_count()) return std::nullopt;
  return view;
}

void OpenCall::write(const View& view) {
  const CallRecord& call = view.call;
  prepare(call.call, call.flags, call.call_number, call.stream, call.object, call.value,
          call.context, call.operation, call.stack);
  set(kEnd, view.leaving ? 1 : 0);
  open(call.begin);
}

std::vector<Record> Consumer::copy(uint64_t* from) {
  const uint64_t head = readable_head();
  if (unreadable_ == kCutOff) return {};
  uint64_t first = std::max(*from, header_->tail.load(std::memory_order_acquire));
  first = std::max(first, head - std::min(head, size_));
  first = std::min(first, head);  // all may have been overwritten since the head was read
  std::vector<Record> records;
  records.reserve(head - first);
  for (uint64_t i = first; i < head; ++i) records.push_back(place(i));
  *from = head;
  // Records dropped in the meantime may be half overwritten.
#if !defined(__SANITIZE_THREAD__)  // which does not support fences
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
  backlog_->clear();
  ring_tail_ = tail_;
  header_->tail.store(ring_tail_, std::memory_order_release);
}

bool Consumer::relieve() {
  const Pending moving = in_ring(false);
  if (moving.size() == 0) return true;
  if (!backlog_->add(ring_tail_, moving.first, moving.second)) return false;
  ring_tail_ += moving.size();
  header_->tail.store(ring_tail_, std::memory_order_release);
  return true;
}

}  // namespace streamscope::ring
