// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "coord/stream.h"

#include <string>
#include <utility>

#include "codes.h"
#include "coord/device.h"
#include "device_state.h"

namespace coord {

const char* to_string(WorkKind kind) noexcept {
  constexpr const char* kNames[] = {"Kernel",     "Graph",        "CopyToDevice",
                                    "CopyToHost", "CopyInDevice", "CopyPeer",
                                    "Prefetch",   "Memset",       "HostFunction"};
  return kNames[static_cast<std::size_t>(kind)];
}

void StreamRef::refuse(const char* call) const {
  throw make_error(kCodeInvalidHandle, call,
                   state_ == nullptr ? "the stream is null" : "the stream was destroyed");
}

std::size_t StreamRef::checked_bytes(std::size_t host_bytes, std::size_t device_bytes) {
  if (host_bytes > device_bytes) {
    throw make_error(kCodeInvalidValue, "StreamRef::copy",
                     std::to_string(host_bytes) + " bytes on the host, but " +
                         std::to_string(device_bytes) + " in the device buffer");
  }
  return host_bytes;
}

Device StreamRef::device() const {
  return Device(checked("StreamRef::device").device->shared_from_this());
}

std::uint64_t StreamRef::handle() const { return checked("StreamRef::handle").native; }

CUstream_st* StreamRef::native() const {
  StreamState& stream = checked("StreamRef::native");
  if (stream.device->backend->properties().simulated) {
    throw make_error(kCodeNotSupported, "StreamRef::native",
                     "a simulated device has no CUDA streams");
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a pointer from CUDA
  return reinterpret_cast<CUstream_st*>(stream.native);
}

std::string_view StreamRef::name() const { return checked("StreamRef::name").name; }

int StreamRef::priority() const { return checked("StreamRef::priority").priority; }

namespace {

/// `host`: the side of the copy that is on the host, if one is.
void copy_as(WorkKind kind, CopyDirection direction, StreamState& stream, void* to,
             const void* from, std::size_t bytes, const void* host) {
  stream.give({kind, bytes, host},
              [&] { stream.device->backend->copy(stream.native, to, from, bytes, direction); });
}

}  // namespace

void StreamRef::copy_to_device(void* to, const void* from, std::size_t bytes) const {
  copy_as(WorkKind::kCopyToDevice, CopyDirection::kHostToDevice,
          checked("StreamRef::copy_to_device"), to, from, bytes, from);
}

void StreamRef::copy_to_host(void* to, const void* from, std::size_t bytes) const {
  copy_as(WorkKind::kCopyToHost, CopyDirection::kDeviceToHost, checked("StreamRef::copy_to_host"),
          to, from, bytes, to);
}

void StreamRef::copy(void* to, const void* from, std::size_t bytes) const {
  copy_as(WorkKind::kCopyInDevice, CopyDirection::kDeviceToDevice, checked("StreamRef::copy"), to,
          from, bytes, nullptr);
}

void StreamRef::copy_peer(const Device& to_device, void* to, const Device& from_device,
                          const void* from, std::size_t bytes) const {
  constexpr const char* kCall = "StreamRef::copy_peer";
  StreamState& stream = checked(kCall);
  Backend& target = *to_device.state()->backend;
  Backend& source = *from_device.state()->backend;
  if (stream.device->backend.get() != &target && stream.device->backend.get() != &source)
    throw make_error(kCodeInvalidHandle, kCall, "the stream belongs to neither device");
  if (!target.can_reach(source))
    throw make_error(kCodeNotSupported, kCall, "the devices cannot reach each other");
  stream.give({WorkKind::kCopyPeer, bytes}, [&] {
    stream.device->backend->copy_peer(stream.native, to, target, from, source, bytes);
  });
}

void StreamRef::prefetch_to_device(const void* address, std::size_t bytes) const {
  prefetch(address, bytes, false, "StreamRef::prefetch_to_device");
}

void StreamRef::prefetch_to_host(const void* address, std::size_t bytes) const {
  prefetch(address, bytes, true, "StreamRef::prefetch_to_host");
}

void StreamRef::prefetch(const void* address, std::size_t bytes, bool to_host,
                         const char* call) const {
  StreamState& stream = checked(call);
  stream.give({WorkKind::kPrefetch, bytes}, [&] {
    stream.device->backend->prefetch(stream.native, const_cast<void*>(address), bytes, to_host);
  });
}

void StreamRef::memset(void* to, std::uint8_t value, std::size_t bytes) const {
  StreamState& stream = checked("StreamRef::memset");
  stream.give({WorkKind::kMemset, bytes},
              [&] { stream.device->backend->memset(stream.native, to, value, bytes); });
}

void StreamRef::launch(const KernelSpec& kernel) const {
  constexpr const char* kCall = "StreamRef::launch";
  StreamState& stream = checked(kCall);
  if (kernel.blocks == 0)
    throw make_error(kCodeInvalidValue, kCall, "a kernel needs at least one block");
  if (kernel.blocks_per_sm > 16)
    throw make_error(kCodeInvalidValue, kCall, "at most 16 of its blocks fit on a multiprocessor");
  if (kernel.duration < Nanoseconds(0))
    throw make_error(kCodeInvalidValue, kCall, "the duration is negative");
  if (kernel.transform.count > 0 &&
      (kernel.transform.input == nullptr || kernel.transform.output == nullptr)) {
    throw make_error(kCodeInvalidValue, kCall, "the transform lacks its input or output");
  }
  stream.give({WorkKind::kKernel}, [&] { stream.device->backend->launch(stream.native, kernel); });
}

void StreamRef::host_function(std::function<void()> function) const {
  StreamState& stream = checked("StreamRef::host_function");
  if (!function)
    throw make_error(kCodeInvalidValue, "StreamRef::host_function", "the function is empty");
  stream.give({WorkKind::kHostFunction},
              [&] { stream.device->backend->host_function(stream.native, std::move(function)); });
}

void StreamRef::wait_value(const std::uint64_t* address, std::uint64_t value) const {
  StreamState& stream = checked("StreamRef::wait_value");
  stream.device->backend->wait_value(stream.native, address, value);
}

void StreamRef::write_value(std::uint64_t* address, std::uint64_t value) const {
  StreamState& stream = checked("StreamRef::write_value");
  stream.device->backend->write_value(stream.native, address, value);
}

void* StreamRef::allocate_async(std::size_t bytes) const {
  StreamState& stream = checked("StreamRef::allocate_async");
  if (bytes == 0)
    throw make_error(kCodeInvalidValue, "StreamRef::allocate_async", "cannot allocate 0 bytes");
  void* const address = stream.device->backend->allocate_async(stream.native, bytes);
  stream.device->own_memory(address, {&stream, stream.id.load(), bytes});
  return address;
}

void StreamRef::free_async(void* address) const {
  StreamState& stream = checked("StreamRef::free_async");
  // Do this first, because another stream may get the address at once.
  const OwnedMemory owned = stream.device->disown_memory(address);
  try {
    stream.device->backend->free_async(stream.native, address);
  } catch (...) {
    stream.device->own_memory(address, owned);
    throw;
  }
}

void StreamRef::begin_capture(CaptureMode mode) const {
  StreamState& stream = checked("StreamRef::begin_capture");
  stream.device->backend->begin_capture(stream.native, mode);
}

Graph StreamRef::end_capture() const {
  StreamState& stream = checked("StreamRef::end_capture");
  return Graph(stream.device->shared_from_this(),
               stream.device->backend->end_capture(stream.native));
}

CaptureStatus StreamRef::capture_status() const {
  StreamState& stream = checked("StreamRef::capture_status");
  return stream.device->backend->capture_status(stream.native);
}

void StreamRef::record(EventRef event) const {
  StreamState& stream = checked("StreamRef::record");
  EventState& to = event.checked("StreamRef::record");
  if (to.device != stream.device) {
    throw make_error(kCodeInvalidHandle, "StreamRef::record",
                     "the event belongs to another device");
  }
  stream.device->backend->record(stream.native, to.native);
  StreamCounts::add(stream.counts.records);
}

void StreamRef::wait(EventRef event) const {
  StreamState& stream = checked("StreamRef::wait");
  EventState& from = event.checked("StreamRef::wait");
  if (from.device != stream.device && !stream.device->backend->can_reach(*from.device->backend)) {
    throw make_error(kCodeInvalidHandle, "StreamRef::wait",
                     "the event belongs to a device that this one cannot reach");
  }
  stream.device->backend->wait(stream.native, from.native);
  StreamCounts::add(stream.counts.waits);
}

StreamMetrics StreamRef::metrics() const {
  const StreamCounts& counts = checked("StreamRef::metrics").counts;
  StreamMetrics result;
  for (std::size_t kind = 0; kind < kWorkKinds; ++kind)
    result.work[kind] = {counts.work[kind].load(std::memory_order_relaxed),
                         counts.bytes[kind].load(std::memory_order_relaxed)};
  result.operations = counts.operations.load(std::memory_order_relaxed);
  result.records = counts.records.load(std::memory_order_relaxed);
  result.waits = counts.waits.load(std::memory_order_relaxed);
  result.memory_bytes = counts.memory.load(std::memory_order_relaxed);
  result.peak_memory_bytes = counts.peak_memory.load(std::memory_order_relaxed);
  return result;
}

void StreamRef::synchronize() const {
  StreamState& stream = checked("StreamRef::synchronize");
  stream.device->backend->synchronize_stream(stream.native);
}

bool StreamRef::query() const {
  StreamState& stream = checked("StreamRef::query");
  return stream.device->backend->query_stream(stream.native);
}

Stream::Stream(std::shared_ptr<DeviceState> device, StreamState* state, StreamId id)
    : StreamRef(state, id), device_(std::move(device)) {}

Stream::~Stream() {
  if (state_ == nullptr) return;
  const NativeStream native = state_->native;
  device_->remove(*state_);
  device_->backend->destroy_stream(native);
}

Stream::Stream(Stream&& other) noexcept
    : StreamRef(std::exchange(other.state_, nullptr), std::exchange(other.id_, StreamId{})),
      device_(std::move(other.device_)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  Stream moved(std::move(other));
  std::swap(state_, moved.state_);
  std::swap(id_, moved.id_);
  std::swap(device_, moved.device_);
  return *this;
}

}  // namespace coord
