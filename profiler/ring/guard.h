// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Mapped files that others may cut off. Whoever then touches what is gone gets SIGBUS; a handler
// that asks rescue() puts empty memory in its place, and the work goes on without the file.
//
// Thread-safe and without locks: rescue() is for signal handlers, and a fork leaves nothing locked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace streamscope::ring {

/// Notes that a file is mapped at [begin, begin + bytes), for writing unless it is `read_only`.
/// Without memory for that it is not guarded.
void guard(const void* begin, size_t bytes, bool read_only = false);
/// The same mapping lies elsewhere or is longer now.
void guard_moved(const void* begin, const void* new_begin, size_t bytes);
/// Before it is unmapped.
void unguard(const void* begin);

/// If `address` lies in a guarded mapping: replaces all of it by zeros that belong to no file.
/// False if it does not lie in one, or there is no memory.
bool rescue(const void* address);

/// How many mappings were replaced so far. Cheap.
uint64_t lost_mappings();
/// True if the one that begins here was.
bool is_lost(const void* begin);

/// Has SIGBUS handled so in this process, which has no handler of its own.
void rescue_on_bus_errors();

}  // namespace streamscope::ring
