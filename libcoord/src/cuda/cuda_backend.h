// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A GPU as a Backend, through the CUDA driver found at run time.
#pragma once

#include <memory>
#include <string>

#include "coord/backend.h"

struct CUctx_st;

namespace coord::cuda {

/// Number of GPUs that the driver reports; 0 with the reason if there is no driver, no GPU, or no
/// CUDA in this build.
int device_count(std::string& why_none);

/// Opens the primary context of a GPU. Throws kNoDevice or the driver's error.
std::unique_ptr<Backend> open(int ordinal);

/// The same through the program's own context, which the program keeps alive.
std::unique_ptr<Backend> open(CUctx_st* context);

}  // namespace coord::cuda
