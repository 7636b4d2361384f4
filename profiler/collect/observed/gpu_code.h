// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The code for GPUs that the collector carries, as nvcc made it for all architectures.
#pragma once

namespace streamscope::collect {

extern "C" {
extern const char streamscope_patches[];  ///< patches.cu
extern const char streamscope_reader[];   ///< reader.cu
}

}  // namespace streamscope::collect
