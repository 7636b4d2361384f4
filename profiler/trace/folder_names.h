// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The names in a folder. The standard library's iterator takes a folder that can be read in part
// for a short one, or ends the program where memory is short.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace streamscope::trace {

/// Without `.` and `..`, in no order; none if there is no such folder. Throws Error if it cannot be
/// read to its end.
std::vector<std::string> names_in(const std::filesystem::path& folder);

/// The same for those who can do without: nothing if it cannot be read, for want of memory too.
std::optional<std::vector<std::string>> try_names_in(const std::filesystem::path& folder) noexcept;

}  // namespace streamscope::trace
