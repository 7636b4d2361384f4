// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The observer that is listening, if any.
//
// Without an observer every function of `observer()` is null, so that each hook costs one branch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coord/observer.h"

namespace coord {

/// Looks up the observer, once per process; called when a device is opened.
void find_observer();

#ifdef COORD_WITHOUT_OBSERVER  // to measure the cost of hooks without an observer
inline constexpr coord_observer kNoHooks{};
inline const coord_observer& observer() noexcept { return kNoHooks; }
#else
extern coord_observer observer_table;
/// The hooks. All null before find_observer(), or without an observer.
inline const coord_observer& observer() noexcept { return observer_table; }
#endif

/// Whether an observer listens: then every hook is set.
inline bool is_observed() noexcept { return observer().size != 0; }

/// Reports that an operation or a call (COORD_NONE: not that; neither: the calling thread, now)
/// reads or writes memory.
inline void notify_access(const coord_observer& to, std::uint32_t operation,
                          std::uint32_t correlation_id, std::uint64_t address, std::size_t bytes,
                          bool writes, std::int64_t time_ns) {
  if (to.access == nullptr || bytes == 0) return;
  const coord_access_facts facts{operation, correlation_id, address, bytes, writes ? 1u : 0u,
                                 0,         time_ns};
  to.access(&facts);
}

/// A number unique among all pools of the process, of any kind; from 1. Thread-safe.
std::uint64_t next_pool_number() noexcept;
/// Reports a new pool.
void notify_pool(std::uint64_t number, coord_pool_kind kind, std::uint64_t capacity,
                 const char* name);

}  // namespace coord
