// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A file as the response to GET and HEAD, with ranges and conditions (RFC 9110, 13 and 14).
#pragma once

#include <memory>
#include <string>

#include "request.h"
#include "trace/descriptor.h"

namespace streamscope::serve {

/// The whole file, or with `Range: bytes=…` one range of it. Its ETag changes with the file:
/// `If-Match` with another one gets status 412, `If-Range` the whole file. A range that is not in
/// the file, and several at once, get status 416. The file is read while the client takes it; if it
/// changes meanwhile, the connection closes. Throws Error if it cannot be read.
Response file_response(const Request& request, std::shared_ptr<const Descriptor> file,
                       std::string type);

}  // namespace streamscope::serve
