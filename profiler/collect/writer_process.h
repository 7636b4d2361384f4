// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Starting the writer from inside the observed program, so that the program never notices.
#pragma once

#include <cstddef>

namespace streamscope::collect {

/// Starts `streamscope record --attach-writer` as a detached helper and waits, 5 s at most, for the
/// folder of its rings. The helper is no child of the program: neither wait() nor SIGCHLD tells of
/// it, and it holds none of the program's files but stderr. False with `cause` and `remedy` (static
/// texts) if there is no writer.
bool start_writer(char* folder, size_t folder_size, const char** cause, const char** remedy);

/// setenv of the C library itself: a program may define its own (bash does) whose state does not
/// exist yet when our constructor runs.
void set_environment(const char* name, const char* value);

/// Takes the folder in which the program starts as that of its trace, whatever folder it goes to
/// before it uses CUDA: a daemon goes to "/". Those that it executes learn a relative
/// STREAMSCOPE_OUTPUT as an absolute one.
void remember_folder();

/// Makes room for a variable that is to be set later, when other threads may be reading the
/// environment: that setting then moves nothing.
void reserve_environment(const char* name);

/// Path of this library; empty if it cannot be found.
const char* library_path();

}  // namespace streamscope::collect
