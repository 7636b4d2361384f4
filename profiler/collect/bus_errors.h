// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A ring or the control file that somebody cuts off, or whose disk goes, costs records and not the
// program.
//
// The access would end it by SIGBUS. From the first ring on a handler of ours comes first: it has
// ring::rescue() replace a mapping of ours, and passes every other signal on to what the program
// has set, with the flags and the mask that the program asked for. sigaction() and signal() of the
// preloaded library keep it there and show the program its own handler. Not rescued is a thread
// that blocks SIGBUS, a program that ignores it, and one that sets its handler past the C library.
#pragma once

namespace streamscope::collect {

void rescue_from_bus_errors();
/// Says once that files of the recording were lost, if any were. From the collector's own thread.
void report_lost_files();
void forget_bus_errors_after_fork();

}  // namespace streamscope::collect
