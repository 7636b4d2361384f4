// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What both ends of a ring know about its file.
#pragma once

#include <atomic>
#include <cstdint>

#include "ring.h"

namespace streamscope::ring {

inline constexpr uint64_t kMinCapacity = 16;
inline constexpr uint64_t kMaxCapacity = uint64_t{1} << 32;

/// The magic as one word: it is written last and read first.
inline std::atomic_ref<uint64_t> magic(RingHeader& header) {
  return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(header.magic));
}

/// Length of the file of a ring of `size` records.
inline uint64_t file_bytes(uint64_t size) { return kRingHeaderBytes + size * sizeof(Record); }

}  // namespace streamscope::ring
