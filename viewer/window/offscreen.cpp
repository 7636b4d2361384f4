// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>
#include <utility>

#include "app.h"
#include "model/file_state.h"
#include "model/loader.h"
#include "model/trace_facts.h"
#include "render/canvas.h"
#include "render/gl.h"
#include "trace/error.h"

namespace streamscope::viewer {
namespace {

Error cannot_draw(const char* why) {
  return Error("EGL", std::string("cannot draw without a display: ") + why,
               "install Mesa's drivers (libegl1, libgl1-mesa-dri)");
}

}  // namespace

struct Offscreen::Impl {
  int width, height;
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;
  std::unique_ptr<Canvas> canvas;

  ~Impl() {
    canvas.reset();
    if (ImGui::GetCurrentContext() != nullptr) {
      if (ImGui::GetIO().BackendRendererUserData != nullptr) ImGui_ImplOpenGL3_Shutdown();
      ImGui::DestroyContext();
    }
    if (display != EGL_NO_DISPLAY) {
      eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
      if (context != EGL_NO_CONTEXT) eglDestroyContext(display, context);
      eglTerminate(display);
    }
  }
};

Offscreen::Offscreen(int width, int height) : impl_(std::make_unique<Impl>()) {
  impl_->width = width;
  impl_->height = height;
  const auto get_display = reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(
      eglGetProcAddress("eglGetPlatformDisplayEXT"));
  if (get_display == nullptr) throw cannot_draw("EGL has no platform displays");
  impl_->display = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
  if (impl_->display == EGL_NO_DISPLAY) throw cannot_draw("EGL has no surfaceless platform");
  if (!eglInitialize(impl_->display, nullptr, nullptr)) {
    impl_->display = EGL_NO_DISPLAY;
    throw cannot_draw("the surfaceless platform failed to start");
  }
  if (!eglBindAPI(EGL_OPENGL_API)) throw cannot_draw("no OpenGL");
  constexpr std::array<EGLint, 5> kConfig = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE,
                                             0, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (!eglChooseConfig(impl_->display, kConfig.data(), &config, 1, &count) || count == 0)
    throw cannot_draw("no matching EGL configuration");
  constexpr std::array<EGLint, 7> kContext = {EGL_CONTEXT_MAJOR_VERSION,
                                              3,
                                              EGL_CONTEXT_MINOR_VERSION,
                                              3,
                                              EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                              EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                              EGL_NONE};
  impl_->context = eglCreateContext(impl_->display, config, EGL_NO_CONTEXT, kContext.data());
  if (impl_->context == EGL_NO_CONTEXT) throw cannot_draw("no OpenGL 3.3");
  if (!eglMakeCurrent(impl_->display, EGL_NO_SURFACE, EGL_NO_SURFACE, impl_->context))
    throw cannot_draw("contexts without a surface are not supported");
  set_up_imgui();
  if (!ImGui_ImplOpenGL3_Init(kGlsl)) throw cannot_draw("no OpenGL functions");
  impl_->canvas = std::make_unique<Canvas>();
}

Offscreen::~Offscreen() = default;

void Offscreen::draw(Workspace& workspace) {
  const bool drawn = impl_->canvas->draw(workspace, impl_->width, impl_->height, [&] {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(impl_->width), static_cast<float>(impl_->height)};
    io.DeltaTime = 1.0f / 60;
    io.MousePos = {-FLT_MAX, -FLT_MAX};
  });
  if (!drawn) throw cannot_draw("no frame buffer of this size");
  glFinish();
}

Image Offscreen::render(Workspace& workspace, int frames) {
  for (int i = 0; i < frames; ++i) draw(workspace);
  Image image{impl_->width, impl_->height, {}};
  const size_t row = static_cast<size_t>(image.width) * 3;
  std::vector<uint8_t> pixels(row * static_cast<size_t>(image.height));
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, image.width, image.height, GL_RGB, GL_UNSIGNED_BYTE, pixels.data());
  image.rgb.resize(pixels.size());
  for (size_t y = 0; y < static_cast<size_t>(image.height);
       ++y) {  // GL counts rows from the bottom
    std::copy_n(pixels.begin() + static_cast<ptrdiff_t>(row * y), row,
                image.rgb.begin() +
                    static_cast<ptrdiff_t>(row * (static_cast<size_t>(image.height) - 1 - y)));
  }
  return image;
}

void run_screenshot(const Arguments& arguments) {
  std::shared_ptr<const JobModel> job;
  std::shared_ptr<const TraceModel> model;
  const bool is_written = viewer::is_written(state_of(arguments.trace));
  if (std::filesystem::is_directory(arguments.trace)) {
    job = read_job(arguments.trace);
  } else {
    model = read_model(arguments.trace);
  }
  Offscreen surface(arguments.width, arguments.height);
  Workspace workspace(arguments);
  if (job) {
    workspace.set_job(std::move(job));
  } else {
    if (!arguments.compared.empty()) workspace.set_compared(read_model(arguments.compared));
    workspace.set_live(is_written && is_unfinished(*model));
    workspace.set_model(std::move(model));
  }
  surface.render(workspace);
  while (workspace.state().drawn.busy) {  // a query
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    surface.draw(workspace);
  }
  write_png(surface.render(workspace), arguments.screenshot);
  if (!arguments.state_file.empty()) std::ofstream(arguments.state_file) << workspace.state_json();
}

}  // namespace streamscope::viewer
