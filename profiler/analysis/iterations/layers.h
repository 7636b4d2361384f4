// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Work that repeats within a step because a network has many equal layers.
#pragma once

#include <vector>

#include "issued_work.h"

namespace streamscope::analysis {

/// True if most parts of the work call other modules of a network than the part before, so that
/// they are its layers; `bounds` are indexes of IssuedWork. PyTorch's profiler marks the calls of
/// modules if it records stacks: "nn.Module: Linear_7". False without such marks.
bool are_layers(const IssuedWork& work, const std::vector<size_t>& bounds);

}  // namespace streamscope::analysis
