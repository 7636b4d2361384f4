// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The ways into a process and the way out.
//
// The library may come in by LD_PRELOAD, CUDA_INJECTION64_PATH, at link time or by dlopen. Loading
// it only makes the CUDA driver and NVTX find it later (two environment variables); a program that
// never uses CUDA or libcoord sees nothing.
#pragma once

namespace streamscope::collect {

/// libcoord opens its first device: starts the recording if this process can be recorded.
/// Thread-safe.
bool record_coord();

/// The program initialized CUDA just now (`late` false), or before the library came (true).
/// Thread-safe.
void record_cuda(bool late);

}  // namespace streamscope::collect
