// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "app.h"

#define GLFW_INCLUDE_NONE
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <chrono>
#include <fstream>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "canvas.h"
#include "loader.h"
#include "trace/error.h"

namespace streamscope::viewer {
namespace {

constexpr const char* kGlsl = "#version 330 core";
// After an input ImGui needs a few frames to settle: hover, then press, then the size of a tooltip.
constexpr int kSettleFrames = 4;
constexpr double kBusyPauseS = 0.05;  // between looks at something that a view waits for
constexpr double kLivePauseS = 0.5;   // between looks at a trace that is being recorded

Error cannot_draw(const char* why) {
  return Error("EGL", std::string("cannot draw without a display: ") + why,
               "install Mesa's drivers (libegl1, libgl1-mesa-dri)");
}

void set_up_imgui() {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;  // layout is our own business
  ImGui::GetIO().LogFilename = nullptr;
}

}  // namespace

struct Offscreen::Impl {
  int width, height;
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;
  std::optional<Canvas> canvas;

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
  if (get_display == nullptr) throw cannot_draw("no platform displays");
  impl_->display = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
  if (impl_->display == EGL_NO_DISPLAY) throw cannot_draw("no surfaceless platform");
  if (!eglInitialize(impl_->display, nullptr, nullptr)) {
    impl_->display = EGL_NO_DISPLAY;
    throw cannot_draw("the surfaceless platform does not start");
  }
  if (!eglBindAPI(EGL_OPENGL_API)) throw cannot_draw("no OpenGL");
  constexpr std::array<EGLint, 5> kConfig = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_SURFACE_TYPE,
                                             0, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  if (!eglChooseConfig(impl_->display, kConfig.data(), &config, 1, &count) || count == 0)
    throw cannot_draw("no configuration");
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
    throw cannot_draw("no context without a surface");
  set_up_imgui();
  if (!ImGui_ImplOpenGL3_Init(kGlsl)) throw cannot_draw("no OpenGL functions");
  impl_->canvas.emplace();
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
  auto document = read_document(arguments.trace);
  Offscreen surface(arguments.width, arguments.height);
  Workspace workspace(arguments);
  if (!arguments.compared.empty()) workspace.set_compared(read_document(arguments.compared));
  workspace.set_document(std::move(document));
  surface.render(workspace);
  while (workspace.state().busy) {  // a query
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    surface.draw(workspace);
  }
  write_png(surface.render(workspace), arguments.screenshot);
  if (!arguments.state_file.empty()) std::ofstream(arguments.state_file) << workspace.state_json();
}

namespace {

// The name that the table of commands uses for a GLFW key; "" for keys it has no names for.
Key key_name(int key, int mods) {
  struct Named {
    int code;
    const char* name;
  };
  static constexpr std::array<Named, 18> kNamed = {{{GLFW_KEY_LEFT, "Left"},
                                                    {GLFW_KEY_RIGHT, "Right"},
                                                    {GLFW_KEY_UP, "Up"},
                                                    {GLFW_KEY_DOWN, "Down"},
                                                    {GLFW_KEY_HOME, "Home"},
                                                    {GLFW_KEY_END, "End"},
                                                    {GLFW_KEY_PAGE_UP, "PageUp"},
                                                    {GLFW_KEY_PAGE_DOWN, "PageDown"},
                                                    {GLFW_KEY_ESCAPE, "Escape"},
                                                    {GLFW_KEY_ENTER, "Enter"},
                                                    {GLFW_KEY_KP_ENTER, "Enter"},
                                                    {GLFW_KEY_BACKSPACE, "Backspace"},
                                                    {GLFW_KEY_DELETE, "Delete"},
                                                    {GLFW_KEY_F1, "F1"},
                                                    {GLFW_KEY_F3, "F3"},
                                                    {GLFW_KEY_EQUAL, "="},
                                                    {GLFW_KEY_MINUS, "-"},
                                                    {GLFW_KEY_KP_ADD, "+"}}};
  std::string name;
  if ((key >= GLFW_KEY_A && key <= GLFW_KEY_Z) ||
      (key >= GLFW_KEY_0 && key <= GLFW_KEY_9 && mods == 0)) {
    name = static_cast<char>(key);
  } else {
    for (const Named& named : kNamed) {
      if (named.code == key) name = named.name;
    }
    // Without Ctrl a sign comes as a character, whatever the layout of the keyboard.
    if (name.size() == 1 && (mods & GLFW_MOD_CONTROL) == 0) return "";
  }
  if (name.empty()) return "";
  if ((mods & GLFW_MOD_SHIFT) != 0) name = "Shift+" + name;
  if ((mods & GLFW_MOD_CONTROL) != 0) name = "Ctrl+" + name;
  return name;
}

// What changes when a trace file grows: it, or the log beside it.
struct FileState {
  std::filesystem::file_time_type changed, log_changed;
  uintmax_t bytes = 0, log_bytes = 0;

  bool operator==(const FileState&) const = default;
};

FileState state_of(const std::filesystem::path& file) {
  FileState state;
  const auto look = [](const std::filesystem::path& at, auto& changed, uintmax_t& bytes) {
    std::error_code absent;
    changed = std::filesystem::last_write_time(at, absent);
    bytes = absent ? 0 : std::filesystem::file_size(at, absent);
    if (absent) bytes = 0;
  };
  look(file, state.changed, state.bytes);
  look(file.string() + "-wal", state.log_changed, state.log_bytes);
  return state;
}

// A trace that was cut off is incomplete for ever; one that is being recorded has a log.
bool is_written(const FileState& state) { return state.log_bytes > 0; }

class Window {
 public:
  explicit Window(const Arguments& arguments);
  ~Window();
  void run();

 private:
  static Window& self(GLFWwindow* window) {
    return *static_cast<Window*>(glfwGetWindowUserPointer(window));
  }
  void open(const std::filesystem::path& trace);
  /// Holds a second trace against the one that is open.
  void compare_with(const std::filesystem::path& trace);
  /// Opens what was dropped: a trace, or two to compare.
  void drop(std::span<const char* const> files);
  void show_title();
  void take_document();
  void take_compared();
  /// Of a trace that is being recorded: reads it again if there is more.
  void follow();
  void keep_session() const;
  void write_state();

  Arguments arguments_;
  GLFWwindow* window_ = nullptr;
  std::optional<Workspace> workspace_;
  std::optional<Canvas> canvas_;
  std::unique_ptr<Loader> loader_, compared_loader_;
  std::filesystem::path trace_;  // shown or being loaded
  FileState read_state_;         // of the trace when it was read last
  bool is_live_ = false;
  std::string written_state_;
  int frames_ = kSettleFrames;  // still to be drawn before it waits for the next event
};

Window::Window(const Arguments& arguments) : arguments_(arguments) {
  if (glfwInit() == 0) {
    const char* why = nullptr;
    glfwGetError(&why);
    throw Error(
        "display",
        "cannot be opened" + (why != nullptr ? " (" + std::string(why) + ")" : std::string()),
        "set DISPLAY, or draw a picture with --screenshot PNG, which needs none");
  }
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  window_ = glfwCreateWindow(arguments.width, arguments.height, "StreamScope", nullptr, nullptr);
  if (window_ == nullptr) {
    const char* why = nullptr;
    glfwGetError(&why);
    const std::string reason = why != nullptr ? why : "no reason given";
    glfwTerminate();
    throw Error("window", "cannot be opened (" + reason + ")",
                "OpenGL 3.3 is needed; --screenshot PNG draws without a window");
  }
  glfwMakeContextCurrent(window_);
  glfwSwapInterval(1);
  glfwSetWindowUserPointer(window_, this);
  set_up_imgui();
  if (!arguments_.scale) {
    float x = 1, y = 1;
    glfwGetWindowContentScale(window_, &x, &y);
    arguments_.scale = x;
  }
  workspace_.emplace(arguments_);
  canvas_.emplace();
  // Ours first: ImGui's own handlers call them.
  glfwSetKeyCallback(window_, [](GLFWwindow* window, int key, int, int action, int mods) {
    self(window).frames_ = kSettleFrames;
    if (action == GLFW_RELEASE) return;
    const Key name = key_name(key, mods);
    if (!name.empty()) self(window).workspace_->press(name);
  });
  glfwSetCharCallback(window_, [](GLFWwindow* window, unsigned int character) {
    self(window).frames_ = kSettleFrames;
    self(window).workspace_->type(character);
  });
  // What arrives while the picture settles needs frames of its own: a press and its release that
  // come together are two.
  glfwSetMouseButtonCallback(
      window_, [](GLFWwindow* window, int, int, int) { self(window).frames_ = kSettleFrames; });
  glfwSetCursorPosCallback(
      window_, [](GLFWwindow* window, double, double) { self(window).frames_ = kSettleFrames; });
  glfwSetScrollCallback(
      window_, [](GLFWwindow* window, double, double) { self(window).frames_ = kSettleFrames; });
  glfwSetFramebufferSizeCallback(
      window_, [](GLFWwindow* window, int, int) { self(window).frames_ = kSettleFrames; });
  glfwSetDropCallback(window_, [](GLFWwindow* window, int count, const char** paths) {
    if (count > 0) self(window).drop(std::span(paths, static_cast<size_t>(count)));
  });
  ImGui_ImplGlfw_InitForOpenGL(window_, true);
  ImGui_ImplOpenGL3_Init(kGlsl);
  workspace_->set_recent(read_sessions(sessions_file()));
  if (!arguments_.trace.empty()) open(arguments_.trace);
  if (!arguments_.compared.empty()) compare_with(arguments_.compared);
}

Window::~Window() {
  keep_session();
  loader_.reset();
  compared_loader_.reset();
  workspace_.reset();
  canvas_.reset();
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(window_);
  glfwTerminate();
}

void Window::open(const std::filesystem::path& trace) {
  if (trace != trace_) {
    keep_session();
    const std::filesystem::path absolute = std::filesystem::absolute(trace);
    for (const Session& each : read_sessions(sessions_file())) {
      if (each.trace == absolute) workspace_->restore(each);
    }
    workspace_->set_notice("");
  }
  trace_ = trace;
  workspace_->set_reading(trace);
  show_title();
  read_state_ = state_of(trace);
  loader_ = std::make_unique<Loader>(trace, arguments_.width, [] { glfwPostEmptyEvent(); });
}

void Window::show_title() {
  glfwSetWindowTitle(window_, (trace_.filename().string() + " \u2013 StreamScope").c_str());
}

void Window::compare_with(const std::filesystem::path& trace) {
  workspace_->state().drawer = "compare";
  compared_loader_ =
      std::make_unique<Loader>(trace, arguments_.width, [] { glfwPostEmptyEvent(); });
}

void Window::drop(std::span<const char* const> files) {
  compared_loader_.reset();
  workspace_->set_compared(nullptr);
  open(files[0]);
  if (files.size() > 1) compare_with(files[1]);
  if (files.size() > 2)
    workspace_->set_notice("Two traces are compared at most: the first two of " +
                           std::to_string(files.size()) + " are open.");
}

void Window::keep_session() const {
  const Session session = workspace_->session();
  if (!session.trace.empty()) viewer::keep_session(sessions_file(), session);
}

void Window::follow() {
  if (!is_live_ || loader_) return;
  if (state_of(trace_) != read_state_) open(trace_);
}

void Window::take_compared() {
  if (!compared_loader_) return;
  const std::string error = compared_loader_->error();
  auto document = compared_loader_->document();
  if (!error.empty()) {
    workspace_->set_notice(error);
  } else if (document && !document->is_sketch()) {
    workspace_->set_compared(std::move(document));
  } else {
    return;
  }
  compared_loader_.reset();
}

void Window::take_document() {
  if (!loader_) return;
  workspace_->set_progress(loader_->progress());
  const std::string error = loader_->error();
  auto document = loader_->document();
  if (!error.empty() || (document && !document->is_sketch())) loader_.reset();
  if (!error.empty() && workspace_->document() == nullptr) return workspace_->set_error(error);
  if (!error.empty()) {  // what was open stays
    workspace_->set_notice(error);
    trace_ = workspace_->document()->trace().file;
    read_state_ = state_of(trace_);
    if (workspace_->document()->is_sketch()) open(trace_);  // its details were being read
    return show_title();
  }
  if (!document || document.get() == workspace_->document()) return;
  is_live_ = !document->trace().complete() && is_written(read_state_);
  workspace_->set_live(is_live_);
  try {
    workspace_->set_document(std::move(document));
  } catch (const Error& refused) {
    workspace_->set_notice(refused.what());
  }
}

void Window::write_state() {
  if (arguments_.state_file.empty()) return;
  std::string state = workspace_->state_json();
  if (state == written_state_) return;
  const std::filesystem::path temporary = arguments_.state_file.string() + ".new";
  std::ofstream(temporary) << state;
  std::filesystem::rename(temporary, arguments_.state_file);
  written_state_ = std::move(state);
}

void Window::run() {
  while (glfwWindowShouldClose(window_) == 0 && !workspace_->state().quit) {
    if (frames_ > 0) {
      --frames_;
      glfwPollEvents();
    } else {
      write_state();  // of a picture that has settled
      if (workspace_->state().busy) {
        glfwWaitEventsTimeout(kBusyPauseS);
      } else if (is_live_) {
        glfwWaitEventsTimeout(kLivePauseS);
      } else {
        glfwWaitEvents();
      }
      frames_ = kSettleFrames - 1;
    }
    follow();
    if (std::filesystem::path asked = std::exchange(workspace_->state().open, {}); !asked.empty())
      open(asked);
    take_document();
    take_compared();
    int width = 0, height = 0;
    glfwGetFramebufferSize(window_, &width, &height);
    if (width == 0 || height == 0) continue;  // minimized
    if (!canvas_->draw(*workspace_, width, height, [] { ImGui_ImplGlfw_NewFrame(); })) {
      throw Error("window", "GL has no frame buffer of its size", "make the window smaller");
    }
    canvas_->present();
    glfwSwapBuffers(window_);
  }
}

}  // namespace

void run_window(const Arguments& arguments) { Window(arguments).run(); }

}  // namespace streamscope::viewer
