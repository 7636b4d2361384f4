// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Asks a server on a Unix socket (server.h), for the project's own commands.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "request.h"

namespace streamscope::serve {

/// `target` is the path, already encoded, with a query if there is one. Whatever the status of the
/// response is, it is returned. Throws Error if no server of this user or of root answers there
/// within `timeout`, or its response is cut off.
Response call(const std::filesystem::path& socket, std::string_view method, std::string_view target,
              std::string_view body, std::chrono::milliseconds timeout);

}  // namespace streamscope::serve
