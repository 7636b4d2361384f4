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
/// have ended. Signals are passed on to it as a shell does; a second Ctrl-C while waiting for the
/// others ends the recording. Throws Error before anything runs if the output or the program cannot
/// be used. If a trace cannot be written, the program is not affected; the outcome reports it. Not
/// thread-safe: it forks and takes over the process's signals while it runs.
Outcome run(const Options& options, const std::vector<std::string>& command);

/// The writer of a program that is already running: started by the library preloaded into process
/// `target`. Creates the folder of the rings, writes its path and a zero byte to `ready_fd`, and
/// stays until all processes of the run have ended. `finished` is called with the trace at the end,
/// or with the error. Returns an exit code.
int run_detached(const Options& options, pid_t target, int ready_fd,
                 const std::function<void(const Outcome&)>& finished = {});

/// PROGRAM-PID.sqlite in the working directory.
std::filesystem::path default_output(const std::filesystem::path& program, pid_t pid);

}  // namespace streamscope::record
