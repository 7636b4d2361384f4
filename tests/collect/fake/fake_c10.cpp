// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Stands in for PyTorch's libraries: an allocator that reports each block to its profiler, by the
// function that these libraries export.
#include <cstddef>
#include <cstdint>

#define EXPORTED __attribute__((visibility("default")))

namespace c10 {

class Device {
 public:
  Device(int8_t type, int8_t index) : type_(type), index_(index) {}
  int8_t type() const { return type_; }
  int8_t index() const { return index_; }

 private:
  int8_t type_, index_;
};

static int64_t reported = 0;

EXPORTED void reportMemoryUsageToProfiler(void*, int64_t bytes, size_t allocated, size_t reserved,
                                          Device device) {
  if (allocated == 7 && reserved == 9 && device.index() == 3) reported += bytes;
}

}  // namespace c10

extern "C" {
/// Allocates a block on a device of this type, or with less than 0 bytes takes it back.
EXPORTED void c10_change(uint64_t address, int64_t bytes, int8_t type) {
  c10::reportMemoryUsageToProfiler(reinterpret_cast<void*>(address), bytes, 7, 9, {type, 3});
}
/// The bytes of all reports that reached the library's own function.
EXPORTED int64_t c10_reported() { return c10::reported; }
}
