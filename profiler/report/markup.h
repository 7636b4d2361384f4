// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Names of the recorded program inside HTML and XML: none of their characters may act as markup.
#pragma once

#include <string>
#include <string_view>

namespace streamscope::report {

/// `text` for elements and quoted attributes; what neither can hold is replaced by printable().
std::string escape_markup(std::string_view text);

}  // namespace streamscope::report
