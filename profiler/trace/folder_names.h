// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The names in a folder. The standard library's iterator silently ends early if a folder can only
// be read in part, or ends the program if memory is low.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace streamscope::trace {

/// Without `.` and `..`, in no order; none if there is no such folder. Throws Error if it cannot be
/// read completely.
std::vector<std::string> names_in(const std::filesystem::path& folder);

/// The same for optional uses: nothing if it cannot be read, also for lack of memory.
std::optional<std::vector<std::string>> try_names_in(const std::filesystem::path& folder) noexcept;

}  // namespace streamscope::trace
