// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "backlog.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace streamscope::ring {
namespace {

constexpr char kMagic[8] = {'S', 'S', 'B', 'A', 'C', 'K', '\0', '\1'};
constexpr uint64_t kHeaderBytes = 4096;
// Storage is allocated in steps of this size.
constexpr uint64_t kStepBytes = 4 << 20;
// Disk space that is left to others.
constexpr uint64_t kFreeBytes = uint64_t{1} << 30;

constinit std::atomic<uint64_t> all_bytes{0};  // of all backlogs

}  // namespace

Backlog::~Backlog() {
  all_bytes.fetch_sub(reserved_bytes_, std::memory_order_relaxed);
  if (descriptor_ >= 0) ::close(descriptor_);
}

// The file has its maximum length from the start, but storage only for what is in use.
bool Backlog::map(int descriptor, uint64_t bytes) {
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (base == MAP_FAILED) return false;
  header_ = {static_cast<Header*>(base), Unmap{bytes}};
  records_ = reinterpret_cast<Record*>(static_cast<char*>(base) + kHeaderBytes);
  descriptor_ = descriptor;
  guard(base, bytes);
  return true;
}

void Backlog::open() {
  const int descriptor = ::open(file_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat facts {};
  const bool whole = ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) &&
                     static_cast<uint64_t>(facts.st_size) >= kHeaderBytes;
  const auto bytes = static_cast<uint64_t>(facts.st_size);
  if (!whole || !map(descriptor, bytes)) {
    ::close(descriptor);
    return;
  }
  const uint64_t count = header_->count.load(std::memory_order_acquire);
  if (std::memcmp(header_->magic, kMagic, sizeof kMagic) != 0 ||
      header_->layout_version != kLayoutVersion || count > (bytes - kHeaderBytes) / sizeof(Record))
    return;
  reserved_bytes_ = bytes;
  all_bytes.fetch_add(bytes, std::memory_order_relaxed);
  first_ = header_->first;
  count_ = count;
}

// A full disk is an error here, not a SIGBUS later.
bool Backlog::reserve(uint64_t bytes) {
  if (bytes <= reserved_bytes_) return true;
  bytes = (bytes + kStepBytes - 1) / kStepBytes * kStepBytes;
  const uint64_t more = bytes - reserved_bytes_;
  if (all_bytes.load(std::memory_order_relaxed) + more > kMostBytes) return false;
  if (header_ == nullptr) {
    const int descriptor =
        ::open(file_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0) return false;
    if (::ftruncate(descriptor, static_cast<off_t>(kMostBytes)) != 0 ||
        !map(descriptor, kMostBytes)) {
      ::close(descriptor);
      return false;
    }
  }
  struct statvfs space {};
  if (bytes > header_.get_deleter().bytes || ::fstatvfs(descriptor_, &space) != 0 ||
      uint64_t{space.f_bavail} * space.f_frsize < more + kFreeBytes ||
      ::posix_fallocate(descriptor_, static_cast<off_t>(reserved_bytes_),
                        static_cast<off_t>(more)) != 0)
    return false;
  reserved_bytes_ = bytes;
  all_bytes.fetch_add(more, std::memory_order_relaxed);
  return true;
}

bool Backlog::add(uint64_t number, std::span<const Record> first, std::span<const Record> second) {
  const uint64_t added = first.size() + second.size();
  if (!reserve(kHeaderBytes + (count_ + added) * sizeof(Record))) return false;
  if (count_ == 0) {
    std::memcpy(header_->magic, kMagic, sizeof kMagic);
    header_->layout_version = kLayoutVersion;
    header_->first = first_ = number;
  }
  std::copy(first.begin(), first.end(), records_ + count_);
  std::copy(second.begin(), second.end(), records_ + count_ + first.size());
  count_ += added;
  header_->count.store(count_, std::memory_order_release);
  return true;
}

void Backlog::clear() {
  if (count_ == 0) return;
  header_->count.store(0, std::memory_order_release);
  count_ = 0;
  if (reserved_bytes_ <= kStepBytes) return;
  // All but the first step; a file system that cannot do it keeps the space for later.
  if (::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(kStepBytes),
                  static_cast<off_t>(reserved_bytes_ - kStepBytes)) != 0)
    return;
  all_bytes.fetch_sub(reserved_bytes_ - kStepBytes, std::memory_order_relaxed);
  reserved_bytes_ = kStepBytes;
}

}  // namespace streamscope::ring
