// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Gives SQLite a heap that the sanitizer does not check: SQLite is not fuzzed here, and checking it
// takes more than half the time of an input. Included by a fuzzer before SQLite is first used.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>

extern "C" {
void* __libc_malloc(size_t bytes);
void __libc_free(void* block);
void* __libc_realloc(void* block, size_t bytes);
}

namespace streamscope::test {

/// Blocks of the C library, each after its size.
struct SqliteHeap {
  struct alignas(16) Head {
    int bytes;
  };
  static void* use(void* block, int bytes) {
    if (block == nullptr) return nullptr;
    static_cast<Head*>(block)->bytes = bytes;
    return static_cast<Head*>(block) + 1;
  }
  static Head* head(void* used) { return used == nullptr ? nullptr : static_cast<Head*>(used) - 1; }
  static size_t with_head(int bytes) { return static_cast<size_t>(bytes) + sizeof(Head); }

  static void* allocate(int bytes) { return use(__libc_malloc(with_head(bytes)), bytes); }
  static void* resize(void* used, int bytes) {
    return use(__libc_realloc(head(used), with_head(bytes)), bytes);
  }
  static void free(void* used) { __libc_free(head(used)); }
  static int size(void* used) { return used == nullptr ? 0 : head(used)->bytes; }
  static int round_up(int bytes) { return (bytes + 7) & ~7; }
};

inline const int kSqliteHeapIsSet = [] {
  static const sqlite3_mem_methods kMethods = {
      .xMalloc = SqliteHeap::allocate,
      .xFree = SqliteHeap::free,
      .xRealloc = SqliteHeap::resize,
      .xSize = SqliteHeap::size,
      .xRoundup = SqliteHeap::round_up,
      .xInit = [](void*) { return SQLITE_OK; },
      .xShutdown = [](void*) {},
      .pAppData = nullptr,
  };
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  return sqlite3_config(SQLITE_CONFIG_MALLOC, &kMethods);
}();

}  // namespace streamscope::test
