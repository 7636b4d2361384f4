// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Memory of a simulated device, and the work that accesses it: copies, kernels, host functions,
// memory waits.

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "codes.h"
#include "observer.h"
#include "sim/call.h"
#include "sim/sim_backend.h"

namespace coord::sim {

namespace {

constexpr std::size_t kAlignment = 256;
constexpr const char* kOutsideItsLife =
    "illegal address: stream-ordered memory used before its allocation or after it was freed";
constexpr std::uint32_t kPageable = 1, kPinned = 2, kDevice = 3, kManaged = 5;  // as CUPTI's

std::int64_t transfer_ns(std::size_t bytes, std::int64_t bytes_per_us) {
  return static_cast<std::int64_t>(static_cast<double>(bytes) * 1000.0 /
                                   static_cast<double>(bytes_per_us));
}

std::size_t round_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

void* SimBackend::allocate(std::size_t bytes, bool on_host) {
  Call call(*this, on_host ? "simMallocHost" : "simMalloc");
  return allocate(call, bytes, on_host);
}

void* SimBackend::allocate_managed(std::size_t bytes) {
  Call call(*this, "simMalloc");
  void* const address = allocate(call, bytes, false);
  Range& range = machine_.memory[reinterpret_cast<std::uintptr_t>(address)];
  range.managed = range.pages_on_host = true;
  return address;
}

void* SimBackend::allocate(Call& call, std::size_t bytes, bool on_host) {
  call.enter(CaptureRule::kUnsafe);
  std::uint64_t& in_use = machine_.device_bytes_in_use[device_];
  if (!on_host && bytes > machine_.config.memory_bytes - in_use) {
    call.fail(kCodeOutOfMemory, std::to_string(bytes) + " bytes wanted, " +
                                    std::to_string(machine_.config.memory_bytes - in_use) +
                                    " free");
  }
  void* address = std::aligned_alloc(kAlignment, round_up(bytes));
  if (address == nullptr)
    call.fail(kCodeOutOfMemory, "the host has no " + std::to_string(bytes) + " bytes left");
  if (on_host) {
    std::memset(address, 0, round_up(bytes));
  } else {
    in_use += bytes;
  }
  machine_.memory[reinterpret_cast<std::uintptr_t>(address)] = {
      .address = address,
      .bytes = bytes,
      .on_host = on_host,
      .device = device_,
      .trace_address = machine_.next_trace_address};
  call.says(machine_.next_trace_address, bytes);
  machine_.next_trace_address += round_up(bytes);
  call.finish(costs_.allocate_ns);
  return address;
}

void SimBackend::release(void* address, bool on_host) noexcept {
  if (inside_device()) return;
  bool in_use = false;
  Call call(*this, on_host ? "simFreeHost" : "simFree");
  call.cannot_throw();
  call.says(machine_.trace_address(address));
  try {
    call.enter(CaptureRule::kUnsafe);
    // Like CUDA, wait for everything. A stuck device keeps the memory until it is closed.
    in_use = !call.drain();
    call.finish(costs_.release_ns);
  } catch (const Error&) {
    // The device has failed and no longer runs work, or a capture will still use the memory.
    in_use = machine_.engine.failure().empty();
  }
  if (in_use) {
    machine_.abandoned_memory.push_back(address);
  } else {
    std::free(address);
  }
  const auto range = machine_.memory.find(reinterpret_cast<std::uintptr_t>(address));
  if (!on_host) machine_.device_bytes_in_use[device_] -= range->second.bytes;
  machine_.memory.erase(range);
}

void* SimBackend::allocate_async(NativeStream stream, std::size_t bytes) {
  Call call(*this, "simMallocAsync", stream);
  if (call.captured())
    call.fail(kCodeNotSupported, "the simulated device allocates no memory in graphs");
  std::uint64_t& in_use = machine_.device_bytes_in_use[device_];
  if (bytes > machine_.config.memory_bytes - in_use)
    call.fail(kCodeOutOfMemory, std::to_string(bytes) + " bytes requested");
  // Reuse freed memory of that size if its free is ordered before, or has ended. While orders are
  // explored every block is new, so that a use of an old block is not mistaken for one of its
  // successor.
  void* address = nullptr;
  if (machine_.scheduler == nullptr) {
    for (auto& [key, range] : machine_.memory) {
      if (range.freed && range.device == device_ && round_up(range.bytes) == round_up(bytes) &&
          (range.freed_in == call.stream || machine_.engine.done(range.freed_by))) {
        address = range.address;
        break;
      }
    }
  }
  const bool fresh = address == nullptr;
  if (fresh) address = std::aligned_alloc(kAlignment, round_up(bytes));
  if (address == nullptr)
    call.fail(kCodeOutOfMemory, "the host has no " + std::to_string(bytes) + " bytes left");
  in_use += bytes;
  const auto block = std::make_shared<PoolBlock>();
  Range& range = machine_.memory[reinterpret_cast<std::uintptr_t>(address)];
  range = {.address = address,
           .bytes = bytes,
           .device = device_,
           .trace_address = fresh ? machine_.next_trace_address : range.trace_address,
           .block = block};
  if (fresh) machine_.next_trace_address += round_up(bytes);
  call.says(range.trace_address, bytes);
  OpSpec spec{
      .kind = OpKind::kAllocate, .name = "allocation", .work = [block] { block->live = true; }};
  if (machine_.scheduler != nullptr)
    spec.accesses.push_back({reinterpret_cast<std::uintptr_t>(address), bytes, true});
  call.submit(std::move(spec));
  call.finish(costs_.allocate_async_ns);
  return address;
}

void SimBackend::free_async(NativeStream stream, void* address) {
  Call call(*this, "simFreeAsync", stream);
  if (call.captured())
    call.fail(kCodeNotSupported, "the simulated device frees no memory in graphs");
  const auto found = machine_.memory.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == machine_.memory.end() || found->second.block == nullptr || found->second.freed)
    call.fail(kCodeInvalidValue, "not stream-ordered memory, or already freed");
  Range& range = found->second;
  call.says(range.trace_address);
  OpSpec spec{.kind = OpKind::kFree, .name = "memory release", .work = [block = range.block] {
                if (!block->live) throw DeviceFault(kCodeIllegalAddress, kOutsideItsLife);
                block->live = false;
                block->freed = true;
              }};
  if (machine_.scheduler != nullptr) spec.accesses.push_back({found->first, range.bytes, true});
  range.freed = true;
  range.freed_in = call.stream;
  range.freed_by = call.submit(std::move(spec));
  machine_.device_bytes_in_use[device_] -= range.bytes;
  call.finish(costs_.free_async_ns);
}

void SimBackend::touches(OpSpec& spec, const void* address, std::size_t bytes, bool writes) {
  if (bytes == 0) return;
  if (machine_.scheduler != nullptr || machine_.hooks().access != nullptr)
    spec.accesses.push_back({reinterpret_cast<std::uintptr_t>(address), bytes, writes});
  const auto range = machine_.find_range(address);
  if (range == machine_.memory.end() || range->second.block == nullptr) return;
  spec.work = [block = range->second.block, work = std::move(spec.work)] {
    if (!block->live) throw DeviceFault(kCodeIllegalAddress, kOutsideItsLife);
    if (work) work();
  };
}

void SimBackend::host_access(const void* address, std::size_t bytes, bool writes) {
  if (machine_.scheduler != nullptr) {
    machine_.scheduler->host_access({reinterpret_cast<std::uintptr_t>(address), bytes, writes});
  } else {
    declare_access(COORD_NONE, address, bytes, writes);
  }
}

void SimBackend::declare_access(std::uint32_t operation, const void* address, std::size_t bytes,
                                bool writes) {
  if (machine_.hooks().access == nullptr) return;
  const TimeNs at = now();
  const std::lock_guard lock(machine_.mutex);
  notify_access(machine_.hooks(), operation, COORD_NONE, machine_.observer_address(address), bytes,
                writes, at.value);
}

void SimBackend::copy(NativeStream stream, void* to, const void* from, std::size_t bytes,
                      CopyDirection direction) {
  Call call(*this, "simMemcpyAsync", stream);
  call.says(static_cast<std::uint64_t>(direction) + 1, bytes);  // cudaMemcpyKind
  if (bytes == 0) return call.finish(costs_.copy_ns);
  if (direction != CopyDirection::kHostToDevice && !machine_.in_range(from, bytes, false)) {
    call.fail(kCodeInvalidValue, "the source is not device memory of that size");
  }
  if (direction != CopyDirection::kDeviceToHost && !machine_.in_range(to, bytes, false)) {
    call.fail(kCodeInvalidValue, "the destination is not device memory of that size");
  }

  OpSpec spec{.bytes = bytes, .work = [to, from, bytes] { std::memcpy(to, from, bytes); }};
  std::int64_t host_ns = costs_.copy_ns;
  bool blocks = false;
  if (direction == CopyDirection::kDeviceToDevice) {
    spec.kind = OpKind::kCopyInDevice;
    spec.name = "copy within device";
    spec.memory_kinds = kDevice << 4 | kDevice;
    spec.duration_ns = costs_.copy_fixed_ns + transfer_ns(bytes, costs_.device_bytes_per_us);
  } else {
    const bool up = direction == CopyDirection::kHostToDevice;
    const bool pinned = machine_.in_range(up ? from : to, bytes, true);  // or managed
    const std::uint32_t host_kind = pinned ? kPinned : kPageable;
    spec.kind = up ? OpKind::kCopyToDevice : OpKind::kCopyToHost;
    spec.name = up ? "copy to device" : "copy to host";
    spec.memory_kinds = up ? host_kind << 4 | kDevice : kDevice << 4 | host_kind;
    spec.fills_bus = pinned;
    spec.duration_ns =
        costs_.copy_fixed_ns + transfer_ns(bytes, !pinned ? costs_.pageable_copy_bytes_per_us
                                                  : up    ? costs_.host_to_device_bytes_per_us
                                                          : costs_.device_to_host_bytes_per_us);
    if (!pinned && up && bytes <= static_cast<std::size_t>(costs_.pageable_staging_bytes) &&
        !call.captured()) {
      // Staged: the source may be reused on return.
      auto staged = std::make_shared<std::vector<std::byte>>(bytes);
      std::memcpy(staged->data(), from, bytes);
      spec.work = [to, staged] { std::memcpy(to, staged->data(), staged->size()); };
      host_ns += transfer_ns(bytes, costs_.pageable_bytes_per_us);
      from = nullptr;
    } else {
      blocks = !pinned && !call.captured();
    }
  }
  if (from != nullptr) touches(spec, from, bytes, false);
  touches(spec, to, bytes, true);
  const OpRef op[] = {call.submit(std::move(spec))};
  if (blocks) call.block_until(op, 0, costs_.wake_spinning_ns);
  call.finish(host_ns);
}

bool SimBackend::can_reach(const Backend& other) const noexcept {
  const auto* peer = dynamic_cast<const SimBackend*>(&other);
  return peer != nullptr && peer->shared_ == shared_;
}

void SimBackend::copy_peer(NativeStream stream, void* to, Backend&, const void* from, Backend&,
                           std::size_t bytes) {
  Call call(*this, "simMemcpyAsync", stream);
  constexpr std::uint64_t kDeviceToDevice = 3;  // cudaMemcpyKind
  call.says(kDeviceToDevice, bytes);
  if (bytes > 0) {
    if (!machine_.in_range(from, bytes, false) || !machine_.in_range(to, bytes, false))
      call.fail(kCodeInvalidValue, "source or destination is not device memory of that size");
    OpSpec spec{.kind = OpKind::kCopyPeer,
                .duration_ns = costs_.copy_fixed_ns + transfer_ns(bytes, costs_.peer_bytes_per_us),
                .memory_kinds = kDevice << 4 | kDevice,
                .bytes = bytes,
                .name = "copy between devices",
                .work = [to, from, bytes] { std::memcpy(to, from, bytes); }};
    touches(spec, from, bytes, false);
    touches(spec, to, bytes, true);
    call.submit(std::move(spec));
  }
  call.finish(costs_.copy_ns);
}

// A copy of the pages that are elsewhere. Page faults cost nothing here.
void SimBackend::prefetch(NativeStream stream, void* address, std::size_t bytes, bool to_host) {
  Call call(*this, "simMemPrefetchAsync", stream);
  call.says(machine_.trace_address(address), bytes);
  const auto range = machine_.find_range(address);
  if (!machine_.in_range(address, bytes, to_host) || !range->second.managed)
    call.fail(kCodeInvalidValue, "not managed memory of that size");
  if (bytes > 0) {
    bool& on_host = machine_.memory[range->first].pages_on_host;
    const bool there = std::exchange(on_host, to_host) == to_host;
    OpSpec spec{
        .kind = to_host ? OpKind::kCopyToHost : OpKind::kCopyToDevice,
        .duration_ns = costs_.copy_fixed_ns +
                       (there ? 0
                              : transfer_ns(bytes, to_host ? costs_.device_to_host_bytes_per_us
                                                           : costs_.host_to_device_bytes_per_us)),
        .memory_kinds = kManaged << 4 | kManaged,
        .bytes = bytes,
        .name = to_host ? "prefetch to host" : "prefetch to device"};
    call.submit(std::move(spec));
  }
  call.finish(costs_.copy_ns);
}

MemoryKind SimBackend::memory_kind(const void* address) {
  const std::lock_guard lock(machine_.mutex);
  const auto range = machine_.find_range(address);
  if (range == machine_.memory.end()) return MemoryKind::kPageable;
  if (range->second.managed) return MemoryKind::kManaged;
  return range->second.on_host ? MemoryKind::kPinned : MemoryKind::kDevice;
}

void SimBackend::memset(NativeStream stream, void* to, std::uint8_t value, std::size_t bytes) {
  Call call(*this, "simMemsetAsync", stream);
  call.says(machine_.trace_address(to), bytes);
  if (bytes > 0) {
    if (!machine_.in_range(to, bytes, false))
      call.fail(kCodeInvalidValue, "the destination is not device memory of that size");
    OpSpec spec{
        .kind = OpKind::kMemset,
        .duration_ns = costs_.copy_fixed_ns + transfer_ns(bytes, costs_.memset_bytes_per_us),
        .bytes = bytes,
        .name = "memset",
        .work = [to, value, bytes] { std::memset(to, value, bytes); }};
    touches(spec, to, bytes, true);
    call.submit(std::move(spec));
  }
  call.finish(costs_.memset_ns);
}

void SimBackend::launch(NativeStream stream, const KernelSpec& kernel) {
  Call call(*this, "simLaunchKernel", stream);
  const Transform& transform = kernel.transform;
  const std::size_t bytes = transform.count * sizeof(float);
  if (bytes > 0 && (!machine_.in_range(transform.input, bytes, false) ||
                    !machine_.in_range(transform.output, bytes, false))) {
    call.fail(kCodeInvalidValue,
              "input or output of the transform is not device memory of that size");
  }
  if (kernel.spin_address != nullptr &&
      machine_.find_range(kernel.spin_address) == machine_.memory.end())
    call.fail(kCodeInvalidValue, "the device cannot access the address to spin on");
  const unsigned per_sm = kernel.blocks_per_sm == 0 ? Engine::kUnitsPerSm : kernel.blocks_per_sm;
  OpSpec spec{.kind = OpKind::kKernel,
              .computes = kernel.function && kernel.reads.empty() && kernel.writes.empty(),
              .duration_ns = kernel.duration.count() +
                             transfer_ns(kernel.traffic_bytes, costs_.device_bytes_per_us),
              .blocks = kernel.blocks,
              .block_units = (Engine::kUnitsPerSm + per_sm - 1) / per_sm,
              .name = kernel.name,
              .address = const_cast<std::uint64_t*>(kernel.spin_address),
              .value = kernel.spin_value};
  if (bytes > 0 || kernel.function) {
    spec.work = [transform, function = kernel.function] {
      for (std::size_t i = 0; i < transform.count; ++i)
        transform.output[i] = std::fma(transform.scale, transform.input[i], transform.offset);
      if (function) function();
    };
  }
  touches(spec, transform.input, bytes, false);
  touches(spec, transform.output, bytes, true);
  for (const MemoryRange& range : kernel.reads) touches(spec, range.address, range.bytes, false);
  for (const MemoryRange& range : kernel.writes) touches(spec, range.address, range.bytes, true);
  call.submit(std::move(spec));
  call.finish(costs_.launch_ns);
}

void SimBackend::host_function(NativeStream stream, std::function<void()> function) {
  Call call(*this, "simLaunchHostFunc", stream);
  OpSpec spec{.kind = OpKind::kHostFunction,
              .computes = true,
              .duration_ns = costs_.host_function_return_ns,
              .name = "host function"};
  if (machine_.scheduler != nullptr) {
    spec.work = std::move(function);
  } else {
    spec.work = [function = std::move(function)]() noexcept { function(); };
  }
  call.submit(std::move(spec));
  call.finish(costs_.host_function_ns);
}

void SimBackend::wait_value(NativeStream stream, const std::uint64_t* address,
                            std::uint64_t value) {
  Call call(*this, "simStreamWaitValue", stream);
  call.says(machine_.trace_address(address), value);
  if (machine_.find_range(address) == machine_.memory.end())
    call.fail(kCodeInvalidValue, "the device cannot access that address");
  call.submit({.kind = OpKind::kMemoryWait,
               .name = "memory wait",
               .address = const_cast<std::uint64_t*>(address),
               .value = value});
  call.finish(costs_.wait_value_ns);
}

void SimBackend::write_value(NativeStream stream, std::uint64_t* address, std::uint64_t value) {
  Call call(*this, "simStreamWriteValue", stream);
  call.says(machine_.trace_address(address), value);
  if (machine_.find_range(address) == machine_.memory.end())
    call.fail(kCodeInvalidValue, "the device cannot access that address");
  call.submit({.kind = OpKind::kMemoryWrite,
               .duration_ns = costs_.write_value_gpu_ns,
               .name = "memory write",
               .address = address,
               .value = value});
  call.finish(costs_.write_value_ns);
}

}  // namespace coord::sim
