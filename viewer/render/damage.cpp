// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "damage.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <functional>
#include <string_view>

#include "imgui_compat.h"

namespace streamscope::viewer {
namespace {

double area(const ImVec4& box) { return double{box.z - box.x} * double{box.w - box.y}; }

ImVec4 join(const ImVec4& a, const ImVec4& b) {
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.z, b.z), std::max(a.w, b.w)};
}

// Where a command draws; it draws nothing outside its clip rectangle.
ImVec4 box_of(const ImDrawList& list, const ImDrawCmd& command) {
  ImVec4 box{FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX};
  for (unsigned i = 0; i < command.ElemCount; ++i) {
    const ImDrawIdx index = list.IdxBuffer[static_cast<int>(command.IdxOffset + i)];
    const ImVec2 at = list.VtxBuffer[static_cast<int>(command.VtxOffset + index)].pos;
    box = {std::min(box.x, at.x), std::min(box.y, at.y), std::max(box.z, at.x),
           std::max(box.w, at.y)};
  }
  const ImVec4& clip = command.ClipRect;
  return {std::floor(std::max(box.x, clip.x)), std::floor(std::max(box.y, clip.y)),
          std::ceil(std::min(box.z, clip.z)), std::ceil(std::min(box.w, clip.w))};
}

// Two rectangles that are cheaper to draw as one are merged.
void add(std::vector<ImVec4>& boxes, ImVec4 box) {
  if (box.x >= box.z || box.y >= box.w) return;
  for (size_t i = 0; i < boxes.size();) {
    const ImVec4 both = join(boxes[i], box);
    if (area(both) > area(boxes[i]) + area(box)) {
      ++i;
      continue;
    }
    box = both;
    boxes.erase(boxes.begin() + static_cast<ptrdiff_t>(i));
    i = 0;  // it has grown and may meet earlier ones
  }
  boxes.push_back(box);
}

}  // namespace

uint64_t content_of(const void* bytes, size_t count) {
  return std::hash<std::string_view>{}({static_cast<const char*>(bytes), count});
}

uint64_t combine(uint64_t a, uint64_t b) { return (a ^ (b >> 29)) * 0x9e3779b97f4a7c15u + b; }

std::vector<ImVec4> Damage::next(const ImDrawData& frame, const std::vector<Layer>& background) {
  std::vector<Layer> layers = background;
  const ImTextureID fonts = compat::font_texture();
  for (int i = 0; i < frame.CmdListsCount; ++i) {
    const ImDrawList& list = *frame.CmdLists[i];
    Layer layer{combine(content_of(list.VtxBuffer.Data, static_cast<size_t>(list.VtxBuffer.Size)),
                        content_of(list.IdxBuffer.Data, static_cast<size_t>(list.IdxBuffer.Size))),
                {}};
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.ElemCount == 0) continue;
      layer.content = combine(layer.content, content_of(&command.ClipRect, 1));
      layer.content = combine(layer.content, command.ElemCount);
      layer.boxes.push_back(box_of(list, command));
    }
    if (!layer.boxes.empty()) layers.push_back(std::move(layer));
  }
  std::vector<ImVec4> damage;
  if (frame.DisplaySize.x != size_.x || frame.DisplaySize.y != size_.y || fonts != fonts_) {
    damage.push_back({0, 0, frame.DisplaySize.x, frame.DisplaySize.y});
  } else {
    for (size_t i = 0; i < std::max(layers.size(), layers_.size()); ++i) {
      const bool is_new = i < layers.size(), was_there = i < layers_.size();
      if (is_new && was_there && layers[i].content == layers_[i].content) continue;
      for (const std::vector<Layer>* each :
           {is_new ? &layers : nullptr, was_there ? &layers_ : nullptr}) {
        if (each == nullptr) continue;
        for (const ImVec4& box : (*each)[i].boxes) add(damage, box);
      }
    }
  }
  layers_ = std::move(layers);
  size_ = frame.DisplaySize;
  fonts_ = fonts;
  return damage;
}

}  // namespace streamscope::viewer
