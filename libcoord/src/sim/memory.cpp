// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Memory of a simulated device, and the work that touches it: copies, kernels, host functions,
// memory waits.

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "codes.h"
#include "sim/call.h"
#include "sim/sim_backend.h"

namespace coord::sim {

namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::uint32_t kPageable = 1, kPinned = 2, kDevice = 3;  // CUPTI's memory kinds

std::int64_t transfer_ns(std::size_t bytes, std::int64_t bytes_per_us) {
  return static_cast<std::int64_t>(static_cast<double>(bytes) * 1000.0 /
                                   static_cast<double>(bytes_per_us));
}

}  // namespace

void* SimBackend::allocate(std::size_t bytes, bool on_host) {
  Call call(*this, on_host ? "simMallocHost" : "simMalloc");
  call.enter();
  if (!on_host && bytes > config_.memory_bytes - device_bytes_in_use_) {
    call.fail(kCodeOutOfMemory, std::to_string(bytes) + " bytes wanted, " +
                                    std::to_string(config_.memory_bytes - device_bytes_in_use_) +
                                    " free");
  }
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* address = std::aligned_alloc(kAlignment, rounded);
  if (address == nullptr)
    call.fail(kCodeOutOfMemory, "the host has no " + std::to_string(bytes) + " bytes left");
  if (on_host) {
    std::memset(address, 0, rounded);
  } else {
    device_bytes_in_use_ += bytes;
  }
  memory_[reinterpret_cast<std::uintptr_t>(address)] = {
      .address = address, .bytes = bytes, .on_host = on_host, .trace_address = next_trace_address_};
  call.says(next_trace_address_, bytes);
  next_trace_address_ += rounded;
  call.finish(config_.calibration.allocate_ns);
  return address;
}

void SimBackend::release(void* address, bool on_host) noexcept {
  const auto key = reinterpret_cast<std::uintptr_t>(address);
  if (inside_device()) return;
  Call call(*this, on_host ? "simFreeHost" : "simFree");
  call.says(trace_address(address));
  try {
    call.enter();
    // As CUDA does, wait for everything. A device that is stuck keeps the memory until it is
    // closed.
    InsideDevice inside;
    engine_.advance(call.begin_ns);
    bool stuck = false;
    for (std::uint32_t stream = 0; stream < streams_.size(); ++stream) {
      stuck = !engine_.run_until(engine_.tail(stream)) || stuck;
    }
    if (stuck) {
      abandoned_memory_.push_back(address);
    } else {
      std::free(address);
    }
    call.blocked_until(engine_.now_ns());
    call.finish(config_.calibration.release_ns);
  } catch (const Error&) {
    std::free(address);  // the device has failed and runs nothing any more
  }
  const auto range = memory_.find(key);
  if (!on_host) device_bytes_in_use_ -= range->second.bytes;
  memory_.erase(range);
}

std::map<std::uintptr_t, SimBackend::Range>::const_iterator SimBackend::find_range(
    const void* address) const {
  const auto key = reinterpret_cast<std::uintptr_t>(address);
  auto after = memory_.upper_bound(key);
  if (after == memory_.begin()) return memory_.end();
  --after;
  return key < after->first + after->second.bytes ? after : memory_.end();
}

bool SimBackend::in_range(const void* address, std::size_t bytes, bool on_host) const {
  const auto range = find_range(address);
  return range != memory_.end() && range->second.on_host == on_host &&
         reinterpret_cast<std::uintptr_t>(address) + bytes <= range->first + range->second.bytes;
}

std::uint64_t SimBackend::trace_address(const void* address) const {
  const auto range = find_range(address);
  if (range == memory_.end()) return 0;
  return range->second.trace_address + (reinterpret_cast<std::uintptr_t>(address) - range->first);
}

void SimBackend::copy(NativeStream stream, void* to, const void* from, std::size_t bytes,
                      CopyDirection direction) {
  Call call(*this, "simMemcpyAsync");
  call.on_stream(stream);
  call.enter();
  const Calibration& costs = config_.calibration;
  call.says(static_cast<std::uint64_t>(direction) + 1, bytes);  // cudaMemcpyKind
  if (bytes == 0) return call.finish(costs.copy_ns);
  if (direction != CopyDirection::kHostToDevice && !in_range(from, bytes, false)) {
    call.fail(kCodeInvalidValue, "the source is not device memory of that size");
  }
  if (direction != CopyDirection::kDeviceToHost && !in_range(to, bytes, false)) {
    call.fail(kCodeInvalidValue, "the destination is not device memory of that size");
  }

  OpSpec spec{.bytes = bytes, .work = [to, from, bytes] { std::memcpy(to, from, bytes); }};
  std::int64_t host_ns = costs.copy_ns;
  bool blocks = false;
  if (direction == CopyDirection::kDeviceToDevice) {
    spec.kind = OpKind::kCopyInDevice;
    spec.name = "copy within device";
    spec.memory_kinds = kDevice << 4 | kDevice;
    spec.duration_ns = costs.copy_fixed_ns + transfer_ns(bytes, costs.device_bytes_per_us);
  } else {
    const bool up = direction == CopyDirection::kHostToDevice;
    const bool pinned = in_range(up ? from : to, bytes, true);
    const std::uint32_t host_kind = pinned ? kPinned : kPageable;
    spec.kind = up ? OpKind::kCopyToDevice : OpKind::kCopyToHost;
    spec.name = up ? "copy to device" : "copy to host";
    spec.memory_kinds = up ? host_kind << 4 | kDevice : kDevice << 4 | host_kind;
    spec.duration_ns =
        costs.copy_fixed_ns + transfer_ns(bytes, !pinned ? costs.pageable_copy_bytes_per_us
                                                 : up    ? costs.host_to_device_bytes_per_us
                                                         : costs.device_to_host_bytes_per_us);
    if (!pinned && up && bytes <= static_cast<std::size_t>(costs.pageable_staging_bytes)) {
      // Staged: the source may be reused on return.
      auto staged = std::make_shared<std::vector<std::byte>>(bytes);
      std::memcpy(staged->data(), from, bytes);
      spec.work = [to, staged] { std::memcpy(to, staged->data(), staged->size()); };
      host_ns += transfer_ns(bytes, costs.pageable_bytes_per_us);
    } else {
      blocks = !pinned;
    }
  }
  const OpRef op[] = {call.submit(std::move(spec))};
  if (blocks) call.block_until(op, 0, costs.wake_spinning_ns);
  call.finish(host_ns);
}

void SimBackend::memset(NativeStream stream, void* to, std::uint8_t value, std::size_t bytes) {
  Call call(*this, "simMemsetAsync");
  call.on_stream(stream);
  call.enter();
  call.says(trace_address(to), bytes);
  if (bytes > 0) {
    if (!in_range(to, bytes, false))
      call.fail(kCodeInvalidValue, "the destination is not device memory of that size");
    call.submit({.kind = OpKind::kMemset,
                 .duration_ns = config_.calibration.copy_fixed_ns +
                                transfer_ns(bytes, config_.calibration.memset_bytes_per_us),
                 .bytes = bytes,
                 .name = "memset",
                 .work = [to, value, bytes] { std::memset(to, value, bytes); }});
  }
  call.finish(config_.calibration.memset_ns);
}

void SimBackend::launch(NativeStream stream, const KernelSpec& kernel) {
  Call call(*this, "simLaunchKernel");
  call.on_stream(stream);
  call.enter();
  const Transform& transform = kernel.transform;
  const std::size_t bytes = transform.count * sizeof(float);
  if (bytes > 0 &&
      (!in_range(transform.input, bytes, false) || !in_range(transform.output, bytes, false))) {
    call.fail(kCodeInvalidValue,
              "input or output of the transform is not device memory of that size");
  }
  call.submit({.kind = OpKind::kKernel,
               .duration_ns = kernel.duration.count(),
               .blocks = kernel.blocks,
               .name = kernel.name,
               .work = [transform, function = kernel.function] {
                 for (std::size_t i = 0; i < transform.count; ++i) {
                   transform.output[i] =
                       std::fma(transform.scale, transform.input[i], transform.offset);
                 }
                 if (function) function();
               }});
  call.finish(config_.calibration.launch_ns);
}

void SimBackend::host_function(NativeStream stream, std::function<void()> function) {
  Call call(*this, "simLaunchHostFunc");
  call.on_stream(stream);
  call.enter();
  call.submit({.kind = OpKind::kHostFunction,
               .duration_ns = config_.calibration.host_function_return_ns,
               .name = "host function",
               .work = [function = std::move(function)]() noexcept { function(); }});
  call.finish(config_.calibration.host_function_ns);
}

void SimBackend::wait_value(NativeStream stream, const std::uint64_t* address,
                            std::uint64_t value) {
  Call call(*this, "simStreamWaitValue");
  call.on_stream(stream);
  call.enter();
  call.says(trace_address(address), value);
  if (find_range(address) == memory_.end())
    call.fail(kCodeInvalidValue, "the device cannot access that address");
  call.submit({.kind = OpKind::kMemoryWait,
               .name = "memory wait",
               .address = const_cast<std::uint64_t*>(address),
               .value = value});
  call.finish(config_.calibration.wait_value_ns);
}

void SimBackend::write_value(NativeStream stream, std::uint64_t* address, std::uint64_t value) {
  Call call(*this, "simStreamWriteValue");
  call.on_stream(stream);
  call.enter();
  call.says(trace_address(address), value);
  if (find_range(address) == memory_.end())
    call.fail(kCodeInvalidValue, "the device cannot access that address");
  call.submit({.kind = OpKind::kMemoryWrite,
               .duration_ns = config_.calibration.write_value_gpu_ns,
               .name = "memory write",
               .address = address,
               .value = value});
  call.finish(config_.calibration.write_value_ns);
}

}  // namespace coord::sim
