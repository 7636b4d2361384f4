// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reads pickles that consist of plain values, as dumps of PyTorch do. Unlike Python's reader it
// calls nothing: a pickle with an object of any class is refused.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

namespace streamscope::job {

/// Tuples become arrays; keys of dictionaries that are numbers become text. `origin` names the
/// bytes in errors. Throws Error.
nlohmann::json read_pickle(std::string_view bytes, const std::filesystem::path& origin);

}  // namespace streamscope::job
