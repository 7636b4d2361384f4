// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What a rank waits for, from its trace, which may still grow.
#pragma once

#include <string>

#include "analysis/analyses.h"
#include "job_hang.h"

namespace streamscope::job {

RankHang hang_state(analysis::Analyses& analyses, RankIdentity identity);

/// The same of a rank that is being recorded and makes no progress at this moment, which may not be
/// a hang.
RankHang present_state(analysis::Analyses& analyses, RankIdentity identity);

}  // namespace streamscope::job
