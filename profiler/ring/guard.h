// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Mapped files that others may truncate. An access to the missing part raises SIGBUS; a handler
// that calls rescue() puts empty memory in its place, and the work goes on without the file.
//
// Thread-safe and without locks: rescue() is for signal handlers, and a fork leaves nothing locked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace streamscope::ring {

/// Notes that a file is mapped at [begin, begin + bytes), for writing unless it is `read_only`. If
/// there is no memory for that, it is not guarded.
void guard(const void* begin, size_t bytes, bool read_only = false);
/// The same mapping has moved or is longer now.
void guard_moved(const void* begin, const void* new_begin, size_t bytes);
/// To be called before it is unmapped.
void unguard(const void* begin);

/// Deletes what points to a guarded mapping of this size.
struct Unmap {
  size_t bytes = 0;
  void operator()(void* begin) const;
};

/// If `address` is in a guarded mapping: replaces all of it by zeros that belong to no file. False
/// if it is not in one, or if there is no memory.
bool rescue(const void* address);

/// Number of mappings replaced so far. Cheap.
uint64_t lost_mappings();
/// True if the mapping that begins here was replaced.
bool is_lost(const void* begin);

/// Installs such a handler of SIGBUS in this process, which must have none of its own.
void rescue_on_bus_errors();

}  // namespace streamscope::ring
