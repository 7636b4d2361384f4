// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Wrappers around the traced functions of the driver: one for each exported name, made from
// ring/calls.def and the declarations in cuda.h.
//
// A wrapper is a jump: to what stamps entry and exit of the call and passes its arguments on
// unchanged, or to the driver, while recording is off and nothing that must be known later follows
// from the call.
#pragma once

#include <cstddef>

namespace streamscope::collect {

/// Length of streamscope_wrapped (interposed/interposed.h).
extern const size_t wrapped_count;

/// Finds the driver's own functions. False if libcuda is not in the process. Thread-safe.
bool find_targets();
/// The driver's own function behind a wrapper; null: not found yet, or not in this driver.
void* wrapped_target(size_t index);
/// Lets a wrapper call this function instead.
void replace_target(size_t index, void* function);
/// Sends calls where passes_calls() says that they go. Thread-safe.
void send_calls();

void forget_wrappers_after_fork();

}  // namespace streamscope::collect
