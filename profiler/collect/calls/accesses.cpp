// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/calls/accesses.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "collect/calls/launch_parameters.h"
#include "collect/process/asking.h"
#include "collect/process/driver.h"
#include "collect/process/memory.h"
#include "collect/process/session.h"
#include "collect/process/thread_state.h"
#include "vocabulary/memory_kind.h"

namespace streamscope::collect {

namespace {

// No memory is ever mapped below it.
constexpr uint64_t kLowestAddress = 0x10000;

class Sink final : public AccessSink {
 public:
  Sink(ThreadState& thread, const ring::CallRecord& call) : thread_(thread), call_(call) {}

  void touches(const MemoryEnd& source, const MemoryEnd& destination, uint32_t rows) override {
    if ((source.bytes == 0 && destination.bytes == 0) || rows == 0) return;
    ring::AccessRecord record{};
    record.kind = ring::RecordKind::kAccess;
    record.source = static_cast<uint8_t>(AccessSource::kArgument);
    record.writes = 2;
    record.call_number = call_.call_number;
    record.begin = call_.end;
    record.ranges[0] = {source.address, source.bytes};
    record.ranges[1] = {destination.address, destination.bytes};
    record.pitch[0] = source.pitch;
    record.pitch[1] = destination.pitch;
    record.rows = rows;
    record.operation = ring::kNone32;
    thread_.push(record);
  }

 private:
  ThreadState& thread_;
  const ring::CallRecord& call_;
};

MemoryKind kind_of_memory(const MemoryEnd& end) {
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      CU_POINTER_ATTRIBUTE_IS_MANAGED};
  unsigned type = 0, is_managed = 0;
  void* values[] = {&type, &is_managed};
  if (end.bytes == 0 || cuda.cuPointerGetAttributes == nullptr ||
      cuda.cuPointerGetAttributes(2, attributes, values, end.address) != CUDA_SUCCESS)
    return MemoryKind::kUnknown;
  if (is_managed != 0) return MemoryKind::kManaged;
  switch (type) {
    case 0:
      return MemoryKind::kPageable;
    case CU_MEMORYTYPE_HOST:
      return MemoryKind::kPinned;
    case CU_MEMORYTYPE_DEVICE:
      return MemoryKind::kDevice;
    default:
      return MemoryKind::kUnknown;
  }
}

// Asks about the first piece only: the others of a batch, which no synchronous call has, may
// differ.
class MemoryKinds final : public AccessSink {
 public:
  void touches(const MemoryEnd& source, const MemoryEnd& destination, uint32_t) override {
    if (kinds == 0)
      kinds = static_cast<uint32_t>(kind_of_memory(source)) << 4 |
              static_cast<uint32_t>(kind_of_memory(destination));
  }
  uint32_t kinds = 0;
};

// The words in the parameters of a kernel that may be pointers: those of 8 bytes, aligned in the
// driver's buffer of parameters.
struct Parameters {
  struct Words {
    uint16_t offset;  // of the parameter in the buffer
    uint16_t first;   // of the words in the parameter
    uint16_t count;
    uint8_t parameter;
    bool whole;  // the parameter is one word and may itself be a pointer
  };
  static constexpr size_t kMost = 32;  // parameters
  const void* function = nullptr;
  uint32_t epoch = 0;
  uint16_t count = 0;
  bool cut = false;  // not everything is scanned or reported; that is recorded as a loss
  Words words[kMost];
};

// Kernels have up to 32 KiB of parameters. Limits on the words scanned and reported per launch.
constexpr uint32_t kMostWords = 1024;
constexpr size_t kMostReported = 250;

// Granules of the address space in which the program allocated memory while it was recorded. Insert
// only, so that no thread waits for it: the analysis knows what was freed since.
constexpr int kGranuleBits = 25;
constexpr size_t kGranuleSlots = 1 << 14;
constexpr uint64_t kMostGranules = kGranuleSlots / 4;          // of one allocation
constinit std::atomic<uint64_t> granules[kGranuleSlots] = {};  // number + 1; 0 is empty
constinit std::atomic<bool> all_granules{false};               // the table is full, or not complete

// The slot of a granule or the free one for it; null if there is none nearby.
std::atomic<uint64_t>* granule_slot(uint64_t granule) {
  const size_t start = granule * 0x9e3779b97f4a7c15ull >> 50;
  for (size_t i = 0; i < 32; ++i) {
    std::atomic<uint64_t>& slot = granules[(start + i) % kGranuleSlots];
    uint64_t seen = slot.load(std::memory_order_relaxed);
    if (seen == 0 || seen == granule + 1) return &slot;
  }
  return nullptr;
}

bool may_be_allocated(uint64_t address) {
  if (all_granules.load(std::memory_order_relaxed)) return true;
  const std::atomic<uint64_t>* slot = granule_slot(address >> kGranuleBits);
  return slot == nullptr || slot->load(std::memory_order_relaxed) != 0;
}

}  // namespace

struct KernelParameters {
  Parameters known[64];
};

namespace {

// The parameters of a function; null if they cannot be queried now.
Parameters* parameters_of(ThreadState& thread, const void* function) {
  if (thread.kernel_parameters == nullptr) {
    thread.kernel_parameters =
        static_cast<KernelParameters*>(permanent_memory(sizeof(KernelParameters)));
    if (thread.kernel_parameters == nullptr) return nullptr;
  }
  auto& known = thread.kernel_parameters->known;
  Parameters& slot = known[(reinterpret_cast<uintptr_t>(function) >> 4) % std::size(known)];
  const uint32_t epoch = session.names_epoch.load(std::memory_order_relaxed);
  if (slot.function == function && slot.epoch == epoch) return &slot;
  const Asking asking(reinterpret_cast<uintptr_t>(function), thread.begin);
  if (!asking.allowed()) return nullptr;
  slot.function = function;
  slot.epoch = epoch;
  slot.count = 0;
  slot.cut = false;
  uint32_t left = kMostWords;
  size_t offset = 0, size = 0;
  for (size_t i = 0; i < 256 && parameter_layout(function, i, &offset, &size); ++i) {
    const size_t first = -offset % sizeof(uint64_t);
    if (size < first + sizeof(uint64_t)) continue;
    const size_t count = (size - first) / sizeof(uint64_t);
    slot.cut = slot.cut || slot.count == Parameters::kMost || count > left;
    if (slot.count == Parameters::kMost || left == 0) break;
    const auto taken = static_cast<uint16_t>(std::min<size_t>(count, left));
    left -= taken;
    slot.words[slot.count++] = {static_cast<uint16_t>(offset), static_cast<uint16_t>(first), taken,
                                static_cast<uint8_t>(i), size == sizeof(uint64_t)};
  }
  if (slot.cut) report_loss(ring::Loss::kKernelParameters, 1);
  return &slot;
}

// The current record of words of one launch that may point into memory.
class Teller {
 public:
  Teller(ThreadState& thread, const ring::CallRecord& open) : thread_(thread) {
    record_.kind = ring::RecordKind::kKernelArguments;
    record_.call_number = open.call_number;
    record_.kernel = open.object;
  }
  ~Teller() {
    if (record_.count > 0) thread_.push(record_);
  }
  Teller(const Teller&) = delete;
  Teller& operator=(const Teller&) = delete;

  /// False: the limit is reached.
  bool report(uint64_t value, uint8_t parameter) {
    for (size_t i = 0; i < record_.count; ++i) {  // structs repeat their pointers
      if (record_.values[i] == value && record_.parameters[i] == parameter) return true;
    }
    if (reported_++ == kMostReported) return false;
    record_.values[record_.count] = value;
    record_.parameters[record_.count] = parameter;
    if (++record_.count < std::size(record_.values)) return true;
    thread_.push(record_);
    record_.count = 0;
    return true;
  }

 private:
  ThreadState& thread_;
  ring::KernelArgumentsRecord record_{};
  size_t reported_ = 0;
};

// Reports which words may be pointers: parameters of that size unless they are small numbers, and
// words inside others (structs passed by value) only if they point to where memory was allocated.
// False: there were too many.
bool report_words(Teller& reporter, const Parameters::Words& words,
                  std::span<const unsigned char> bytes) {
  const size_t count = std::min<size_t>(
      words.count,
      bytes.size() < words.first ? 0 : (bytes.size() - words.first) / sizeof(uint64_t));
  for (size_t i = 0; i < count; ++i) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + words.first + i * sizeof value, sizeof value);
    if (value < kLowestAddress || value >> 56 != 0) continue;  // a number
    if (!words.whole && !may_be_allocated(value)) continue;
    if (!reporter.report(value, words.parameter)) return false;
  }
  return true;
}

}  // namespace

void report_accesses(ThreadState& thread, const CallEntry& entry, const void* parameters,
                     const ring::CallRecord& call) {
  Sink sink(thread, call);
  entry.accesses(parameters, sink);
}

uint32_t memory_kinds(const CallEntry& entry, const void* parameters) {
  MemoryKinds asked;
  entry.accesses(parameters, asked);
  return asked.kinds;
}

void report_arguments(ThreadState& thread, const LaunchParameters& launch,
                      const ring::CallRecord& open) {
  thread.in_collector = true;  // the driver calls made here are not the program's
  Parameters* known = parameters_of(thread, launch.function);
  thread.in_collector = false;
  if (known == nullptr) return;
  Teller reporter(thread, open);
  bool reported_all = true;
  for (uint16_t i = 0; i < known->count && reported_all; ++i) {
    const Parameters::Words& words = known->words[i];
    const size_t bytes = words.first + words.count * sizeof(uint64_t);
    reported_all = report_words(reporter, words, launch.of(words.parameter, words.offset, bytes));
  }
  if (!reported_all && !std::exchange(known->cut, true))
    report_loss(ring::Loss::kKernelParameters, 1);
}

void note_allocation(uint64_t address, uint64_t bytes) {
  if (address == 0 || bytes == 0) return;
  const uint64_t first = address >> kGranuleBits, last = (address + bytes - 1) >> kGranuleBits;
  if (last < first || last - first >= kMostGranules) return all_granules.store(true);
  for (uint64_t granule = first; granule <= last; ++granule) {
    uint64_t empty = 0;
    std::atomic<uint64_t>* slot = granule_slot(granule);
    while (slot != nullptr && !slot->compare_exchange_strong(empty, granule + 1) &&
           empty != granule + 1) {
      empty = 0;
      slot = granule_slot(granule);  // another thread took the slot
    }
    if (slot == nullptr) return all_granules.store(true);
  }
}

void distrust_allocations() { all_granules.store(true); }

}  // namespace streamscope::collect
