// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The functions behind the rows of list.cpp, one declaration each; they are defined in the files of
// this folder, one per family.
#pragma once

#include "../detector.h"

namespace streamscope::analysis {

void find_redundant_waits(Analyses& analyses, Findings& findings);
void find_waits_on_unrecorded(Analyses& analyses, Findings& findings);

}  // namespace streamscope::analysis
