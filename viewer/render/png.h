// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Pictures and PNG files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace streamscope::viewer {

/// Pixels, top row first, 3 bytes (red, green, blue) each.
struct Image {
  int width = 0, height = 0;
  std::vector<uint8_t> rgb;
};

/// Throws Error if the file cannot be written.
void write_png(const Image& image, const std::filesystem::path& file);

}  // namespace streamscope::viewer
