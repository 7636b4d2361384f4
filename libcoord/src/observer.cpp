// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "observer.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "coord/backend.h"

namespace coord {

coord_observer_v1 observer_table{};

void find_observer() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto function =
        reinterpret_cast<coord_observer_v1_function>(dlsym(RTLD_DEFAULT, COORD_OBSERVER_SYMBOL));
    const coord_observer_v1* table = function != nullptr ? function() : nullptr;
    // An older observer has a shorter table; what it lacks stays null.
    if (table != nullptr && table->version == COORD_OBSERVER_VERSION) {
      std::memcpy(&observer_table, table,
                  std::min<std::size_t>(table->size, sizeof observer_table));
    }
  });
}

void Backend::host_access(const void* address, std::size_t bytes, bool writes) {
  tell_access(observer(), COORD_NONE, COORD_NONE, reinterpret_cast<std::uintptr_t>(address), bytes,
              writes, 0);
}

void Backend::declare_access(std::uint32_t operation, const void* address, std::size_t bytes,
                             bool writes) {
  tell_access(observer(), operation, COORD_NONE, reinterpret_cast<std::uintptr_t>(address), bytes,
              writes, 0);
}

}  // namespace coord
