// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "pixel_background.h"

#include <algorithm>
#include <cmath>

namespace streamscope::viewer {
namespace {

// The first pixel whose center is at or after this coordinate.
int first_px(float at, float scale) {
  return static_cast<int>(std::floor(std::clamp(at * scale, -1e6f, 1e6f) + 0.5f));
}

ImU32 in_byte_order(ImU32 color) {
  const ImU32 red = color >> IM_COL32_R_SHIFT & 0xff, green = color >> IM_COL32_G_SHIFT & 0xff,
              blue = color >> IM_COL32_B_SHIFT & 0xff;
#ifdef __EMSCRIPTEN__
  return 0xff000000 | blue << 16 | green << 8 | red;
#else
  return 0xff000000 | red << 16 | green << 8 | blue;
#endif
}

}  // namespace

void PixelBackground::begin_frame(int width_px, int height_px, ImVec2 scale) {
  width_ = width_px;
  height_ = height_px;
  scale_ = scale;
  pixels_.resize(static_cast<size_t>(width_px) * static_cast<size_t>(height_px));
  layers_.clear();
}

void PixelBackground::begin_section(ImVec2 min, ImVec2 max) {
  layers_.push_back({0, {{min.x, min.y, max.x, max.y}}});
  section_min_ = min;
  section_max_ = max;
  clip(min, max);
}

void PixelBackground::clip(ImVec2 min, ImVec2 max) {
  clip_ = {0, 0, width_, height_};
  clip_ = box_of(section_min_, section_max_);
  clip_ = box_of(min, max);
}

PixelBackground::Box PixelBackground::box_of(ImVec2 min, ImVec2 max) const {
  return {std::max(first_px(min.x, scale_.x), clip_.left),
          std::max(first_px(min.y, scale_.y), clip_.top),
          std::min(first_px(max.x, scale_.x), clip_.right),
          std::min(first_px(max.y, scale_.y), clip_.bottom)};
}

void PixelBackground::report(const Box& box, uint64_t content) {
  uint64_t& all = layers_.back().content;
  all = combine(combine(combine(all, content), static_cast<uint64_t>(box.left) << 32 | box.top),
                static_cast<uint64_t>(box.right) << 32 | box.bottom);
}

void PixelBackground::fill(ImVec2 min, ImVec2 max, ImU32 color) {
  const Box box = box_of(min, max);
  if (box.left >= box.right) return;
  for (int y = box.top; y < box.bottom; ++y)
    std::fill(row(y) + box.left, row(y) + box.right, in_byte_order(color));
  report(box, color);
}

void PixelBackground::repeat(float left, float top, float bottom, std::span<const ImU32> line) {
  const Box box = box_of({left, top}, {left + static_cast<float>(line.size()), bottom});
  if (box.left >= box.right || box.top >= box.bottom) return;
  line_.resize(static_cast<size_t>(box.right - box.left));
  for (int x = box.left; x < box.right; ++x) {
    const auto unit = static_cast<ptrdiff_t>((static_cast<float>(x) + 0.5f) / scale_.x - left);
    line_[static_cast<size_t>(x - box.left)] = in_byte_order(
        line[static_cast<size_t>(std::clamp<ptrdiff_t>(unit, 0, std::ssize(line) - 1))]);
  }
  for (int y = box.top; y < box.bottom; ++y) std::ranges::copy(line_, row(y) + box.left);
  report(box, content_of(line_.data(), line_.size()));
}

}  // namespace streamscope::viewer
