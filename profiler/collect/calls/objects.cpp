// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/calls/objects.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "collect/calls/call_table.h"
#include "collect/process/asking.h"
#include "collect/process/driver.h"
#include "collect/process/session.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;

constexpr uint32_t kDefaultConnections = 8;  // when CUDA_DEVICE_MAX_CONNECTIONS is unset

constinit Numbering chosen_numbering{};

// Devices, contexts and streams already reported, as mixed keys. Insert only; 0 is empty.
constexpr size_t kKnownSlots = 1 << 13;
constinit std::atomic<uint64_t> reported[kKnownSlots] = {};

enum KeyKind : uint64_t { kDeviceKey = 1, kContextKey = 2, kStreamKey = 3 };

uint64_t key_of(KeyKind kind, uint64_t context, uint64_t object) {
  const uint64_t key =
      (object * 0x9e3779b97f4a7c15ull) ^ (context * 0xc2b2ae3d27d4eb4full) ^ (kind << 62 | kind);
  return key | (key == 0);
}

constexpr size_t kProbes = 16;

// False only if the key was certainly not seen yet.
bool may_be_reported(KeyKind kind, uint64_t context, uint64_t object) {
  const uint64_t key = key_of(kind, context, object);
  for (size_t i = 0; i < kProbes; ++i) {
    const uint64_t seen = reported[(key + i) % kKnownSlots].load(std::memory_order_relaxed);
    if (seen == 0) return false;
    if (seen == key) return true;
  }
  return true;
}

// True the first time a key is seen. When the table is crowded the result is true: reporting twice
// does no harm.
bool first_time(KeyKind kind, uint64_t context, uint64_t object) {
  const uint64_t key = key_of(kind, context, object);
  for (size_t i = 0; i < kProbes; ++i) {
    std::atomic<uint64_t>& slot = reported[(key + i) % kKnownSlots];
    uint64_t seen = slot.load(std::memory_order_relaxed);
    if (seen == key) return false;
    if (seen == 0) {
      if (slot.compare_exchange_strong(seen, key, std::memory_order_relaxed)) return true;
      if (seen == key) return false;
    }
  }
  return true;
}

uint32_t attribute(CUdevice device, CUdevice_attribute attribute_id) {
  int value = 0;
  if (cuda.cuDeviceGetAttribute == nullptr ||
      cuda.cuDeviceGetAttribute(&value, attribute_id, device) != CUDA_SUCCESS || value < 0)
    return 0;
  return static_cast<uint32_t>(value);
}

void report_device(ThreadState& thread, uint32_t ordinal) {
  if (!first_time(kDeviceKey, 0, ordinal)) return;
  ring::DeviceRecord record{};
  record.kind = RecordKind::kDevice;
  record.ordinal = ordinal;
  record.max_connections = kDefaultConnections;
  if (const char* value = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS")) {
    const unsigned long connections = std::strtoul(value, nullptr, 10);
    if (connections >= 1 && connections <= 32)
      record.max_connections = static_cast<uint32_t>(connections);
  }
  CUdevice device;
  if (has_cuda() && cuda.cuDeviceGet(&device, static_cast<int>(ordinal)) == CUDA_SUCCESS) {
    char name[256] = {};
    if (cuda.cuDeviceGetName != nullptr &&
        cuda.cuDeviceGetName(name, sizeof name - 1, device) == CUDA_SUCCESS)
      record.name = send_text(thread, name);
    CUuuid uuid{};
    if (cuda.cuDeviceGetUuid != nullptr && cuda.cuDeviceGetUuid(&uuid, device) == CUDA_SUCCESS) {
      char text[64];
      char* at = text + std::snprintf(text, sizeof text, "GPU-");
      for (int i = 0; i < 16; ++i) {
        at += std::snprintf(at, 4, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
                            static_cast<unsigned char>(uuid.bytes[i]));
      }
      record.uuid = send_text(thread, text);
    }
    size_t bytes = 0;
    if (cuda.cuDeviceTotalMem != nullptr && cuda.cuDeviceTotalMem(&bytes, device) == CUDA_SUCCESS)
      record.memory_bytes = bytes;
    record.compute_capability =
        static_cast<uint16_t>(10 * attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                              attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    record.sm_count = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    record.copy_engines = attribute(device, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
  }
  thread.push(record);
}

void report_stream(ThreadState& thread, uint32_t context_id, uint64_t handle, uint32_t id,
                   StreamKind kind, int32_t priority, bool destroyed, uint64_t at,
                   uint32_t tid = 0) {
  ring::StreamRecord record{};
  record.kind = RecordKind::kStream;
  record.stream_kind = static_cast<uint8_t>(kind);
  record.destroyed = destroyed ? 1 : 0;
  record.context = context_id;
  record.handle = handle;
  record.begin = at;
  record.stream = id;
  record.priority = priority;
  record.tid = tid;
  thread.push(record);
}

// What the driver knows of a stream that is certainly alive.
void describe_stream(ThreadState& thread, CUcontext context, uint32_t context_id, uint64_t stream) {
  auto handle = reinterpret_cast<CUstream>(stream);
  StreamKind kind = kUnknownStream;
  unsigned flags = 0;
  int priority = 0;
  if (cuda.cuStreamGetFlags != nullptr && cuda.cuStreamGetFlags(handle, &flags) == CUDA_SUCCESS)
    kind = (flags & CU_STREAM_NON_BLOCKING) != 0 ? kNonBlockingStream : kBlockingStream;
  if (cuda.cuStreamGetPriority != nullptr) cuda.cuStreamGetPriority(handle, &priority);
  report_stream(thread, context_id, stream, numbering().stream(context, handle, false), kind,
                priority, false, ticks());
}

}  // namespace

void set_numbering(const Numbering& chosen) { chosen_numbering = chosen; }

const Numbering& numbering() { return chosen_numbering; }

void report_context(ThreadState& thread, CUcontext context, uint32_t context_id) {
  if (!first_time(kContextKey, context_id, 0)) return;
  uint32_t device = 0;
  if (numbering().device(context, &device)) report_device(thread, device);
  const uint32_t null_stream = numbering().stream(context, nullptr, false);
  ring::ContextRecord record{};
  record.kind = RecordKind::kContext;
  record.context = context_id;
  record.device = device;
  record.null_stream = null_stream;
  record.handle = reinterpret_cast<uintptr_t>(context);
  record.begin = ticks();
  thread.push(record);
  if (null_stream != ring::kNone32)
    report_stream(thread, context_id, 0, null_stream, kLegacyStream, 0, false, record.begin);
}

void report_stream_change(ThreadState& thread, CUcontext context, uint32_t context_id,
                          CUstream stream, bool destroyed, uint64_t at) {
  StreamKind kind = kUnknownStream;
  int32_t priority = 0;
  // What no source reports is in the creating call's parameters.
  if (thread.open_entry != nullptr && thread.open_entry->kind == CallKind::kStreamCreate) {
    const uint64_t facts = thread.open_call().call().value;
    kind = (facts & CU_STREAM_NON_BLOCKING) != 0 ? kNonBlockingStream : kBlockingStream;
    priority = static_cast<int32_t>(facts >> 32);
  }
  const auto handle = reinterpret_cast<uintptr_t>(stream);
  if (!destroyed) first_time(kStreamKey, context_id, handle);
  // Its number was reported when it was created.
  const uint32_t id = destroyed ? ring::kNone32 : numbering().stream(context, stream, false);
  report_stream(thread, context_id, handle, id, kind, priority, destroyed, at);
}

void report_per_thread_stream(ThreadState& thread, CUcontext context, uint32_t context_id) {
  const uint64_t bit = uint64_t{1} << context_id % 64;
  if ((thread.per_thread_contexts & bit) != 0) return;
  const Asking asking(kAllHandles, thread.begin);
  if (!asking.allowed()) return;
  thread.per_thread_contexts |= bit;
  const uint32_t id = numbering().stream(context, nullptr, true);
  if (id == ring::kNone32) return;
  report_stream(thread, context_id, reinterpret_cast<uintptr_t>(CU_STREAM_PER_THREAD), id,
                kPerThreadStream, 0, false, ticks(), thread.tid);
}

void report_used(ThreadState& thread, CUcontext context, uint32_t context_id, uint64_t stream) {
  const Asking asking(stream > 2 ? stream : kAllHandles, thread.begin);
  if (!asking.allowed()) return;
  report_context(thread, context, context_id);
  if (stream <= 2 || !first_time(kStreamKey, context_id, stream)) return;
  describe_stream(thread, context, context_id, stream);
}

bool is_known_stream(ThreadState& thread, CUcontext context, uint32_t context_id, uint64_t stream) {
  if (may_be_reported(kStreamKey, context_id, stream)) return true;
  first_time(kStreamKey, context_id, stream);
  const Asking asking(stream, thread.begin);
  if (asking.allowed()) describe_stream(thread, context, context_id, stream);
  return false;
}

void forget_objects_after_fork() {
  for (std::atomic<uint64_t>& slot : reported) {
    if (slot.load(std::memory_order_relaxed) != 0) slot.store(0, std::memory_order_relaxed);
  }
}

}  // namespace streamscope::collect
