// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a backend may leave out.

#include "coord/backend.h"

#include "codes.h"
#include "coord/memory.h"

namespace coord {

void* Backend::allocate_managed(std::size_t) {
  throw make_error(kCodeNotSupported, "Backend::allocate_managed", "there is no managed memory");
}

MemoryKind Backend::memory_kind(const void*) { return MemoryKind::kPageable; }

void Backend::prefetch(NativeStream, void*, std::size_t, bool) {
  throw make_error(kCodeNotSupported, "Backend::prefetch", "there is no managed memory");
}

}  // namespace coord
