// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which memory each kernel touches: a table in device memory that patched kernels fill, and how it
// is read. For nvcc and for the host's compiler, so that it is tested without a GPU.
//
// A slot of the table has one granule of memory as one launch touched it: a bit for each of 128
// units, which are words of 4 bytes, or bytes where an access covers only a part of a word. Both
// are exact, so the bytes that a launch touched are the union of its slots.
//
// What finds no slot in device memory goes into the table's spill, a larger table of the same form
// in page-locked host memory.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define STREAMSCOPE_BOTH static __host__ __device__ __forceinline__
#define STREAMSCOPE_AS_A_LOOP _Pragma("unroll 1")  // patches have few registers
#else
#define STREAMSCOPE_BOTH inline
#define STREAMSCOPE_AS_A_LOOP
#endif

namespace streamscope::collect {

/// How memory is touched. An atomic operation reads and writes, but is no race with another one.
enum class Touch : uint32_t { kRead = 0, kWrite, kAtomic };
inline constexpr uint32_t kTouches = 3;

inline constexpr uint32_t kUnits = 128;  // of a granule
inline constexpr uint32_t kMaskWords = kUnits / 32;

/// Which units of a granule.
struct UnitMask {
  uint32_t bits[kMaskWords];
};

/// The number of a launch is its distance from the start of the table, in launches.
inline constexpr uint32_t kFirstLaunch = 512, kMostLaunches = 1 << 14;  // of a table

/// A granule and the launch that touched it, as one number: number of the launch (16 bits), whether
/// units are bytes (1), address divided by the size of the granule (47). 0 is no key.
using GranuleKey = uint64_t;
inline constexpr int kLaunchShift = 48, kBytesShift = 47;
static_assert(kFirstLaunch + kMostLaunches <= 1 << 16);

STREAMSCOPE_BOTH GranuleKey granule_key(uint32_t number, bool bytes, uint64_t address) {
  return uint64_t{number} << kLaunchShift | uint64_t{bytes} << kBytesShift |
         address >> (bytes ? 7 : 9);
}
STREAMSCOPE_BOTH uint32_t number_of(GranuleKey key) {
  return static_cast<uint32_t>(key >> kLaunchShift);
}
STREAMSCOPE_BOTH uint32_t launch_of(GranuleKey key) { return number_of(key) - kFirstLaunch; }
STREAMSCOPE_BOTH uint32_t unit_bytes(GranuleKey key) { return (key >> kBytesShift & 1) ? 1 : 4; }
STREAMSCOPE_BOTH uint64_t address_of(GranuleKey key) {
  return (key & ((uint64_t{1} << kBytesShift) - 1)) * kUnits * unit_bytes(key);
}

struct alignas(64) TouchSlot {
  GranuleKey key;
  uint64_t unused;
  UnitMask touched[kTouches];
};
static_assert(sizeof(TouchSlot) == 64);

/// What a launch did beside filling slots. Patched kernels get its address.
struct TouchLaunch {
  uint32_t flags;  // LaunchFlag
  uint32_t slots;  // that it fills: counted on the host, once the table is read
};
enum LaunchFlag : uint32_t {
  kTableFull = 1,  // some of its accesses are neither in the table nor in its spill
};

/// How far from its first place a granule may be.
inline constexpr uint32_t kMostSteps = 256;
constexpr uint32_t places_of(uint64_t capacity) {
  return static_cast<uint32_t>(capacity - kMostSteps + 1);
}

/// The start of a table, at a multiple of kTableAlignment; its launches follow in the same piece of
/// memory, behind the start of its spill. Slots are anywhere.
struct TouchTable {
  TouchSlot* slots;
  uint64_t capacity;         // slots, less than 2^32
  uint32_t* nearly_full;     // in host memory: set once
  uint32_t most_of_counter;  // slots by one counter until then
  uint32_t places;           // where granules may begin to look for a slot: places_of(capacity)
  TouchTable* spill;         // null: it has none, or is one
  uint32_t is_used;          // of a spill: the table has had no room
  uint32_t counters[64];     // slots in use, of some
};
inline constexpr uint64_t kTableAlignment = 2 << 20;
inline constexpr uint64_t kSpillOffset = 2048;
inline constexpr uint64_t kLaunchesOffset = kFirstLaunch * sizeof(TouchLaunch);
inline constexpr uint64_t kTableBytes = kLaunchesOffset + kMostLaunches * sizeof(TouchLaunch);
static_assert(sizeof(TouchTable) <= kSpillOffset && kTableBytes <= kTableAlignment &&
              kSpillOffset + sizeof(TouchTable) <= kLaunchesOffset);

/// Of a launch or a spill.
STREAMSCOPE_BOTH TouchTable* table_of(const void* part) {
  return reinterpret_cast<TouchTable*>(reinterpret_cast<uint64_t>(part) & ~(kTableAlignment - 1));
}
STREAMSCOPE_BOTH TouchLaunch* launch_at(TouchTable* table, uint32_t number) {
  return reinterpret_cast<TouchLaunch*>(table) + number;
}
STREAMSCOPE_BOTH uint32_t number_of(const TouchLaunch* launch) {
  return static_cast<uint32_t>(reinterpret_cast<uint64_t>(launch) & (kTableAlignment - 1)) /
         sizeof(TouchLaunch);
}

// Atomic operations, on the device or the host. All of it is in global memory: that is said to the
// device's assembler, as operations on memory of any kind take more registers.

STREAMSCOPE_BOTH uint64_t exchange_if(uint64_t* word, uint64_t expected, uint64_t wanted) {
#ifdef __CUDA_ARCH__
  uint64_t found;
  asm volatile("atom.global.cas.b64 %0, [%1], %2, %3;"
               : "=l"(found)
               : "l"(word), "l"(expected), "l"(wanted)
               : "memory");
  return found;
#else
  __atomic_compare_exchange_n(word, &expected, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
#endif
}
STREAMSCOPE_BOTH void set_bits(uint32_t* word, uint32_t bits) {
#ifdef __CUDA_ARCH__
  asm volatile("red.global.or.b32 [%0], %1;" : : "l"(word), "r"(bits) : "memory");
#else
  __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
#endif
}
STREAMSCOPE_BOTH uint32_t count_up(uint32_t* word) {
#ifdef __CUDA_ARCH__
  uint32_t before;
  asm volatile("atom.global.inc.u32 %0, [%1], -1;" : "=r"(before) : "l"(word) : "memory");
  return before;
#else
  return __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
#endif
}
/// For the host, which reads it meanwhile.
STREAMSCOPE_BOTH void set_flag(uint32_t* flag) {
#ifdef __CUDA_ARCH__
  asm volatile("st.global.u32 [%0], 1;" : : "l"(flag) : "memory");
#else
  __atomic_store_n(flag, 1u, __ATOMIC_RELAXED);
#endif
}
/// On the device perhaps as of an earlier moment of this kernel, which does no harm: words change
/// only from 0, and bits are only set.
STREAMSCOPE_BOTH uint32_t seen(const uint32_t* word) {
#ifdef __CUDA_ARCH__
  uint32_t found;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(found) : "l"(word) : "memory");
  return found;
#else
  return __atomic_load_n(word, __ATOMIC_RELAXED);
#endif
}
STREAMSCOPE_BOTH uint64_t seen(const uint64_t* word) {
#ifdef __CUDA_ARCH__
  uint64_t found;
  asm volatile("ld.global.u64 %0, [%1];" : "=l"(found) : "l"(word) : "memory");
  return found;
#else
  return __atomic_load_n(word, __ATOMIC_RELAXED);
#endif
}

/// What was computed from a key is computed again, instead of kept in registers.
STREAMSCOPE_BOTH void forget_copies([[maybe_unused]] GranuleKey& key) {
#ifdef __CUDA_ARCH__
  asm volatile("" : "+l"(key));
#endif
}

STREAMSCOPE_BOTH uint32_t upper_product(uint32_t a, uint32_t b) {
#ifdef __CUDA_ARCH__
  return __umulhi(a, b);
#else
  return static_cast<uint32_t>(uint64_t{a} * b >> 32);
#endif
}

/// The first place of a granule, of which there are `places`. In 32 bits, as patches have few
/// registers.
STREAMSCOPE_BOTH uint32_t first_slot(GranuleKey key, uint32_t places) {
  uint32_t hash =
      static_cast<uint32_t>(key) * 0x9e3779b1u + static_cast<uint32_t>(key >> 32) * 0xc2b2ae3du;
  hash ^= hash >> 15;
  return upper_product(hash * 0x85ebca77u, places);
}

/// A slot has come into use. Every 16th stands for all of them, so that few threads wait for a
/// count.
STREAMSCOPE_BOTH void count_slot(TouchTable& table, const TouchSlot* slot) {
  const auto place = static_cast<uint32_t>(reinterpret_cast<uint64_t>(slot) / sizeof(TouchSlot));
  if (place % 16 == 0 && count_up(&table.counters[place / 16 % 64]) == table.most_of_counter)
    set_flag(table.nearly_full);
}

/// The slot of a granule; null if it is in none nearby.
STREAMSCOPE_BOTH TouchSlot* find_slot(const TouchTable& table, GranuleKey key) {
  TouchSlot* slot = table.slots + first_slot(key, table.places);
  STREAMSCOPE_AS_A_LOOP
  for (uint32_t left = kMostSteps; left > 0; --left, ++slot) {
    const GranuleKey found = seen(&slot->key);
    if (found == key) return slot;
    if (found == 0) return nullptr;
  }
  return nullptr;
}

/// The same, with a new slot where it has none; null if none is free nearby.
STREAMSCOPE_BOTH TouchSlot* slot_for(TouchTable& table, GranuleKey key) {
  TouchSlot* slot = table.slots + first_slot(key, table.places);
  STREAMSCOPE_AS_A_LOOP
  for (uint32_t left = kMostSteps; left > 0; --left, ++slot) {
    GranuleKey found = seen(&slot->key);
    if (found == 0) {
      found = exchange_if(&slot->key, 0, key);
      if (found == 0) {
        count_slot(table, slot);
        return slot;
      }
    }
    if (found == key) return slot;
  }
  return nullptr;
}

/// A launch touched these units of a granule, all in one word of the mask. A granule that once had
/// no room in the table never has, so each has one slot.
STREAMSCOPE_BOTH void add_touch(TouchLaunch* launch, GranuleKey key, Touch how, uint32_t word,
                                uint32_t bits) {
  TouchTable* table = table_of(launch);
  const uint32_t place = static_cast<uint32_t>(how) * kMaskWords + word;
  TouchSlot* slot = nullptr;
  STREAMSCOPE_AS_A_LOOP
  while ((slot = slot_for(*table, key)) == nullptr) {
    if (table->spill == nullptr) {
      // The launch is found again from what is at hand, as it would take registers until here.
      set_bits(&launch_at(table_of(table), number_of(key))->flags, kTableFull);
      return;
    }
    table = table->spill;
    if (seen(&table->is_used) == 0) set_flag(&table->is_used);
    forget_copies(key);
  }
  uint32_t* const units = &slot->touched[0].bits[0] + place;
  if ((bits & ~seen(units)) != 0) set_bits(units, bits);
}

// Reading a table whose launches have all ended.

/// Granules in a row, each touched as a whole in the same ways.
struct TouchRun {
  GranuleKey first;
  uint32_t granules;
  uint32_t how;  // bit: Touch
};

/// What a table or a spill contains; all of it in device memory. Runs begin at multiples of
/// kLongestRun, so long ones are in pieces.
struct TouchReport {
  TouchRun* runs;
  TouchSlot* granules;  // those that are touched in part
  TouchLaunch* launches;
  uint32_t most_runs, most_granules;
  uint32_t launch_count;
  uint32_t run_count, granule_count;  // also of those that found no room
  uint64_t begin, end;                // which slots are reported
  uint32_t has_spilled;
};
inline constexpr uint32_t kLongestRun = 256;

/// The ways in which a granule is touched as a whole; 0 if there are others.
STREAMSCOPE_BOTH uint32_t whole_touches(const TouchSlot& slot) {
  uint32_t how = 0;
  for (uint32_t i = 0; i < kTouches; ++i) {
    uint32_t all = ~0u, any = 0;
    for (uint32_t word : slot.touched[i].bits) {
      all &= word;
      any |= word;
    }
    if (any == 0) continue;
    if (all != ~0u) return 0;
    how |= 1u << i;
  }
  return how;
}

STREAMSCOPE_BOTH bool has_spilled(const TouchTable& table) {
  return table.spill != nullptr && seen(&table.spill->is_used) != 0;
}

/// Reports one slot, if a run begins there or it is no part of one.
STREAMSCOPE_BOTH void report_slot(const TouchTable& table, const TouchSlot& slot,
                                  TouchReport& report) {
  if (slot.key == 0) return;
  const uint32_t how = whole_touches(slot);
  if (how == 0) {
    const uint32_t place = count_up(&report.granule_count);
    if (place < report.most_granules) report.granules[place] = slot;
    return;
  }
  const auto continues = [&](GranuleKey key) {
    const TouchSlot* const next = find_slot(table, key);
    return next != nullptr && whole_touches(*next) == how;
  };
  if (slot.key % kLongestRun != 0 && continues(slot.key - 1)) return;
  uint32_t granules = 1;
  while ((slot.key + granules) % kLongestRun != 0 && continues(slot.key + granules)) ++granules;
  const uint32_t place = count_up(&report.run_count);
  if (place < report.most_runs) report.runs[place] = {slot.key, granules, how};
}

}  // namespace streamscope::collect
