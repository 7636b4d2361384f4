// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Memory for tens of millions of rows. It is requested as huge pages, which the system provides two
// to three times as fast as small ones and which save address translations; without huge pages
// nothing changes.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace streamscope::analysis {

inline constexpr size_t kHugePageBytes = size_t{2} << 20;  ///< x86-64, and AArch64 with 4 KiB pages

/// Requests huge pages for memory that has not been touched yet. Does not take ownership.
inline void prefer_huge_pages(void* memory, size_t bytes) {
  const auto begin = reinterpret_cast<uintptr_t>(memory), end = begin + bytes;
  const uintptr_t first = (begin + kHugePageBytes - 1) & ~(kHugePageBytes - 1);
  const uintptr_t last = end & ~(kHugePageBytes - 1);
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

/// Like `vector.reserve(count)`.
template <class T>
void reserve_large(std::vector<T>& vector, size_t count) {
  if (count <= vector.capacity()) return;
  vector.reserve(count);
  prefer_huge_pages(vector.data() + vector.size(), (vector.capacity() - vector.size()) * sizeof(T));
}

/// Like `vector.resize(count, value)`.
template <class T>
void resize_large(std::vector<T>& vector, size_t count, const T& value = T()) {
  reserve_large(vector, count);
  vector.resize(count, value);
}

/// Like `std::vector<T>(count, value)`.
template <class T>
std::vector<T> large_vector(size_t count, const T& value) {
  std::vector<T> result;
  resize_large(result, count, value);
  return result;
}

}  // namespace streamscope::analysis
