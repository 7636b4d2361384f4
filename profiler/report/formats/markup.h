// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Makes names of the recorded program safe for pages and reports that are shared: their characters
// must not act as markup, and the folders of a machine are removed.
#pragma once

#include <string>
#include <string_view>

namespace streamscope::report {

/// Escapes `text` for elements and quoted attributes; printable() replaces invalid characters.
std::string escape_markup(std::string_view text);
/// `text` with every absolute path in it reduced to its last part.
std::string without_folders(const std::string& text);

}  // namespace streamscope::report
