// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Which program of a process is meant: one that calls exec() keeps its pid and start time and
// becomes another program, whose handles mean other things.
//
// The programs of a process, its images, are counted from 0 as far as they record anything. The
// numbers of their rings tell them apart.
#pragma once

#include <cstdint>

namespace streamscope::ring {

/// The rings of image N have the numbers from N times this on.
inline constexpr uint32_t kRingsPerImage = 1 << 20;

/// A process that ends by _exit() leaves an empty file `PID-START-IMAGE-CODE.exit` beside its
/// rings: nothing else can be done safely there.
inline constexpr char kExitEnding[] = ".exit";

}  // namespace streamscope::ring
