// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Units of the times and sizes that tests make up.
#pragma once

#include <cstddef>
#include <cstdint>

namespace streamscope::test {

/// A microsecond, in ns.
inline constexpr int64_t kUs = 1000;
inline constexpr std::size_t kMiB = std::size_t{1} << 20;

}  // namespace streamscope::test
