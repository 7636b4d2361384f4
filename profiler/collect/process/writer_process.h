// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Starts the writer from inside the observed program, so that the program never notices.
#pragma once

#include <cstddef>

namespace streamscope::collect {

/// Names the NVTX library of another tool, which had the place of ours (nvtx/other_tool.h).
inline constexpr char kOtherNvtxVariable[] = "STREAMSCOPE_OTHER_NVTX";

/// Starts `streamscope record --attach-writer` as a detached helper and waits, 5 s at most, for the
/// folder of its rings. The helper is not a child of the program: neither wait() nor SIGCHLD
/// reports it, and it has none of the program's files open except stderr. False with `cause` and
/// `remedy` (static texts) if there is no writer.
bool start_writer(char* folder, size_t folder_size, const char** cause, const char** remedy);

/// setenv of the C library itself: a program may define its own (bash does) whose state does not
/// exist yet when our constructor runs.
void set_environment(const char* name, const char* value);
/// The same for removing one.
void unset_environment(const char* name);

/// Uses the folder in which the program starts as that of its trace, even if it changes folders
/// before it uses CUDA: a daemon changes to "/". Programs that it executes get a relative
/// STREAMSCOPE_OUTPUT as an absolute one.
void remember_folder();

/// Reserves space for a variable that is set later, when other threads may be reading the
/// environment: setting it then moves nothing.
void reserve_environment(const char* name);

/// Path of this library; empty if it cannot be found.
const char* library_path();

}  // namespace streamscope::collect
