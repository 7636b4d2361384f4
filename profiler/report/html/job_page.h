// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The report on a job of many ranks as one self-contained page.
#pragma once

#include <string>

#include "report/sections/job_document.h"

namespace streamscope::report {

/// Ranks by iterations: how long each made the others wait.
std::string heat_map(const job::Job& job);

std::string job_html(const JobReport& report);

}  // namespace streamscope::report
