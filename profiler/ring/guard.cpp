// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "guard.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>

namespace streamscope::ring {
namespace {

struct Mapping {
  std::atomic<uintptr_t> begin{0};  // 0: free
  std::atomic<size_t> bytes{0};
  std::atomic<bool> read_only{false};
  std::atomic<bool> lost{false};
};

constexpr size_t kBlockBytes = 4096;
constexpr size_t kInBlock = (kBlockBytes - sizeof(void*)) / sizeof(Mapping);

// Blocks are added and never removed.
struct Block {
  Block* next = nullptr;
  Mapping mappings[kInBlock];
};
static_assert(sizeof(Block) <= kBlockBytes);

constinit Block first_block;
constinit std::atomic<Block*> blocks{&first_block};
constinit std::atomic<uint64_t> lost_count{0};

template <class Matches>
Mapping* find(Matches matches) {
  for (Block* block = blocks.load(std::memory_order_acquire); block != nullptr;
       block = block->next) {
    for (Mapping& mapping : block->mappings) {
      if (matches(mapping)) return &mapping;
    }
  }
  return nullptr;
}

Mapping* find_at(const void* begin) {
  const auto at = reinterpret_cast<uintptr_t>(begin);
  return find(
      [at](const Mapping& mapping) { return mapping.begin.load(std::memory_order_acquire) == at; });
}

bool add_block() {
  void* memory =
      ::mmap(nullptr, kBlockBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* block = new (memory) Block;
  block->next = blocks.load(std::memory_order_relaxed);
  while (!blocks.compare_exchange_weak(block->next, block, std::memory_order_release)) {
  }
  return true;
}

void on_bus_error(int, siginfo_t* info, void*) {
  if (info->si_code > 0 && rescue(info->si_addr)) return;
  // Same as without a handler: the access is repeated, and what another process sent is sent again.
  ::signal(SIGBUS, SIG_DFL);
  if (info->si_code <= 0) ::raise(SIGBUS);
}

}  // namespace

void guard(const void* begin, size_t bytes, bool read_only) {
  constexpr uintptr_t kTaken = 1;  // no mapping begins there
  Mapping* mapping = nullptr;
  const auto take = [](Mapping& free) {
    uintptr_t none = 0;
    return free.begin.compare_exchange_strong(none, kTaken, std::memory_order_acquire);
  };
  while ((mapping = find(take)) == nullptr) {
    if (!add_block()) return;
  }
  mapping->bytes.store(bytes, std::memory_order_relaxed);
  mapping->read_only.store(read_only, std::memory_order_relaxed);
  mapping->lost.store(false, std::memory_order_relaxed);
  mapping->begin.store(reinterpret_cast<uintptr_t>(begin), std::memory_order_release);
}

void guard_moved(const void* begin, const void* new_begin, size_t bytes) {
  Mapping* mapping = find_at(begin);
  if (mapping == nullptr) return;
  mapping->bytes.store(bytes, std::memory_order_relaxed);
  mapping->begin.store(reinterpret_cast<uintptr_t>(new_begin), std::memory_order_release);
}

void unguard(const void* begin) {
  if (Mapping* mapping = find_at(begin)) mapping->begin.store(0, std::memory_order_release);
}

void Unmap::operator()(void* begin) const {
  unguard(begin);
  ::munmap(begin, bytes);
}

bool rescue(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  Mapping* mapping = find([at](const Mapping& each) {
    return at - each.begin.load(std::memory_order_acquire) <
           each.bytes.load(std::memory_order_relaxed);
  });
  if (mapping == nullptr) return false;
  if (mapping->lost.exchange(true, std::memory_order_relaxed)) return true;  // another thread did
  const int error = errno;
  const long access =
      mapping->read_only.load(std::memory_order_relaxed) ? PROT_READ : PROT_READ | PROT_WRITE;
  // The system call itself: a thread sanitizer of the program would see mmap() write the memory
  // that other threads use.
  constexpr long kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  const long mapped =
      ::syscall(SYS_mmap, mapping->begin.load(std::memory_order_relaxed),
                mapping->bytes.load(std::memory_order_relaxed), access, kFlags, -1L, 0L);
  errno = error;
  if (mapped == -1) {
    mapping->lost.store(false, std::memory_order_relaxed);
    return false;
  }
  lost_count.fetch_add(1, std::memory_order_release);
  return true;
}

uint64_t lost_mappings() { return lost_count.load(std::memory_order_acquire); }

bool is_lost(const void* begin) {
  const Mapping* mapping = find_at(begin);
  return mapping != nullptr && mapping->lost.load(std::memory_order_relaxed);
}

void rescue_on_bus_errors() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace streamscope::ring
