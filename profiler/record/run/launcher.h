// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Runs a program under the recorder: environment, signals, exit code.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "options.h"
#include "session.h"

namespace streamscope::record {

/// Runs `command` and records it and the processes it starts, until all of those that used CUDA
/// have ended. Signals are passed on to it as a shell would; a second Ctrl-C while others are
/// waited for ends the recording. Throws Error before anything runs if the output or the program
/// cannot be used. A trace that cannot be written does not disturb the program; the outcome says
/// so. Not thread-safe: it forks and takes the signals of the process while it runs.
Outcome run(const Options& options, const std::vector<std::string>& command);

/// The writer of a program that runs already: started by the library preloaded into process
/// `target`. Makes the folder of the rings, writes its path and a zero byte to `ready_fd`, and
/// stays until all processes of the run have ended. `finished` is called with the trace at the end,
/// or with what went wrong. Returns an exit code.
int run_detached(const Options& options, pid_t target, int ready_fd,
                 const std::function<void(const Outcome&)>& finished = {});

/// PROGRAM-PID.sqlite in the working directory.
std::filesystem::path default_output(const std::filesystem::path& program, pid_t pid);

}  // namespace streamscope::record
