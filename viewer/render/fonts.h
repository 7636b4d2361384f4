// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The font files that CMake found, embedded at build time, so that the viewer looks the same
// everywhere.
#pragma once

#include <cstddef>
#include <span>

namespace streamscope::viewer {

/// Whole font files; static storage.
std::span<const std::byte> sans_font();
std::span<const std::byte> bold_font();
std::span<const std::byte> mono_font();

}  // namespace streamscope::viewer
