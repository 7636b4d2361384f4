// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <deque>
#include <fstream>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "app.h"
#include "model/file_state.h"
#include "model/loader.h"
#include "model/run_follower.h"
#include "model/trace_facts.h"
#include "render/canvas.h"
#include "render/gl.h"
#include "trace/error.h"
#ifdef __EMSCRIPTEN__
#include "web/page.h"
#endif

namespace streamscope::viewer {
namespace {

// After an input ImGui needs a few frames to settle: hover, then press, then the size of a tooltip.
constexpr int kSettleFrames = 4;
constexpr double kBusyPauseS = 0.05;  // between polls of what a view waits for
constexpr double kLivePauseS = 0.5;   // between frames while a trace or a run grows

// The name of a GLFW key in the command table; "" for keys that the table does not use.
Key key_name(int key, int mods) {
  struct Named {
    int code;
    const char* name;
  };
  static constexpr std::array<Named, 21> kNamed = {
      {{GLFW_KEY_LEFT, "Left"},      {GLFW_KEY_RIGHT, "Right"},
       {GLFW_KEY_UP, "Up"},          {GLFW_KEY_DOWN, "Down"},
       {GLFW_KEY_HOME, "Home"},      {GLFW_KEY_END, "End"},
       {GLFW_KEY_PAGE_UP, "PageUp"}, {GLFW_KEY_PAGE_DOWN, "PageDown"},
       {GLFW_KEY_ESCAPE, "Escape"},  {GLFW_KEY_ENTER, "Enter"},
       {GLFW_KEY_KP_ENTER, "Enter"}, {GLFW_KEY_BACKSPACE, "Backspace"},
       {GLFW_KEY_DELETE, "Delete"},  {GLFW_KEY_F1, "F1"},
       {GLFW_KEY_F3, "F3"},          {GLFW_KEY_F6, "F6"},
       {GLFW_KEY_TAB, "Tab"},        {GLFW_KEY_SPACE, "Space"},
       {GLFW_KEY_EQUAL, "="},        {GLFW_KEY_MINUS, "-"},
       {GLFW_KEY_KP_ADD, "+"}}};
  std::string name;
  if ((key >= GLFW_KEY_A && key <= GLFW_KEY_Z) ||
      (key >= GLFW_KEY_0 && key <= GLFW_KEY_9 && mods == 0)) {
    name = static_cast<char>(key);
  } else {
    for (const Named& named : kNamed) {
      if (named.code == key) name = named.name;
    }
    // Without Ctrl, a symbol arrives as a character, whatever the keyboard layout.
    if (name.size() == 1 && (mods & GLFW_MOD_CONTROL) == 0) return "";
  }
  if (name.empty()) return "";
  if ((mods & GLFW_MOD_SHIFT) != 0) name = "Shift+" + name;
  if ((mods & GLFW_MOD_CONTROL) != 0) name = "Ctrl+" + name;
  return name;
}

std::string last_error() {
  const char* why = nullptr;
#if GLFW_VERSION_MINOR >= 3
  glfwGetError(&why);
#endif
  return why != nullptr ? why : "no reason given";
}

// Pixels for each unit of the design.
float display_scale([[maybe_unused]] GLFWwindow* window) {
#ifdef __EMSCRIPTEN__
  return page::scale();
#else
  float x = 1, y = 1;
  glfwGetWindowContentScale(window, &x, &y);
  return x;
#endif
}

// Ends the wait for something to draw. Any thread.
void wake() {
#ifdef __EMSCRIPTEN__
  page::wake();
#else
  glfwPostEmptyEvent();
#endif
}

// A page need not keep the file of a trace that is read.
void forget_file([[maybe_unused]] const TraceModel& model) {
#ifdef __EMSCRIPTEN__
  page::release(model.trace().file);
#endif
}

class Window {
 public:
  explicit Window(const Arguments& arguments);
  ~Window();
  /// Draws until the window is closed; in a page, returns, and draws whenever the browser does.
  void run();

 private:
  static Window& self(GLFWwindow* window) {
    return *static_cast<Window*>(glfwGetWindowUserPointer(window));
  }
  /// A trace, or the folder of a run; `shown`: not what was shown of it last.
  void open(const std::filesystem::path& trace, std::optional<TimeRange> shown = {});
  /// Compares the open trace with a second one.
  void compare_with(const std::filesystem::path& trace);
  /// Opens dropped files: a trace, or two to compare.
  void drop(std::span<const char* const> files);
  void show_title();
  /// A key press or release, or a character.
  struct Typed {
    int key, scancode, action, mods;
    unsigned int character;
  };
  void take_typed();
  /// True if ImGui should receive it.
  bool press(const Typed& typed);
  std::unique_ptr<Loader> new_loader(const std::filesystem::path& trace) const;
  void take_model();
  /// The trace is too large for a page.
  void stay_with_overview();
  /// Another trace cannot be opened, or the details of this one.
  void keep_trace(const std::string& why);
  void take_job(std::shared_ptr<const JobModel> job);
  void take_compared();
  /// Reloads a trace that is being recorded if it has grown.
  void follow();
  /// Shows what a run has grown by.
  void follow_run();
  void keep_recent_trace() const;
  void write_state();
  /// The longest time until the next frame while nothing is put in; none: only then.
  std::optional<double> pause_s() const;
#ifdef __EMSCRIPTEN__
  /// True if there is something to draw.
  bool is_due();
#else
  /// Sleeps until there is something to draw.
  void wait();
#endif
  void draw_frame();

  Arguments arguments_;
  GLFWwindow* window_ = nullptr;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<Canvas> canvas_;
  std::unique_ptr<Loader> loader_, compared_loader_;
  std::unique_ptr<RunFollower> follower_;  // of the open run while it grows
  std::string follower_error_;             // shown as notice
  bool is_reloading_ = false;              // the loader reads a trace again that is shown
  std::filesystem::path trace_;            // shown or being loaded
  FileState read_state_;                   // of the trace when it was read last
  bool is_live_ = false;
  std::string title_;
  std::string written_state_;
  int frames_ = kSettleFrames;  // frames left to draw before waiting for the next event
  double drawn_at_ = 0;         // when the last one was
#ifdef __EMSCRIPTEN__
  float display_scale_ = display_scale(window_);  // that the workspace follows
  bool is_drawn_ = false;                         // since the state was written
  bool worked_ = false;  // something was loaded or computed when the last frame was due
#endif
  std::deque<Typed> typed_;  // not yet handled
};

Window::Window(const Arguments& arguments) : arguments_(arguments) {
  if (glfwInit() == 0) {
    throw Error("display", "cannot be opened (" + last_error() + ")",
                "set DISPLAY, or draw a picture with --screenshot PNG, which needs none");
  }
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  window_ = glfwCreateWindow(arguments.width, arguments.height, "StreamScope", nullptr, nullptr);
  if (window_ == nullptr) {
    const std::string reason = last_error();
    glfwTerminate();
    throw Error("window", "cannot be opened (" + reason + ")",
                "OpenGL 3.3 is needed; --screenshot PNG draws without a window");
  }
  glfwMakeContextCurrent(window_);
  glfwSwapInterval(1);
  glfwSetWindowUserPointer(window_, this);
  set_up_imgui();
  if (!arguments_.scale) {
    arguments_.scale = display_scale(window_);
  }
  workspace_ = std::make_unique<Workspace>(arguments_);
  canvas_ = std::make_unique<Canvas>();
  // First our handlers, then ImGui's, which call them.
  // Input that arrives while the picture settles needs its own frames: a press and its release that
  // arrive together are two.
  constexpr auto kDraw = [](GLFWwindow* window, auto...) { self(window).frames_ = kSettleFrames; };
  glfwSetMouseButtonCallback(window_, kDraw);
  glfwSetCursorPosCallback(window_, kDraw);
  glfwSetScrollCallback(window_, kDraw);
  glfwSetFramebufferSizeCallback(window_, kDraw);
  glfwSetDropCallback(window_, [](GLFWwindow* window, int count, const char** paths) {
    if (count > 0) self(window).drop(std::span(paths, static_cast<size_t>(count)));
  });
  ImGui_ImplGlfw_InitForOpenGL(window_, true);
  // Replaces ImGui's handler, which receives what the workspace does not use.
  glfwSetKeyCallback(window_, [](GLFWwindow* window, int key, int scancode, int action, int mods) {
    self(window).typed_.push_back({key, scancode, action, mods, 0});
    self(window).frames_ = kSettleFrames;
  });
  glfwSetCharCallback(window_, [](GLFWwindow* window, unsigned int character) {
    self(window).typed_.push_back({0, 0, GLFW_RELEASE, 0, character});
    self(window).frames_ = kSettleFrames;
  });
  ImGui_ImplOpenGL3_Init(kGlsl);
#ifdef __EMSCRIPTEN__
  page::connect_clipboard();
  page::on_open([this](const std::string& file) {
    const std::array files = {file.c_str()};
    drop(files);
  });
#endif
  workspace_->set_recent(read_recent_traces(recent_traces_file()));
  if (!arguments_.trace.empty()) open(arguments_.trace);
  if (!arguments_.compared.empty()) compare_with(arguments_.compared);
}

Window::~Window() {
  keep_recent_trace();
  loader_.reset();
  compared_loader_.reset();
  follower_.reset();
  workspace_.reset();
  canvas_.reset();
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(window_);
  glfwTerminate();
}

void Window::open(const std::filesystem::path& trace, std::optional<TimeRange> shown) {
  if (trace != trace_) {
    keep_recent_trace();
    const std::filesystem::path absolute = std::filesystem::absolute(trace);
    for (const RecentTrace& each : read_recent_traces(recent_traces_file())) {
      if (each.trace == absolute) workspace_->restore(each);
    }
    if (shown)
      workspace_->restore({absolute, *shown, std::string(workspace_->state().look.drawer)});
    workspace_->set_notice("");
    workspace_->set_recent(read_recent_traces(recent_traces_file()));
  }
  trace_ = trace;
  is_reloading_ = false;
  workspace_->set_reading(trace);
  read_state_ = state_of(trace);
  loader_ = new_loader(trace);
}

std::unique_ptr<Loader> Window::new_loader(const std::filesystem::path& trace) const {
  Arrival arrival;
#ifdef __EMSCRIPTEN__
  arrival = [trace] { return page::arrived(trace); };
#endif
  return std::make_unique<Loader>(trace, arguments_.width, wake, std::move(arrival));
}

bool Window::press(const Typed& typed) {
  const Key name = key_name(typed.key, typed.mods);
  return name.empty() || !workspace_->press(name);
}

// Input between two frames can be more than ImGui handles at once: it polls which keys are down,
// and a focus that moves arrives a frame later. So a frame takes releases, then one press and its
// text. The rest waits for the next frame.
void Window::take_typed() {
  bool pressed = false;
  std::vector<int> released;  // otherwise ImGui would miss that they were pressed again
  while (!typed_.empty() && !workspace_->state().focus.stops.is_moving()) {
    Typed next = typed_.front();
    // In ImGui, Space presses and Enter edits.
    const bool enter = next.key == GLFW_KEY_ENTER || next.key == GLFW_KEY_KP_ENTER;
    if (next.character != 0) {
      workspace_->type(next.character);
      ImGui_ImplGlfw_CharCallback(window_, next.character);
    } else if (next.action == GLFW_RELEASE) {
      if (pressed) break;  // also of Ctrl: the key was pressed with it
      released.push_back(next.key);
      ImGui_ImplGlfw_KeyCallback(window_, next.key, next.scancode, next.action, next.mods);
      if (enter)
        ImGui_ImplGlfw_KeyCallback(window_, GLFW_KEY_SPACE, next.scancode, next.action, next.mods);
    } else if (pressed || std::ranges::count(released, next.key) > 0) {
      break;
    } else if (press(next)) {
      pressed = true;
      if (enter && !ImGui::GetIO().WantTextInput) next.key = GLFW_KEY_SPACE;
      ImGui_ImplGlfw_KeyCallback(window_, next.key, next.scancode, next.action, next.mods);
    }
    typed_.pop_front();
  }
  if (!typed_.empty()) frames_ = kSettleFrames;
}

void Window::show_title() {
  const std::filesystem::path& shown =
      workspace_->shows_job() ? workspace_->state().job.model->folder() : trace_;
  std::string title = shown.filename().string() + " \u2013 StreamScope";
  if (title == title_) return;
  title_ = std::move(title);
  glfwSetWindowTitle(window_, title_.c_str());
}

void Window::compare_with(const std::filesystem::path& trace) {
  workspace_->state().look.drawer = "compare";
  compared_loader_ = new_loader(trace);
}

void Window::drop(std::span<const char* const> files) {
  compared_loader_.reset();
  workspace_->set_compared(nullptr);
  open(files[0]);
  if (files.size() > 1) compare_with(files[1]);
  if (files.size() > 2)
    workspace_->set_notice("Only two traces can be compared: opened the first two of " +
                           std::to_string(files.size()) + ".");
}

void Window::keep_recent_trace() const {
  const RecentTrace recent = workspace_->recent();
  if (!recent.trace.empty()) viewer::keep_recent_trace(recent_traces_file(), recent);
}

void Window::follow() {
  if (!is_live_ || loader_ || workspace_->shows_job()) return;
  if (state_of(trace_) == read_state_) return;
  open(trace_);
  is_reloading_ = true;
}

void Window::follow_run() {
  if (!follower_) return;
  const JobState& run = workspace_->state().job;
  if (!run.model || run.model->folder() != follower_->folder()) return follower_.reset();
  // What is dragged or pressed must not change meanwhile.
  if (ImGui::IsAnyMouseDown()) return;
  const bool is_done = follower_->is_done();
  if (auto model = follower_->take()) workspace_->update_job(std::move(model));
  if (std::string error = follower_->error(); error != follower_error_) {
    workspace_->set_notice(error);
    follower_error_ = std::move(error);
  }
  if (is_done) follower_.reset();
}

void Window::take_compared() {
  if (!compared_loader_) return;
  compared_loader_->step();
  const std::string error = compared_loader_->error();
  auto model = compared_loader_->model();
  if (!error.empty()) {
    workspace_->set_notice(error);
  } else if (compared_loader_->is_only_sketched()) {
    workspace_->set_notice("The second trace is too large for a page, so it is not compared.");
  } else if (model && !model->is_sketch()) {
    forget_file(*model);
    workspace_->set_compared(std::move(model));
  } else {
    return;
  }
  compared_loader_.reset();
}

void Window::take_model() {
  if (!loader_) return;
  loader_->step();
  const bool is_too_large = loader_->is_only_sketched();
  workspace_->set_progress(loader_->progress());
  const std::string error = loader_->error();
  auto model = loader_->model();
  auto job = loader_->job();
  if (!error.empty() || is_too_large || job || (model && !model->is_sketch())) loader_.reset();
  if (is_too_large && model) stay_with_overview();
  if (job) return take_job(std::move(job));
  if (is_reloading_ && workspace_->shows_job()) return;  // the user went back to the ranks
  if (!error.empty() && workspace_->shows_job()) return workspace_->set_notice(error);
  if (!error.empty() && workspace_->model() == nullptr) return workspace_->set_error(error);
  if (!error.empty()) return keep_trace(error);
  if (!model || model.get() == workspace_->model()) return;
  if (!model->is_sketch()) forget_file(*model);
  is_live_ = is_unfinished(*model) && is_written(read_state_);
  workspace_->set_live(is_live_);
  try {
    workspace_->set_model(std::move(model));
  } catch (const Error& refused) {
    workspace_->set_notice(refused.what());
  }
}

void Window::stay_with_overview() {
  workspace_->set_progress(std::nullopt);
  workspace_->set_notice(
      trace_.filename().string() +
      " is too large for a page, so only its overview is shown. A page with a part of it: "
      "streamscope report TRACE --format app --range FROM:TO -o part.html");
}

void Window::keep_trace(const std::string& why) {
  const bool is_other = trace_ != workspace_->model()->trace().file;
  workspace_->set_notice(why);
  trace_ = workspace_->model()->trace().file;
  read_state_ = state_of(trace_);
  if (!workspace_->model()->is_sketch()) return;
  if (is_other)
    open(trace_);  // its details were being loaded
  else
    workspace_->set_progress(std::nullopt);
}

void Window::take_job(std::shared_ptr<const JobModel> job) {
  is_live_ = false;
  follower_.reset();
  follower_error_.clear();
  if (job->progress().is_running) follower_ = std::make_unique<RunFollower>(*job, wake);
  try {
    workspace_->set_job(std::move(job));
  } catch (const Error& refused) {
    workspace_->set_notice(refused.what());
  }
}

void Window::write_state() {
#ifdef __EMSCRIPTEN__
  page::show_state(workspace_->state_json());
#else
  if (arguments_.state_file.empty()) return;
  std::string state = workspace_->state_json();
  if (state == written_state_) return;
  const std::filesystem::path temporary = arguments_.state_file.string() + ".new";
  std::ofstream(temporary) << state;
  std::filesystem::rename(temporary, arguments_.state_file);
  written_state_ = std::move(state);
#endif
}

std::optional<double> Window::pause_s() const {
  if (workspace_->state().drawn.busy) return kBusyPauseS;
  if (is_live_ || follower_) return kLivePauseS;
  return std::nullopt;
}

#ifdef __EMSCRIPTEN__
bool Window::is_due() {
  const std::optional<double> pause = pause_s();
  const bool works = loader_ || compared_loader_ || pause;
  const bool is_done = std::exchange(worked_, works) && !works;  // and is to be shown
  if (is_done || page::has_scroll() || display_scale(window_) != display_scale_)
    frames_ = kSettleFrames;
  if (page::was_woken()) frames_ = std::max(frames_, kHasThreads ? 1 : 0);
  if (frames_ > 0) {
    --frames_;
    return true;
  }
  if (std::exchange(is_drawn_, false)) write_state();  // once the picture has settled
  const bool loads_between_frames = !kHasThreads && (loader_ || compared_loader_);
  return loads_between_frames || (pause && glfwGetTime() - drawn_at_ >= *pause);
}
#else
void Window::wait() {
  if (frames_ > 0) {
    --frames_;
    return glfwPollEvents();
  }
  write_state();  // once the picture has settled
  if (const std::optional<double> pause = pause_s()) {
    glfwWaitEventsTimeout(*pause);
  } else {
    glfwWaitEvents();
  }
  frames_ = kSettleFrames - 1;
}
#endif

void Window::draw_frame() {
  drawn_at_ = glfwGetTime();
#ifdef __EMSCRIPTEN__
  is_drawn_ = true;
  if (const float scale = display_scale(window_); scale != display_scale_) {
    workspace_->state().look.scale *= scale / std::exchange(display_scale_, scale);
  }
#endif
  take_typed();
  follow();
  follow_run();
  if (std::filesystem::path asked = std::exchange(workspace_->state().wanted.open, {});
      !asked.empty())
    open(asked, std::exchange(workspace_->state().wanted.shown, {}));
  if (std::filesystem::path asked = std::exchange(workspace_->state().wanted.compare_with, {});
      !asked.empty())
    compare_with(asked);
  take_model();
  take_compared();
  show_title();
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  if (width == 0 || height == 0) return;  // minimized
  if (!canvas_->draw(*workspace_, width, height, [] {
        ImGui_ImplGlfw_NewFrame();
#ifdef __EMSCRIPTEN__
        page::take_scroll();
#endif
      })) {
    throw Error("window", "GL cannot create a frame buffer of its size", "make the window smaller");
  }
  canvas_->present();
  glfwSwapBuffers(window_);
}

void Window::run() {
#ifdef __EMSCRIPTEN__
  page::run([this] {
    const bool is_due = this->is_due();
    if (is_due) draw_frame();
    return is_due;
  });
#else
  while (glfwWindowShouldClose(window_) == 0 && !workspace_->state().wanted.quit) {
    wait();
    draw_frame();
  }
#endif
}

}  // namespace

void run_window(const Arguments& arguments) {
#ifdef __EMSCRIPTEN__
  static Window window(arguments);  // drawn after main() has returned
  window.run();
#else
  Window(arguments).run();
#endif
}

}  // namespace streamscope::viewer
