// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/observed/tensor_maps.h"

#include <atomic>
#include <mutex>
#include <new>
#include <unordered_map>

#include "collect/observed/kernel_code.h"
#include "collect/process/asking.h"
#include "collect/process/thread_state.h"
#include "vocabulary/access_source.h"
#include "vocabulary/fnv1a.h"

namespace streamscope::collect {

namespace {

constexpr size_t kMostMaps = 65536;
constexpr size_t kMapAlignment = 64;

// By the hash of their bytes, which the program may copy.
struct TensorMaps {
  std::mutex mutex;
  std::unordered_map<uint64_t, MappedMemory> known;
};
// Never destroyed: kernels may be launched while the process exits.
alignas(TensorMaps) constinit unsigned char maps_memory[sizeof(TensorMaps)] = {};
constinit std::atomic<TensorMaps*> maps{nullptr};
constinit std::mutex making;

TensorMaps& tensor_maps() {
  if (TensorMaps* const made = maps.load(std::memory_order_acquire)) return *made;
  std::lock_guard lock(making);
  if (maps.load(std::memory_order_relaxed) == nullptr)
    maps.store(new (maps_memory) TensorMaps, std::memory_order_release);
  return *maps.load(std::memory_order_relaxed);
}

uint64_t hash_of(const unsigned char* map) {
  return fnv1a({reinterpret_cast<const char*>(map), sizeof(CUtensorMap)});
}
uint64_t hash_of(const CUtensorMap& map) {
  return hash_of(reinterpret_cast<const unsigned char*>(&map));
}

}  // namespace

void note_tensor_map(const CUtensorMap& map, const MappedMemory& memory) {
  if (memory.bytes == 0) return;
  TensorMaps& all = tensor_maps();
  std::lock_guard lock(all.mutex);
  if (all.known.size() >= kMostMaps) all.known.clear();
  all.known[hash_of(map)] = memory;
}

void note_moved_tensor_map(const CUtensorMap& before, const CUtensorMap& now, const void* address) {
  TensorMaps& all = tensor_maps();
  MappedMemory memory;
  {
    std::lock_guard lock(all.mutex);
    const auto known = all.known.find(hash_of(before));
    if (known == all.known.end()) return;
    memory = known->second;
  }
  memory.address = reinterpret_cast<uintptr_t>(address);
  note_tensor_map(now, memory);
}

bool report_tensor_maps(ThreadState& thread, const LaunchParameters& launch, uint8_t code) {
  const Asking asking(reinterpret_cast<uintptr_t>(launch.function), thread.begin);
  if (!asking.allowed()) return false;
  ring::AccessRecord record{};
  record.kind = ring::RecordKind::kAccess;
  record.source = static_cast<uint8_t>(AccessSource::kTensorMap);
  if ((code & kWritesByTensorMap) != 0) record.writes |= ring::kWritten;
  record.call_number = thread.open_number;
  record.begin = thread.begin;
  record.operation = ring::kNone32;
  TensorMaps& all = tensor_maps();
  std::lock_guard lock(all.mutex);
  bool any = false;
  size_t offset = 0, size = 0;
  for (size_t i = 0; parameter_layout(launch.function, i, &offset, &size); ++i) {
    const auto bytes = launch.of(i, offset, size);
    for (size_t at = 0; at + sizeof(CUtensorMap) <= bytes.size(); at += kMapAlignment) {
      const auto known = all.known.find(hash_of(bytes.data() + at));
      if (known == all.known.end()) continue;
      const MappedMemory& memory = known->second;
      record.ranges[0] = {memory.address, memory.bytes};
      record.pitch[0] = memory.pitch;
      record.rows = memory.rows;
      thread.push(record);
      any = true;
    }
  }
  return any;
}

void forget_tensor_maps_after_fork() {
  maps.store(nullptr, std::memory_order_relaxed);
  new (&making) std::mutex;
}

}  // namespace streamscope::collect
