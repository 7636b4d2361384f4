// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Path of the library that is loaded into recorded programs.
#pragma once

#include <filesystem>

namespace streamscope::cli {

/// STREAMSCOPE_INJECT, else libstreamscope_inject.so in the library folder next to this program;
/// empty if not found.
std::filesystem::path inject_library();

/// libstreamscope_calls.so next to inject_library(); empty if it is not there.
std::filesystem::path calls_library();
/// What is wrong then.
inline constexpr char kNoCallsLibrary[] =
    "libstreamscope_calls.so is not beside libstreamscope_inject.so";

/// This machine has a CUDA driver that can be loaded.
bool has_driver();

}  // namespace streamscope::cli
