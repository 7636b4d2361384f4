// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "raster.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace streamscope::viewer {

void Raster::begin_frame(ImTextureID texture, int width_px) {
  texture_ = texture;
  width_px_ = width_px;
  row_count_ = 0;
  // Never grows while rows are handed out, so that they stay where they are.
  pixels_.resize(static_cast<size_t>(width_px) * kRows);
}

std::span<ImU32> Raster::add_row(ImDrawList& draw, ImVec2 min, ImVec2 max) {
  if (texture_ == ImTextureID{} || row_count_ == kRows) return {};
  const auto wanted = static_cast<int>(max.x - min.x);
  const int width = std::clamp(wanted, 0, width_px_);
  const std::span<ImU32> row =
      std::span(pixels_).subspan(static_cast<size_t>(row_count_) * static_cast<size_t>(width_px_),
                                 static_cast<size_t>(width_px_));
  std::ranges::fill(row, 0);
  // The middle of the row in the texture, whatever the height on the screen.
  const float v = (static_cast<float>(row_count_) + 0.5f) / kRows;
  draw.AddImage(texture_, min, {min.x + static_cast<float>(width), max.y}, {0, v},
                {static_cast<float>(width) / static_cast<float>(width_px_), v});
  ++row_count_;
  return row.first(static_cast<size_t>(width));
}

uint64_t Raster::content() const {
  const auto rows =
      std::span(pixels_).first(static_cast<size_t>(row_count_) * static_cast<size_t>(width_px_));
  return std::hash<std::string_view>{}(
      {reinterpret_cast<const char*>(rows.data()), rows.size_bytes()});
}

}  // namespace streamscope::viewer
