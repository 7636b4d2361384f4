// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "observer.h"

#include <dlfcn.h>

#include <atomic>
#include <mutex>

#include "coord/backend.h"
#include "coordinator/wait_graph.h"

namespace coord {

coord_observer observer_table{};

void find_observer() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto function =
        reinterpret_cast<coord_observer_function>(dlsym(RTLD_DEFAULT, COORD_OBSERVER_SYMBOL));
    const coord_observer* table = function != nullptr ? function() : nullptr;
    if (table == nullptr || table->version != COORD_OBSERVER_VERSION ||
        table->size != sizeof observer_table)
      return;
    observer_table = *table;
    observer_table.waits_on_request(notify_waits);
  });
}

std::uint64_t next_pool_number() noexcept {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void notify_pool(std::uint64_t number, coord_pool_kind kind, std::uint64_t capacity,
                 const char* name) {
  if (observer().pool == nullptr) return;
  const coord_pool_facts facts{
      .pool = static_cast<std::uint32_t>(number), .kind = kind, .capacity = capacity, .name = name};
  observer().pool(&facts);
}

void Backend::host_access(const void* address, std::size_t bytes, bool writes) {
  notify_access(observer(), COORD_NONE, COORD_NONE, reinterpret_cast<std::uintptr_t>(address),
                bytes, writes, 0);
}

void Backend::declare_access(std::uint32_t operation, const void* address, std::size_t bytes,
                             bool writes) {
  notify_access(observer(), operation, COORD_NONE, reinterpret_cast<std::uintptr_t>(address), bytes,
                writes, 0);
}

}  // namespace coord
