// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a patched kernel does at each access to global memory: all threads of a warp that make the
// access together fill the table of touch_table.h. For patches.cu, and for a test on the host in
// which every warp has one thread.
#pragma once

#include "touch_table.h"

namespace streamscope::collect {

constexpr uint32_t kMaskBytes = 32 * 4;  // of a word of the mask

/// Units `from` / 4 to `to` / 4 of the word of the mask that has this address.
static __device__ __forceinline__ void touch_mask(TouchLaunch* launch, uint64_t address, bool words,
                                                  uint32_t from, uint32_t to, Touch how) {
  const uint32_t bits = ~0u >> (32 - (to - from) / 4) << from / 4;
  add_touch(launch, granule_key(number_of(launch), !words, address), how,
            static_cast<uint32_t>(address >> (words ? 7 : 5)) % kMaskWords, bits);
}

/// One lane. `begin` and `end` are multiples of 4.
static __device__ __forceinline__ void touch_words(TouchLaunch* launch, uint64_t begin,
                                                   uint64_t end, Touch how) {
  STREAMSCOPE_AS_A_LOOP
  while (begin < end) {
    const uint32_t from = static_cast<uint32_t>(begin) % kMaskBytes;
    const uint64_t left = end - begin;
    const uint32_t to = left < kMaskBytes - from ? from + static_cast<uint32_t>(left) : kMaskBytes;
    touch_mask(launch, begin, true, from, to, how);
    begin += to - from;
  }
}

/// All lanes that run together make one bulk copy, of which one lane is enough.
static __device__ __forceinline__ void touch_bulk(TouchLaunch* launch, uint64_t address,
                                                  uint64_t bytes, Touch how) {
  const int leader = __ffs(static_cast<int>(__activemask())) - 1;
  if (lane() == leader) touch_words(launch, address, address + bytes, how);
}

/// All lanes that run together. `address` and `bytes` are of this lane's access, which is aligned
/// to its size.
static __device__ __forceinline__ void touch(TouchLaunch* launch, uint64_t address, uint32_t bytes,
                                             Touch how) {
  const uint32_t active = __activemask();
  const auto place = static_cast<uint32_t>(__popc(active & ((1u << lane()) - 1)));
  const uint64_t begin = address - place * bytes;
  const uint32_t all_bytes = bytes * __popc(active);
  int together = 0;
  __match_all_sync(active, begin, &together);
  bool words = true;
  uint32_t from = static_cast<uint32_t>(begin) % kMaskBytes, to = from + all_bytes;
  if (together != 0 && ((begin | all_bytes) & 3) == 0 && bytes <= 16) {
    // One behind the other. Each word of the mask is set by one lane, of which there are enough:
    // they fill at most one word for 8 lanes, and one more.
    const uint32_t word = place * kMaskBytes;
    if (to <= word) return;
    address = begin - from + word;
    from = from > word ? from - word : 0;
    to = to - word < kMaskBytes ? to - word : kMaskBytes;
  } else {
    __match_all_sync(active, address, &together);
    if (together != 0 && place != 0) return;
    words = ((address | bytes) & 3) == 0;
    const uint32_t unit = words ? 4 : 1;
    from = static_cast<uint32_t>(address) / unit % 32 * 4;
    to = from + bytes / unit * 4;
  }
  touch_mask(launch, address, words, from, to, how);
}

}  // namespace streamscope::collect
