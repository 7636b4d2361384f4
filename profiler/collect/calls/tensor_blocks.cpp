// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Blocks of PyTorch's caching allocator: it tells each one that it hands out or takes back to its
// profiler by an exported function, in whose place this library has one that passes the report on.
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collect/calls/call_table.h"
#include "collect/process/next_function.h"
#include "collect/process/session.h"
#include "collect/process/thread_state.h"
#include "collect/stacks/stacks.h"

namespace c10 {

/// As in PyTorch.
struct Device {
  int8_t type;
  int8_t index;
};

}  // namespace c10

namespace streamscope::collect {
namespace {

constexpr int8_t kCuda = 1;

void note_block(void* address, int64_t bytes) {
  constexpr uint32_t kWanted = ring::kWithAlloc | ring::kWithAccesses;
  if (!running() || (session.control->with & kWanted) == 0 || bytes == 0) return;
  const uint64_t now = ticks();
  ThreadState* const thread = this_thread();
  if (thread == nullptr || thread->in_collector || !collects(now)) return;
  ring::TensorBlockRecord record{};
  record.kind = ring::RecordKind::kTensorBlock;
  record.taken_back = bytes < 0;
  record.address = reinterpret_cast<uintptr_t>(address);
  record.bytes = static_cast<uint64_t>(bytes < 0 ? -bytes : bytes);
  record.begin = now;
  if (bytes > 0 && session.stack_calls == kEntryTraced) record.stack = take_stack(*thread);
  thread->push(record);
}

// The function of PyTorch's own library, which is usually in no global scope; null if there is
// none.
void* own_function(const char* name, void* caller) {
  if (void* const library = ::dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD)) {
    void* const function = ::dlsym(library, name);
    ::dlclose(library);
    if (function != nullptr) return function;
  }
  return next_function(name, caller);
}

template <class Total>
using Report = void(void*, int64_t, Total, Total, c10::Device);

template <class Total>
void pass_on(const char* name, void* caller, void* address, int64_t bytes, Total allocated,
             Total reserved, c10::Device device) {
  static constinit std::atomic<Report<Total>*> known{nullptr};
  Report<Total>* real = known.load(std::memory_order_acquire);
  if (real == nullptr) {
    real = reinterpret_cast<Report<Total>*>(own_function(name, caller));
    known.store(real, std::memory_order_release);
  }
  if (device.type == kCuda) note_block(address, bytes);
  if (real != nullptr) real(address, bytes, allocated, reserved, device);
}

}  // namespace
}  // namespace streamscope::collect

namespace c10 {

// NOLINTBEGIN(readability-identifier-naming)
// Its totals were signed in earlier versions.
__attribute__((visibility("default"))) void reportMemoryUsageToProfiler(
    void* address, int64_t bytes, size_t allocated, size_t reserved, Device device) {
  streamscope::collect::pass_on("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE",
                                __builtin_return_address(0), address, bytes, allocated, reserved,
                                device);
}
__attribute__((visibility("default"))) void reportMemoryUsageToProfiler(
    void* address, int64_t bytes, int64_t allocated, int64_t reserved, Device device) {
  streamscope::collect::pass_on("_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE",
                                __builtin_return_address(0), address, bytes, allocated, reserved,
                                device);
}
// NOLINTEND(readability-identifier-naming)

}  // namespace c10
