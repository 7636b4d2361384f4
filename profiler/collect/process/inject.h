// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How the library gets into a process and out of it.
//
// The library may be loaded by LD_PRELOAD, CUDA_INJECTION64_PATH, at link time or by dlopen.
// Loading it only lets the CUDA driver and NVTX find it later (two environment variables); a
// program that never uses CUDA or libcoord notices nothing.
#pragma once

namespace streamscope::collect {

/// libcoord opens its first device: starts the recording if this process can be recorded.
/// Thread-safe.
bool record_coord();

/// The program has just initialized CUDA (`late` false), or had done so before the library was
/// loaded (true). Thread-safe.
void record_cuda(bool late);

/// A wrapped cuInit has succeeded. Normally the driver has called InitializeInjection inside; if
/// another tool has that place, this starts a recording in tier structure. Thread-safe.
void driver_initialized();

}  // namespace streamscope::collect
