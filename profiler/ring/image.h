// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Identifies one program of a process: a process that calls exec() keeps its pid and start time and
// becomes another program, whose handles mean other things.
//
// The programs of a process, its images, are counted from 0 if they record anything. The numbers of
// their rings tell them apart.
#pragma once

#include <cstdint>

namespace streamscope::ring {

/// The rings of image N are numbered from N times this.
inline constexpr uint32_t kRingsPerImage = 1 << 20;

/// A process that ends by _exit() leaves an empty file `PID-START-IMAGE-CODE.exit` next to its
/// rings: nothing else is safe there.
inline constexpr char kExitEnding[] = ".exit";

}  // namespace streamscope::ring
