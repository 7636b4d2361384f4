// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a caller would reach by a name that this library defines too.
#pragma once

namespace streamscope::collect {

/// The function of this name that `caller`, an address in the program, would reach without us: next
/// in the global scope, else in the scope of the calling library (a Python module's dependencies
/// are in no other). Null if there is none; then dlerror says so. Thread-safe.
void* next_function(const char* name, void* caller);

}  // namespace streamscope::collect
