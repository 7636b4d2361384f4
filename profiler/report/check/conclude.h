// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How the check of a trace and that of a job come to a result.
#pragma once

#include <functional>

#include "check.h"

namespace streamscope::report {

/// What identifies a finding and its place in the program, the same in every run and when lines
/// move: rule, names, function or file. Their hash is its fingerprint.
using IdentityOf = std::function<std::vector<std::string>(const Advice&)>;

/// Completes a check of which everything but findings and result is there.
Check conclude(Check check, std::vector<analysis::Verdict> verdicts, const IdentityOf& identity_of);

/// "train.py:41 step" without the line number.
std::string without_line(const std::string& call_site);

}  // namespace streamscope::report
