// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Takes requests to start and stop a recording: on a Unix socket in the folder of its rings, and on
// a port if one is given. Both are served by the recorder, never by the program.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "record/on_demand/requests.h"

namespace streamscope::cli {

/// Serves until the result is destroyed: GET /status, POST /start with ?seconds=N if it is to end
/// by itself, POST /stop. `port` on 127.0.0.1, 0 for any; its token, that of
/// STREAMSCOPE_CONTROL_TOKEN or a new one, is written to a file in `rings` that only this user can
/// read, which is reported on standard error. Throws Error.
std::shared_ptr<void> serve_control(const std::filesystem::path& rings,
                                    const std::shared_ptr<record::OnDemandRequests>& requests,
                                    std::optional<uint32_t> port);

}  // namespace streamscope::cli
