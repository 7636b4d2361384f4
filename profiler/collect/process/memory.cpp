// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/process/memory.h"

#include <sys/mman.h>

#include <mutex>
#include <new>

namespace streamscope::collect {
namespace {

constexpr size_t kChunkBytes = 256 << 10;
constexpr size_t kBorderBytes = 128;

constinit std::mutex mutex;
constinit char* chunk = nullptr;
constinit size_t chunk_left = 0;

void* map(size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED ? memory : nullptr;
}

}  // namespace

void* permanent_memory(size_t bytes) {
  bytes = (bytes + kBorderBytes - 1) / kBorderBytes * kBorderBytes;
  if (bytes > kChunkBytes / 4) return map(bytes);
  std::lock_guard lock(mutex);
  if (bytes > chunk_left) {
    void* fresh = map(kChunkBytes);
    if (fresh == nullptr) return nullptr;
    chunk = static_cast<char*>(fresh);
    chunk_left = kChunkBytes;
  }
  void* memory = chunk;
  chunk += bytes;
  chunk_left -= bytes;
  return memory;
}

void forget_memory_after_fork() { new (&mutex) std::mutex; }

}  // namespace streamscope::collect
