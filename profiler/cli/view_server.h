// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// `view --serve`: the page of the viewer and traces over HTTP, for a browser on this machine or at
// the other end of `ssh -L`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace streamscope::cli {

/// Prints the address and serves until standard output has no reader left, such as a terminal that
/// was closed, or a signal ends the process. Port 0 takes any. Throws Error before that.
void serve_viewer(uint16_t port, const std::vector<std::filesystem::path>& traces);

}  // namespace streamscope::cli
