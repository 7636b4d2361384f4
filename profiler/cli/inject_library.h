// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Path of the library that is loaded into recorded programs.
#pragma once

#include <filesystem>

namespace streamscope::cli {

/// STREAMSCOPE_INJECT, else libstreamscope_inject.so in the library folder next to this program;
/// empty if not found.
std::filesystem::path inject_library();

}  // namespace streamscope::cli
