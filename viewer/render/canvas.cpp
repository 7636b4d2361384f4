// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "canvas.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "gl.h"
#include "imgui_compat.h"

namespace streamscope::viewer {
namespace {

// Content on whole pixels needs no blending of neighbors, which is expensive in software.
void make_sharp(GLuint texture) {
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

ImVec4 intersection(const ImVec4& a, const ImVec4& b) {
  return {std::max(a.x, b.x), std::max(a.y, b.y), std::min(a.z, b.z), std::min(a.w, b.w)};
}

}  // namespace

void set_up_imgui() {
  IMGUI_CHECKVERSION();
  // Dear ImGui does not check allocations; operator new throws.
  ImGui::SetAllocatorFunctions([](size_t bytes, void*) { return ::operator new(bytes); },
                               [](void* memory, void*) { ::operator delete(memory); });
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;  // the viewer has its own layout
  ImGui::GetIO().LogFilename = nullptr;
}

Canvas::Canvas() {
  glGenFramebuffers(1, &framebuffer_);
  glGenTextures(1, &pixels_);
}

Canvas::~Canvas() {
  glDeleteFramebuffers(1, &framebuffer_);
  glDeleteTextures(1, &pixels_);
}

bool Canvas::resize(int width, int height) {
  if (width == width_ && height == height_) return true;
  damage_.forget();
  make_sharp(pixels_);
  // In the byte order of windows and of the ground: it is copied unchanged.
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, width, height, 0, kPixelOrder, GL_UNSIGNED_BYTE, nullptr);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, pixels_, 0);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) return false;
  width_ = width;
  height_ = height;
  return true;
}

void Canvas::draw_part(ImDrawData& frame, const ImVec4& part,
                       const PixelBackground& background) const {
  const ImVec2 scale = frame.FramebufferScale;
  const int left = std::max(static_cast<int>(std::floor(part.x * scale.x)), 0),
            top = std::max(static_cast<int>(std::floor(part.y * scale.y)), 0),
            right = std::min(static_cast<int>(std::ceil(part.z * scale.x)), width_),
            bottom = std::min(static_cast<int>(std::ceil(part.w * scale.y)), height_);
  if (left >= right || top >= bottom) return;
  // GL counts rows from the bottom, like the ground.
  glBindTexture(GL_TEXTURE_2D, pixels_);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, width_);
  glTexSubImage2D(
      GL_TEXTURE_2D, 0, left, height_ - bottom, right - left, bottom - top, kPixelOrder,
      GL_UNSIGNED_BYTE,
      background.pixels().data() + static_cast<ptrdiff_t>(height_ - bottom) * width_ + left);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  // The renderer skips commands whose clip rectangle is empty.
  std::vector<ImVec4> clips;
  for (int i = 0; i < frame.CmdListsCount; ++i) {
    for (ImDrawCmd& command : frame.CmdLists[i]->CmdBuffer) {
      clips.push_back(command.ClipRect);
      command.ClipRect = intersection(command.ClipRect, part);
    }
  }
  ImGui_ImplOpenGL3_RenderDrawData(&frame);
  auto clip = clips.begin();
  for (int i = 0; i < frame.CmdListsCount; ++i) {
    for (ImDrawCmd& command : frame.CmdLists[i]->CmdBuffer) command.ClipRect = *clip++;
  }
}

bool Canvas::draw(Workspace& workspace, int width, int height,
                  const std::function<void()>& new_frame) {
  if (!resize(width, height)) return false;
  if (workspace.update_theme()) {
    compat::upload_fonts();
    damage_.forget();
  }
  ImGui_ImplOpenGL3_NewFrame();
  new_frame();
  ImGui::NewFrame();
  PixelBackground& background = workspace.state().drawn.background;
  background.begin_frame(width, height, ImGui::GetIO().DisplayFramebufferScale);
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  workspace.draw(size.x, size.y);
  ImGui::Render();

  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  ImDrawData& frame = *ImGui::GetDrawData();
  const std::vector<ImVec4> parts = damage_.next(frame, background.layers());
  if (parts.empty()) return true;
  make_sharp((GLuint)(intptr_t)compat::font_texture());
  glViewport(0, 0, width, height);
  for (const ImVec4& part : parts) draw_part(frame, part, background);
  return true;
}

void Canvas::present() const {
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
  glBlitFramebuffer(0, 0, width_, height_, 0, 0, width_, height_, GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

}  // namespace streamscope::viewer
