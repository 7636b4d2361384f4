// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Where the library is that goes into recorded programs.
#pragma once

#include <filesystem>

namespace streamscope::cli {

/// STREAMSCOPE_INJECT, else libstreamscope_inject.so in the library folder beside the running
/// program; empty if there is none.
std::filesystem::path inject_library();

}  // namespace streamscope::cli
