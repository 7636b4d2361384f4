// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Compiled with debug information: a function into which one of a header is inlined.
#include "inlined_call.h"

namespace streamscope::record {

[[gnu::noinline]] const char* caller() {
  return static_cast<const char*>(__builtin_return_address(0));
}

namespace {

#line 879 "/usr/local/cuda/include/cuda_runtime.h"
[[gnu::always_inline]] inline const char* from_header() { return caller() - 1; }
#line 100 "helper.h"
[[gnu::always_inline]] inline const char* from_helper() { return caller() - 1; }

}  // namespace

#line 200 "program.cpp"
const char* call_from_header() { return from_header(); }
#line 300 "program.cpp"
const char* call_from_helper() { return from_helper(); }

}  // namespace streamscope::record
