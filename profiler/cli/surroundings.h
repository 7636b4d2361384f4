// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Makes the process usable however it was started: standard files and stack size.
#pragma once

#include <functional>

namespace streamscope::cli {

/// Opens /dev/null for standard input, output and error if they are closed, so that none of our
/// files gets their numbers. In a program started from here they are closed again.
void hold_standard_files();

/// Calls `body` on a stack that is large enough, even under `ulimit -s 64`. The same
/// holds for threads started later.
void call_with_stack(const std::function<void()>& body);

}  // namespace streamscope::cli
