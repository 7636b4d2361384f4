// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/observed/table.h"

#include <cstring>

#include "collect/process/asking.h"
#include "collect/process/driver.h"
#include "collect/process/session.h"

namespace streamscope::collect {

bool StreamOfTable::is_done() const {
  if (state == kMarked) return cuda.cuEventQuery(mark) == CUDA_SUCCESS;
  if (state != kRuns) return state == kDone;
  const Asking asking(is_created(handle) ? handle : kAllHandles, since);
  if (!asking.allowed() || session.active_captures.load() > 0) return false;
  // That of another thread has no handle here.
  if (handle == reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD))
    return sanitizer.sanitizerStreamSynchronize(own) == 0;
  return cuda.cuStreamQuery(reinterpret_cast<CUstream>(handle)) == CUDA_SUCCESS;
}

// In a callback only the Sanitizer's own functions may be called.
const char* Table::make(CUcontext context, SanitizerStream stream, uint64_t slots) {
  void* memory = nullptr;
  void* slot_memory = nullptr;
  void* host = nullptr;
  void* spill_memory = nullptr;
  if (sanitizer.sanitizerAlloc(context, &memory, 2 * kTableAlignment) != 0 ||
      sanitizer.sanitizerAlloc(context, &slot_memory, slots * sizeof(TouchSlot)) != 0)
    return "the device lacks memory for them";
  if (sanitizer.sanitizerAllocHost(context, &host, sizeof(uint32_t)) != 0)
    return "the host lacks memory for them";
  std::memset(host, 0, sizeof(uint32_t));
  const uint64_t aligned =
      (reinterpret_cast<uint64_t>(memory) + kTableAlignment - 1) & ~(kTableAlignment - 1);
  device = reinterpret_cast<TouchTable*>(aligned);
  header = {.slots = static_cast<TouchSlot*>(slot_memory),
            .capacity = slots,
            .nearly_full = static_cast<uint32_t*>(host),
            .most_of_counter = static_cast<uint32_t>(slots / 16 / 64 * 3 / 5),
            .places = places_of(slots)};
  if (sanitizer.sanitizerAllocHost(context, &spill_memory, kSpillSlots * sizeof(TouchSlot)) == 0) {
    std::memset(spill_memory, 0, kSpillSlots * sizeof(TouchSlot));
    spill = {.slots = static_cast<TouchSlot*>(spill_memory),
             .capacity = kSpillSlots,
             .nearly_full = header.nearly_full,
             .places = places_of(kSpillSlots)};
    header.spill = reinterpret_cast<TouchTable*>(aligned + kSpillOffset);
  }
  launches.reserve(kMostLaunches);
  if (sanitizer.sanitizerMemset(device, 0, kTableBytes, stream) != 0 ||
      sanitizer.sanitizerMemset(slot_memory, 0, slots * sizeof(TouchSlot), stream) != 0 ||
      sanitizer.sanitizerMemcpyHostToDeviceAsync(device, &header, sizeof header, stream) != 0 ||
      sanitizer.sanitizerMemcpyHostToDeviceAsync(reinterpret_cast<void*>(aligned + kSpillOffset),
                                                 &spill, sizeof spill, stream) != 0 ||
      sanitizer.sanitizerStreamSynchronize(stream) != 0)
    return "their memory cannot be set";
  return nullptr;
}

TouchLaunch* Table::add(const Launch& launch, uint64_t stream, SanitizerStream own,
                        uint64_t slots) {
  if (launches.size() == kMostLaunches) return nullptr;
  if (launches.empty()) since_ns = monotonic_ns();
  launches.push_back(launch);
  expected_slots += slots;
  StreamOfTable* of = find(stream, StreamOfTable::kRuns);
  if (of == nullptr) of = &streams.emplace_back(StreamOfTable{.handle = stream});
  of->since = launch.begin;
  of->own = own;
  return reinterpret_cast<TouchLaunch*>(reinterpret_cast<char*>(device) + kLaunchesOffset) +
         launches.size() - 1;
}

bool Table::is_nearly_full() const {
  return seen(header.nearly_full) != 0 || launches.size() == kMostLaunches;
}

StreamOfTable* Table::find(uint64_t handle, StreamOfTable::State stream_state) {
  for (StreamOfTable& stream : streams) {
    if (stream.handle == handle && stream.state == stream_state) return &stream;
  }
  return nullptr;
}

std::vector<Launch> Table::reuse() {
  __atomic_store_n(header.nearly_full, 0u, __ATOMIC_RELAXED);
  std::vector<Launch> were;
  were.reserve(kMostLaunches);
  were.swap(launches);
  streams.clear();
  expected_slots = 0;
  state = kFree;
  return were;
}

}  // namespace streamscope::collect
