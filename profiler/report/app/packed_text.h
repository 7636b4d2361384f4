// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Bytes as text for a page: compressed (gzip), then in base64 (RFC 4648), without line breaks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace streamscope::report {

/// Fills up to `size` bytes and returns how many; 0 at the end.
using ReadBytes = std::function<size_t(char* into, size_t size)>;

/// The bytes that base64 text stands for, up to its end or the first character that is none of it.
std::string from_base64(std::string_view text);

/// Passes the text of what `read` gives to `write`, piece by piece.
void pack_text(const ReadBytes& read, const std::function<void(std::string_view)>& write);

}  // namespace streamscope::report
