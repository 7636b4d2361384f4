// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The meaning of CUDA and HIP functions, by their names as other tools write them.
#pragma once

#include <string_view>

#include "vocabulary/call_kind.h"

namespace streamscope::import {

/// "cudaStreamWaitEvent" for "cudaStreamWaitEvent_v3020" or "cudaStreamWaitEvent_ptsz_v7000": the
/// name as the program wrote it. Versions of the driver's functions (cuMemcpyDtoH_v2) are part of
/// the name.
std::string_view without_version(std::string_view name);

/// Meaning of a function by its name without version; CUDA runtime, CUDA driver and HIP.
CallKind call_kind(std::string_view name);

}  // namespace streamscope::import
