// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The observer that is listening, if any.
//
// `observer()` has a null function for every hook that nobody listens to, so that each hook is one
// branch.
#pragma once

#include "coord/observer.h"

namespace coord {

/// Looks the observer up, once per process; called when a device is opened.
void find_observer();

/// The hooks. All null before find_observer(), or without an observer.
extern coord_observer_v1 observer_table;
inline const coord_observer_v1& observer() noexcept { return observer_table; }

}  // namespace coord
