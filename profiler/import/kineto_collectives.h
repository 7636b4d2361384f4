// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Collectives as PyTorch's profiler describes them: by arguments of their kernels, and in older
// profiles by the annotations around their calls.
#pragma once

#include <optional>

#include "assembly.h"
#include "kineto_events.h"

namespace streamscope::import {

/// Of a kernel with the name of a collective, without thread and times. Its name begins with
/// "nccl:", as those of annotations do.
std::optional<trace::CollectiveCall> collective_of_kernel(const JsonEvent& kernel,
                                                          Assembly& assembly);
/// Of an annotation "nccl:all_reduce", which contains the launch, or "gloo:all_reduce", which ends
/// with the work; without thread and times.
std::optional<trace::CollectiveCall> collective_of_annotation(const JsonEvent& annotation,
                                                              Assembly& assembly);

}  // namespace streamscope::import
