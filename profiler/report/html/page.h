// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Style sheet and script of the HTML report, compiled in.
#pragma once

#include <string_view>

namespace streamscope::report {

std::string_view page_css();
std::string_view page_js();

}  // namespace streamscope::report
