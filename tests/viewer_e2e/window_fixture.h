// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The real program in a window under Xvfb, with a mouse and keys from xdotool; what it shows is
// read from its state (--state).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "support/mistakes.h"
#include "viewer_e2e/process.h"
#include "viewer_e2e/sample_traces.h"

namespace streamscope::test {

inline const std::string kViewer = STREAMSCOPE_VIEWER_PROGRAM;

inline std::string slurp(const std::filesystem::path& file) {
  std::ifstream in(file);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// For a sanitized program that draws: see sanitizer_options.cpp.
inline const std::string kWithoutLeaks = "ASAN_OPTIONS=detect_leaks=0";

// Text as JSON writes it.
inline std::string quoted(const std::string& text) { return '"' + text + '"'; }

class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::path(::testing::TempDir()) / "viewer_e2e_XXXXXX";
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// One X server for all tests of the window.
class Window : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!is_installed("Xvfb") || !is_installed("xdotool")) return;
    int ends[2];
    if (pipe(ends) != 0) return;
    server_ = std::make_unique<Process>(
        std::vector<std::string>{"Xvfb", "-displayfd", std::to_string(ends[1]), "-screen", "0",
                                 "1400x900x24", "-nolisten", "tcp", "-noreset"},
        std::vector<std::string>{}, "/dev/null", ends[1]);
    close(ends[1]);
    char number[16] = {};
    if (read(ends[0], number, sizeof number - 1) > 0)
      display_ = ":" + std::to_string(std::atoi(number));
    close(ends[0]);
  }
  static void TearDownTestSuite() {
    server_.reset();
    display_.clear();
  }

  void SetUp() override {
    if (display_.empty()) GTEST_SKIP() << "Xvfb or xdotool is not installed";
  }

  void open(const std::string& trace, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{kViewer,   trace, "--size",  "1200x800",
                                   "--scale", "1",   "--state", state_file()};
    words.insert(words.end(), more.begin(), more.end());
    program_ =
        std::make_unique<Process>(words,
                                  std::vector<std::string>{"DISPLAY=" + display_, "WAYLAND_DISPLAY",
                                                           "LIBGL_ALWAYS_SOFTWARE=1", kWithoutLeaks,
                                                           "XDG_STATE_HOME=" + (folder_ / "home")},
                                  folder_ / "err");
  }
  void open_pipeline() {
    pipeline_trace(6).write(folder_ / "pipeline.sqlite");
    open(folder_ / "pipeline.sqlite", {"--range", "0%:100%"});
    ASSERT_TRUE(eventually([&] { return text("loaded") == "true" && number("width_px") > 100; }))
        << slurp(folder_ / "err");
  }

  // A trace with iterations.
  void open_steps() {
    host_bound_trace(20).write(folder_ / "steps.sqlite");
    open(folder_ / "steps.sqlite");
    ASSERT_TRUE(eventually([&] { return number("iteration") > 0; })) << slurp(folder_ / "err");
  }

  std::string state_file() const { return folder_ / "state"; }

  // Value of a key, as in the JSON.
  std::string text(const std::string& key) const {
    const std::string state = slurp(state_file());
    const size_t at = state.find("\"" + key + "\":");
    if (at == std::string::npos) return "";
    const size_t from = at + key.size() + 3;
    return state.substr(from, state.find_first_of(",}", from) - from);
  }
  double number(const std::string& key) const { return std::atof(text(key).c_str()); }

  template <class Condition>
  static bool eventually(Condition condition) {
    for (int i = 0; i < 2400; ++i) {  // a minute: generous, for machines under load
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    return false;
  }

  ::testing::AssertionResult becomes(const std::string& key, const std::string& value) const {
    if (eventually([&] { return text(key) == value; })) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << key << " does not become " << value << ": "
                                         << slurp(state_file()) << slurp(folder_ / "err");
  }
  ::testing::AssertionResult becomes(const std::string& key, int value) const {
    return becomes(key, std::to_string(value));
  }

  void input(std::vector<std::string> words) const {
    words.insert(words.begin(), "xdotool");
    EXPECT_EQ(run(words, {"DISPLAY=" + display_}), 0);
  }
  void move(int x, int y) const { input({"mousemove", std::to_string(x), std::to_string(y)}); }
  // Dear ImGui before 1.87 reads the mouse position once per frame, so a press needs its own frame.
  void press() const {
    input({"mousedown", "1"});
    ASSERT_TRUE(becomes("pressed", "true"));
  }
  void key(const std::string& name) const { input({"key", name}); }

  // Screen position of an instant, in the middle of the lane of "copies".
  static constexpr int kGutter = 236, kCopiesY = 212, kEmptyY = 153, kBusyY = 491;
  // By which lanes are higher in a trace without iterations.
  static constexpr int kIterations = 20;
  int x_of(double ns) const {
    return kGutter + static_cast<int>(std::lround((ns - number("begin_ns")) / number("ns_per_px")));
  }

  static inline std::unique_ptr<Process> server_;
  static inline std::string display_;
  Folder folder_;
  std::unique_ptr<Process> program_;
};

}  // namespace streamscope::test
