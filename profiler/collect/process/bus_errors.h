// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// If the ring or the control file is truncated, or its disk disappears, that costs records and does
// not end the program.
//
// The access would end it by SIGBUS. From the first ring on, a handler of ours runs first: it lets
// ring::rescue() replace a mapping of ours, and passes every other signal on to the program's
// action, with the flags and the mask that the program requested. sigaction() and signal() of the
// preloaded library keep it installed and show the program its own handler. Not covered: a thread
// that blocks SIGBUS, a program that ignores it, and one that sets its handler without the C
// library.
#pragma once

namespace streamscope::collect {

void rescue_from_bus_errors();
/// Reports once that files of the recording were lost, if any were: now and then, and at the end.
/// Thread-safe.
void report_lost_files();
void forget_bus_errors_after_fork();

}  // namespace streamscope::collect
