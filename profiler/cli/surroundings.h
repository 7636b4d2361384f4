// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What this program needs of the process that it runs in, whatever that was started with.
#pragma once

namespace streamscope::cli {

/// Opens /dev/null in the place of standard input, output and error where they are closed, so that
/// no file of ours takes their place. A program that is started from here finds them closed again.
void hold_standard_files();

/// Calls `body(argument)` on a stack that is large enough, also under `ulimit -s 64`. Threads that
/// are started later have one, too.
void call_with_stack(void (*body)(void*), void* argument);

}  // namespace streamscope::cli
