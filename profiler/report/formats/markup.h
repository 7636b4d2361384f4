// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Makes names of the recorded program safe for pages and reports that are shared: their characters
// must not act as markup, and the folders of a machine are removed.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace streamscope::report {

/// `text` with each of these characters replaced.
std::string replaced(std::string_view text,
                     std::initializer_list<std::pair<char, std::string_view>> replacements);
/// Escapes `text` for elements and quoted attributes; printable() replaces invalid characters.
std::string escape_markup(std::string_view text);
/// `text` with every absolute path in it reduced to its last part.
std::string without_folders(const std::string& text);

}  // namespace streamscope::report
