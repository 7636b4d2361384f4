// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/accesses.h"

#include <algorithm>
#include <cstring>

#include "collect/asking.h"
#include "collect/cupti_library.h"
#include "collect/memory.h"
#include "collect/session.h"
#include "collect/thread_state.h"

namespace streamscope::collect {

namespace {

// Below it no memory is ever mapped.
constexpr uint64_t kLowestAddress = 0x10000;

class Sink final : public AccessSink {
 public:
  Sink(ThreadState& thread, const ring::CallRecord& call) : thread_(thread), call_(call) {}

  void touches(const MemoryEnd& source, const MemoryEnd& destination, uint32_t rows) override {
    if ((source.bytes == 0 && destination.bytes == 0) || rows == 0) return;
    ring::AccessRecord record{};
    record.kind = ring::RecordKind::kAccess;
    record.source = static_cast<uint8_t>(ring::AccessSource::kArgument);
    record.writes = 2;
    record.correlation_id = call_.correlation_id;
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

// Which parameters of a kernel have the size of a pointer.
struct Parameters {
  static constexpr size_t kMost = 24;
  const void* function = nullptr;
  uint32_t epoch = 0;
  uint16_t count = 0;
  uint8_t index[kMost];
  uint16_t offset[kMost];
};

// Kernels come as CUfunction or, since 12.0, as CUkernel.
bool parameter(const void* function, size_t index, size_t* offset, size_t* size) {
  const auto ask = [&](auto query) {
    return query != nullptr &&
           query(const_cast<void*>(function), index, offset, size) == CUDA_SUCCESS;
  };
  return ask(cuda.cuFuncGetParamInfo) || ask(cuda.cuKernelGetParamInfo);
}

}  // namespace

struct KernelParameters {
  Parameters known[64];
};

namespace {

const Parameters* parameters_of(ThreadState& thread, const void* function) {
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
  size_t offset = 0, size = 0;
  for (size_t i = 0; i < 256 && slot.count < Parameters::kMost; ++i) {
    if (!parameter(function, i, &offset, &size)) break;
    if (size != sizeof(void*)) continue;
    slot.index[slot.count] = static_cast<uint8_t>(i);
    slot.offset[slot.count++] = static_cast<uint16_t>(offset);
  }
  return &slot;
}

// Where the packed parameters lie if a launch gives them in one buffer.
const unsigned char* buffer_of(void** extra, size_t* bytes) {
  const unsigned char* buffer = nullptr;
  for (size_t i = 0; extra != nullptr && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = static_cast<const unsigned char*>(extra[i + 1]);
    else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      *bytes = *static_cast<const size_t*>(extra[i + 1]);
  }
  return buffer;
}

}  // namespace

void tell_accesses(ThreadState& thread, const CallEntry& entry, const void* parameters,
                   const ring::CallRecord& call) {
  Sink sink(thread, call);
  entry.accesses(parameters, sink);
}

void tell_arguments(ThreadState& thread, ring::CallId driver_call, const void* parameters,
                    const ring::OpenCall& open) {
  const void* function = nullptr;
  void** values = nullptr;
  void** extra = nullptr;
  const std::string_view name = ring::call_info(driver_call).name;
  if (name == "cuLaunchKernel") {
    const auto& p = *static_cast<const cuLaunchKernel_params*>(parameters);
    function = p.f, values = p.kernelParams, extra = p.extra;
  } else if (name == "cuLaunchKernelEx") {
    const auto& p = *static_cast<const cuLaunchKernelEx_params*>(parameters);
    function = p.f, values = p.kernelParams, extra = p.extra;
  } else if (name == "cuLaunchCooperativeKernel") {
    const auto& p = *static_cast<const cuLaunchCooperativeKernel_params*>(parameters);
    function = p.f, values = p.kernelParams;
  }
  if (function == nullptr) return;
  thread.in_collector = true;  // the driver's answers are no calls of the program
  const Parameters* known = parameters_of(thread, function);
  thread.in_collector = false;
  if (known == nullptr) return;
  size_t bytes = 0;
  const unsigned char* buffer = values == nullptr ? buffer_of(extra, &bytes) : nullptr;
  ring::KernelArgumentsRecord record{};
  record.kind = ring::RecordKind::kKernelArguments;
  record.correlation_id = open.correlation_id.load(std::memory_order_relaxed);
  record.kernel = open.object.load(std::memory_order_relaxed);
  for (uint16_t i = 0; i < known->count; ++i) {
    const unsigned char* from = nullptr;
    if (values != nullptr) {
      from = static_cast<const unsigned char*>(values[known->index[i]]);
    } else if (buffer != nullptr && known->offset[i] + sizeof(void*) <= bytes) {
      from = buffer + known->offset[i];
    }
    if (from == nullptr) continue;
    uint64_t value = 0;
    std::memcpy(&value, from, sizeof value);
    if (value < kLowestAddress || value >> 56 != 0) continue;  // a number
    record.values[record.count] = value;
    record.parameters[record.count] = known->index[i];
    if (++record.count < std::size(record.values)) continue;
    thread.push(record);
    record.count = 0;
  }
  if (record.count > 0) thread.push(record);
}

}  // namespace streamscope::collect
