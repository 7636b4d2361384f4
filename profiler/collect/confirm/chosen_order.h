// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Makes the work of two calls run in a chosen order, and takes the bytes that both access: see
// ring/chosen_order.h. Work is held back by a wait for a word in host memory; a thread of the
// collector always writes that word in the end.
#pragma once

#include <cstdint>

#include "ring/chosen_order.h"

namespace streamscope::collect {

/// Begins the test that the run's settings ask for. Needs a running session, and calls recorded by
/// wrappers. False if the driver lacks a function.
bool start_chosen_order();

// The next three are called where session.orders_calls is set, for calls that have a place.
// Thread-safe.

/// The calling thread is about to make such a call; `stream` as it would pass it itself.
void order_before(CallKind kind, uint64_t stream);
/// The call has returned.
void order_after(int32_t result);
/// The call has succeeded and allocated memory.
void order_allocated(CallKind kind, uint64_t address);

/// The program is about to end: nothing is held back any longer, and the result is written.
void finish_chosen_order();

void forget_chosen_order_after_fork();

}  // namespace streamscope::collect
