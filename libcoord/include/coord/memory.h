// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Memory that copies and kernels use: device buffers and page-locked host buffers.
//
// Plain allocation, not stream-ordered: freeing a device buffer may wait for the whole device, as
// cuMemFree does.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "coord/export.h"

namespace coord {

struct DeviceState;

/// A piece of memory that work reads or writes: any address, on the device or the host.
struct MemoryRange {
  const void* address = nullptr;
  std::size_t bytes = 0;

  MemoryRange() = default;
  MemoryRange(const void* from, std::size_t byte_count) : address(from), bytes(byte_count) {}
  /// A whole DeviceBuffer, HostBuffer, span, vector or the like.
  template <typename Buffer>
  requires requires(const Buffer& buffer) {
    buffer.data();
    buffer.size();
  }
  MemoryRange(const Buffer& buffer)
      : address(buffer.data()), bytes(buffer.size() * sizeof(*buffer.data())) {}

  friend bool operator==(const MemoryRange&, const MemoryRange&) = default;
};

enum class Access { kRead, kWrite };

/// The kind of memory at an address, for a device.
enum class MemoryKind {
  kPageable,  // plain host memory: copies are staged, and may block the host
  kPinned,    // page-locked host memory
  kDevice,
  kManaged,  // its pages migrate to where they are accessed
};

[[nodiscard]] COORD_EXPORT const char* to_string(MemoryKind kind) noexcept;

/// An owned piece of memory; the base of the typed buffers below. Thread-compatible.
class COORD_EXPORT Allocation {
 public:
  Allocation() = default;
  Allocation(std::shared_ptr<DeviceState> device, void* address, std::size_t bytes, bool on_host);
  Allocation(Allocation&& other) noexcept = default;
  Allocation& operator=(Allocation&& other) noexcept = default;

  [[nodiscard]] void* address() const noexcept { return memory_.get(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return memory_ != nullptr ? bytes_ : 0; }

 private:
  std::shared_ptr<void> memory_;  // its deleter keeps the device open
  std::size_t bytes_ = 0;
};

/// `size()` elements of device memory, not initialized. Made by Device::allocate.
template <typename T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds bytes only");

 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(Allocation allocation) : allocation_(std::move(allocation)) {}

  /// A device address: host code must not dereference it.
  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(allocation_.address()); }
  [[nodiscard]] std::size_t size() const noexcept { return allocation_.bytes() / sizeof(T); }
  [[nodiscard]] std::size_t bytes() const noexcept { return allocation_.bytes(); }

 private:
  Allocation allocation_;
};

/// `size()` elements of page-locked host memory, zeroed, readable by the device. Made by
/// Device::allocate_host. Device work that uses it must have ended before the buffer is destroyed.
template <typename T>
class HostBuffer {
  static_assert(std::is_trivially_copyable_v<T>, "page-locked memory holds bytes only");

 public:
  HostBuffer() = default;
  explicit HostBuffer(Allocation allocation) : allocation_(std::move(allocation)) {}

  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(allocation_.address()); }
  [[nodiscard]] std::size_t size() const noexcept { return allocation_.bytes() / sizeof(T); }
  [[nodiscard]] T* begin() const noexcept { return data(); }
  [[nodiscard]] T* end() const noexcept { return data() + size(); }
  [[nodiscard]] T& operator[](std::size_t index) const noexcept { return data()[index]; }
  [[nodiscard]] operator std::span<T>() const noexcept { return {data(), size()}; }
  [[nodiscard]] operator std::span<const T>() const noexcept { return {data(), size()}; }

 private:
  Allocation allocation_;
};

/// `size()` elements, not initialized, of memory that host and device both access at the same
/// address; its pages migrate on access (StreamRef::prefetch_to_device moves them ahead). Made by
/// Device::allocate_managed. The host must not access it while the device uses it, unless the
/// device allows that; some devices do not allow it while anything runs.
template <typename T>
class ManagedBuffer : public HostBuffer<T> {
 public:
  using HostBuffer<T>::HostBuffer;
  [[nodiscard]] std::size_t bytes() const noexcept { return this->size() * sizeof(T); }
};

}  // namespace coord
