// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the collector asks libcoord; all else that libcoord says comes by itself
// (coord/observer.h).
#pragma once

namespace streamscope::collect {

/// Has libcoord tell who waits for whom in it, if the program uses it. May block for ever, if a
/// thread that is stuck holds one of libcoord's locks: for a thread that nobody needs.
void ask_coord();

}  // namespace streamscope::collect
