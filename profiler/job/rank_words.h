// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How ranks are named in sentences.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace streamscope::job {

/// "rank 17", "ranks 0-16, 18 and 20"; after a few parts "and 12 more".
std::string ranks_text(std::vector<int32_t> ranks);

}  // namespace streamscope::job
