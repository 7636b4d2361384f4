// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Numbers in reports, as findings write them.
#pragma once

#include "analysis/units.h"

namespace streamscope::report {

using analysis::format_bytes;
using analysis::format_count;
using analysis::format_duration;
using analysis::format_percent;

}  // namespace streamscope::report
