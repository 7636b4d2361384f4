// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Defaults for optional functions of a backend.

#include "coord/backend.h"

#include "codes.h"
#include "coord/memory.h"

namespace coord {

void* Backend::allocate_managed(std::size_t) {
  throw make_error(kCodeNotSupported, "Backend::allocate_managed", "no managed memory");
}

MemoryKind Backend::memory_kind(const void*) { return MemoryKind::kPageable; }

void Backend::prefetch(NativeStream, void*, std::size_t, bool) {
  throw make_error(kCodeNotSupported, "Backend::prefetch", "no managed memory");
}

}  // namespace coord
