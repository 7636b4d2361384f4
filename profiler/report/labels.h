// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The names of things in reports: those that findings use too.
#pragma once

#include "analysis/call_sites.h"
#include "analysis/labels.h"

namespace streamscope::report {

using analysis::call_sites;
using analysis::demangled;
using analysis::device_label;
using analysis::event_label;
using analysis::function_name;
using analysis::op_label;
using analysis::printable;
using analysis::process_label;
using analysis::short_kernel_name;
using analysis::stack_lines;
using analysis::stream_label;

}  // namespace streamscope::report
