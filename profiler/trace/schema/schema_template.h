// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// schema.sql and nsys_views.sql as they are in the source. Internal to schema_text.cpp.
#pragma once

#include <string_view>

namespace streamscope::trace {

std::string_view schema_template();
std::string_view nsys_views_template();

}  // namespace streamscope::trace
