// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a patched kernel does at each access to global memory: all threads of a warp that make the
// access together fill the table of touch_table.h. For patches.cu, and for a test on the host in
// which every warp has one thread.
#pragma once

#include "touch_table.h"

namespace streamscope::collect {

/// The bits of all lanes in `group`, or of a part of it that contains this lane. The lanes of
/// `active` call it together; groups are usually lanes in a row.
static __device__ __forceinline__ uint32_t bits_of(uint32_t group, uint32_t active, uint32_t bits) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = lane() ^ distance;
    const bool counts = (group >> other & 1) != 0;
    const uint32_t theirs = __shfl_sync(active, bits, counts ? other : lane());
    if (counts) bits |= theirs;
  }
  return bits;
}

/// The lanes of `active`, wherever each of them touches.
static __device__ __forceinline__ void touch_apart(TouchLaunch* launch, uint32_t active,
                                                   uint64_t address, uint32_t bytes, Touch how) {
  bool words = ((address | bytes) & 3) == 0;
  if (!__all_sync(active, words)) {
    // Lanes beside each other often cover whole words together.
    const uint32_t own = words ? 0xf : ((1u << bytes) - 1) << (address & 3);
    const uint32_t of_word = __match_any_sync(active, address >> 2);
    if (bits_of(of_word, active, own) == 0xf && !words) {
      words = true;
      address &= ~uint64_t{3};
      bytes = 4;
    }
  }
  const GranuleKey key = granule_key(index_of(launch), !words, address);
  const auto unit = static_cast<uint32_t>(words ? address >> 2 : address) % kUnits;
  const uint32_t units = words ? bytes >> 2 : bytes;
  // An access is aligned to its size, so its units are within one word of the mask.
  const uint32_t own = ((1u << units) - 1) << (unit & 31);
  const uint32_t group = __match_any_sync(active, key << 2 ^ unit >> 5);
  const uint32_t together = bits_of(group, active, own);
  const int first = __ffs(static_cast<int>(group)) - 1;
  const uint32_t of_first = __shfl_sync(active, together, first);
  if (lane() == first || (own & ~of_first) != 0) add_touch(launch, key, how, unit >> 5, together);
}

constexpr uint64_t kMaskBytes = 32 * 4;  // of a word of the mask

/// Bytes of one word of the mask. `from` and `to` are multiples of 4.
static __device__ __forceinline__ void touch_mask(TouchLaunch* launch, uint64_t from, uint64_t to,
                                                  Touch how) {
  const auto units = static_cast<uint32_t>(to - from) / 4;
  const auto unit = static_cast<uint32_t>(from / 4 % kUnits);
  const uint32_t bits = (units == 32 ? ~0u : (1u << units) - 1) << (unit & 31);
  add_touch(launch, granule_key(index_of(launch), false, from), how, unit >> 5, bits);
}

/// Bytes from `begin` to `end`, both multiples of 4, that the lanes of `active` touch one behind
/// the other: each word of the masks is set by one lane. There are enough lanes if each of them
/// touches 16 bytes at most, as these fill at most one word for 8 lanes, and one more.
static __device__ __forceinline__ void touch_row(TouchLaunch* launch, uint32_t active,
                                                 uint64_t begin, uint64_t end, Touch how) {
  const auto place = static_cast<uint32_t>(__popc(active & ((1u << lane()) - 1)));
  const uint64_t of_word = (begin / kMaskBytes + place) * kMaskBytes;
  const uint64_t from = begin > of_word ? begin : of_word;
  const uint64_t to = end < of_word + kMaskBytes ? end : of_word + kMaskBytes;
  if (from < to) touch_mask(launch, from, to, how);
}

/// One lane. `begin` and `end` are multiples of 4.
static __device__ __forceinline__ void touch_words(TouchLaunch* launch, uint64_t begin,
                                                   uint64_t end, Touch how) {
  STREAMSCOPE_AS_A_LOOP
  while (begin < end) {
    const uint64_t to = begin / kMaskBytes * kMaskBytes + kMaskBytes;
    touch_mask(launch, begin, to < end ? to : end, how);
    begin = to;
  }
}

/// All lanes that run together make one bulk copy, of which one lane is enough.
static __device__ __forceinline__ void touch_bulk(TouchLaunch* launch, uint64_t address,
                                                  uint64_t bytes, Touch how) {
  const int leader = __ffs(static_cast<int>(__activemask())) - 1;
  if (lane() == leader) touch_words(launch, address, address + bytes, how);
}

/// All lanes that run together. `address` and `bytes` are of this lane's access.
static __device__ __forceinline__ void touch(TouchLaunch* launch, uint64_t address, uint32_t bytes,
                                             Touch how) {
  const uint32_t active = __activemask();
  const int leader = __ffs(static_cast<int>(active)) - 1;
  const uint64_t begin = __shfl_sync(active, address, leader);
  const auto place = static_cast<uint32_t>(__popc(active & ((1u << lane()) - 1)));
  const uint64_t end = begin + uint64_t{bytes} * __popc(active);
  const bool is_row = address == begin + uint64_t{place} * bytes;
  if (__all_sync(active, is_row) && ((begin | end) & 3) == 0 && bytes <= 16)
    return touch_row(launch, active, begin, end, how);
  const bool is_one = __all_sync(active, address == begin);
  if (is_one && lane() != leader) return;
  touch_apart(launch, is_one ? 1u << leader : active, address, bytes, how);
}

}  // namespace streamscope::collect
