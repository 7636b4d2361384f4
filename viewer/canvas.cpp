// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "canvas.h"

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "imgui_compat.h"

namespace streamscope::viewer {
namespace {

// What lies on whole pixels needs no mixing of neighbours, which software pays for.
void make_sharp(GLuint texture) {
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

ImVec4 intersection(const ImVec4& a, const ImVec4& b) {
  return {std::max(a.x, b.x), std::max(a.y, b.y), std::min(a.z, b.z), std::min(a.w, b.w)};
}

void draw_part(ImDrawData& frame, const ImVec4& part, const ImVec4& ground, int height) {
  const ImVec2 scale = frame.FramebufferScale;
  const int left = static_cast<int>(std::floor(part.x * scale.x)),
            top = static_cast<int>(std::floor(part.y * scale.y)),
            right = static_cast<int>(std::ceil(part.z * scale.x)),
            bottom = static_cast<int>(std::ceil(part.w * scale.y));
  glEnable(GL_SCISSOR_TEST);
  glScissor(left, height - bottom, right - left, bottom - top);  // GL counts rows from the bottom
  glClearColor(ground.x, ground.y, ground.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  glDisable(GL_SCISSOR_TEST);
  // The renderer skips commands whose clipping leaves nothing.
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

}  // namespace

Canvas::Canvas() {
  glGenFramebuffers(1, &framebuffer_);
  glGenTextures(1, &pixels_);
  glGenTextures(1, &rows_);
}

Canvas::~Canvas() {
  glDeleteFramebuffers(1, &framebuffer_);
  glDeleteTextures(1, &pixels_);
  glDeleteTextures(1, &rows_);
}

bool Canvas::resize(int width, int height) {
  if (width == width_ && height == height_) return true;
  damage_.forget();
  make_sharp(pixels_);
  // In the order of bytes that windows have, for which Mesa's software clears and copies fast.
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, width, height, 0, GL_BGRA, GL_UNSIGNED_BYTE, nullptr);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, pixels_, 0);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) return false;
  make_sharp(rows_);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, width, Raster::kRows, 0, GL_RGBA, GL_UNSIGNED_BYTE,
               nullptr);
  width_ = width;
  height_ = height;
  return true;
}

void Canvas::upload(const Raster& raster) {
  if (raster.row_count() == 0) return;
  glBindTexture(GL_TEXTURE_2D, rows_);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, raster.width_px(), raster.row_count(), GL_RGBA,
                  GL_UNSIGNED_BYTE, raster.pixels().data());
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
  Raster& raster = workspace.state().raster;
  raster.begin_frame((ImTextureID)(intptr_t)rows_, width);  // a pointer until 1.91, then a number
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  workspace.draw(size.x, size.y);
  ImGui::Render();

  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  ImDrawData& frame = *ImGui::GetDrawData();
  const std::vector<ImVec4> parts = damage_.next(frame, raster.content());
  if (parts.empty()) return true;
  upload(raster);
  make_sharp((GLuint)(intptr_t)compat::font_texture());
  glViewport(0, 0, width, height);
  const ImVec4 ground = Theme(workspace.state().theme, 1).vec(Color::kBackground);
  for (const ImVec4& part : parts) draw_part(frame, part, ground, height);
  return true;
}

void Canvas::present() const {
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
  glBlitFramebuffer(0, 0, width_, height_, 0, 0, width_, height_, GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

}  // namespace streamscope::viewer
