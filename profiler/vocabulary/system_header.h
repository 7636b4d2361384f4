// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Source files that are not the program's, for symbols and for call sites.
#pragma once

#include <string_view>

namespace streamscope {

/// A header of the system or of the C++ library, whose code may be compiled into the program.
constexpr bool is_system_header(std::string_view path) {
  return path.starts_with("/usr/include/") || path.find("/include/c++/") != path.npos;
}

}  // namespace streamscope
