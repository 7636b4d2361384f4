// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Wrappers around functions of the shared CUDA runtime (runtime_wrappers.cpp).
#pragma once

namespace streamscope::collect {

/// The wrapper for `function`, which a program looked up by `name` in a shared runtime; `function`
/// itself if there is none, or if another runtime's function was looked up first. Thread-safe.
void* runtime_pointer(const char* name, void* function);

}  // namespace streamscope::collect
