// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace streamscope::record {

/// Addresses in calls that are inlined into these functions: the first from a header of the CUDA
/// toolkit, at line 200 of "program.cpp"; the second from line 100 of "helper.h".
const char* call_from_header();
const char* call_from_helper();

}  // namespace streamscope::record
