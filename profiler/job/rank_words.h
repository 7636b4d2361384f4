// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How ranks and their times are named in sentences.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace streamscope::job {

/// "rank 17", "ranks 0-16, 18 and 20"; after a few parts "and 12 more".
std::string ranks_text(std::vector<int32_t> ranks);

/// "9.34 ms"
std::string duration_text(double ns);

}  // namespace streamscope::job
