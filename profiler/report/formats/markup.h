// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Names of the recorded program inside pages and reports that are passed on: none of their
// characters may act as markup, and none of the folders of a machine need be told.
#pragma once

#include <string>
#include <string_view>

namespace streamscope::report {

/// `text` for elements and quoted attributes; what neither can hold is replaced by printable().
std::string escape_markup(std::string_view text);
/// `text` with the last part only of every absolute path in it.
std::string without_folders(const std::string& text);

}  // namespace streamscope::report
