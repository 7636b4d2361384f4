// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Times in the traces of programs that hang.
#pragma once

#include "trace/read/reader.h"

namespace streamscope::analysis {

/// When work ends that hangs, and when the program is looked at.
inline constexpr trace::Ns kNotYet = trace::kUnknownNs, kLook = 5'000'000'000;

}  // namespace streamscope::analysis
