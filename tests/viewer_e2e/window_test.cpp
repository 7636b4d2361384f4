// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The real program: its exit codes and messages, and its window under Xvfb with a mouse and keys
// from xdotool.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "support/mistakes.h"
#include "trace/writer.h"
#include "viewer_e2e/process.h"
#include "viewer_e2e/sample_traces.h"

namespace streamscope::test {
namespace {

using ::testing::HasSubstr;
using trace::Ns;

const std::string kViewer = STREAMSCOPE_VIEWER_PROGRAM;

std::string slurp(const std::filesystem::path& file) {
  std::ifstream in(file);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

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

std::vector<std::string> without_display() { return {"DISPLAY", "WAYLAND_DISPLAY"}; }

TEST(Program, RefusesWrongUseInOneLineWithCode2) {
  const Folder folder;
  const std::string err = folder / "err";
  EXPECT_EQ(run({kViewer, "--size", "tiny"}, {}, err), 2);
  const std::string text = slurp(err);
  EXPECT_THAT(text, HasSubstr("WIDTHxHEIGHT"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(Program, RefusesAnUnusableTraceInScreenshotMode) {
  const Folder folder;
  std::ofstream(folder / "foreign.sqlite") << "this is no database";
  for (const std::string& name : {folder / "absent.sqlite", folder / "foreign.sqlite"}) {
    const std::string err = folder / "err";
    EXPECT_EQ(run({kViewer, name, "--screenshot", folder / "out.png"}, without_display(), err), 2);
    const std::string text = slurp(err);
    EXPECT_THAT(text, HasSubstr(std::filesystem::path(name).filename().string()));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    EXPECT_FALSE(std::filesystem::exists(folder / "out.png"));
  }
}

TEST(Program, NamesTheRemedyWithoutADisplay) {
  const Folder folder;
  pipeline_trace(1).write(folder / "t.sqlite");
  EXPECT_EQ(run({kViewer, folder / "t.sqlite"}, without_display(), folder / "err"), 2);
  EXPECT_THAT(slurp(folder / "err"), HasSubstr("--screenshot"));
}

TEST(Program, DrawsAPictureWithoutADisplay) {
  const Folder folder;
  pipeline_trace(3).write(folder / "t.sqlite");
  const int code = run({kViewer, folder / "t.sqlite", "--screenshot", folder / "t.png", "--size",
                        "800x600", "--range", "10%:60%", "--state", folder / "state"},
                       without_display(), folder / "err");
  if (slurp(folder / "err").find("EGL") != std::string::npos) GTEST_SKIP() << slurp(folder / "err");
  EXPECT_EQ(code, 0) << slurp(folder / "err");
  EXPECT_GT(std::filesystem::file_size(folder / "t.png"), 10'000u);
  EXPECT_THAT(slurp(folder / "state"), HasSubstr("\"selection\":\"op:"));
  EXPECT_EQ(
      run({kViewer, folder / "t.sqlite", "--screenshot", folder / "u.png", "--select", "op:99999"},
          without_display(), folder / "err"),
      2);
  EXPECT_THAT(slurp(folder / "err"), HasSubstr("op:99999"));
}

// One X server for all tests of the window.
class Window : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!is_installed("Xvfb") || !is_installed("xdotool")) return;
    int ends[2];
    if (pipe(ends) != 0) return;
    server_ = std::make_unique<Process>(
        std::vector<std::string>{"Xvfb", "-displayfd", std::to_string(ends[1]), "-screen", "0",
                                 "1400x900x24", "-nolisten", "tcp"},
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
    program_ = std::make_unique<Process>(
        words,
        std::vector<std::string>{"DISPLAY=" + display_, "WAYLAND_DISPLAY",
                                 "LIBGL_ALWAYS_SOFTWARE=1", "XDG_STATE_HOME=" + (folder_ / "home")},
        folder_ / "err");
  }
  void open_pipeline() {
    pipeline_trace(6).write(folder_ / "pipeline.sqlite");
    open(folder_ / "pipeline.sqlite");
    ASSERT_TRUE(eventually([&] { return text("loaded") == "true" && number("width_px") > 100; }))
        << slurp(folder_ / "err");
  }

  std::string state_file() const { return folder_ / "state"; }

  // Value of a key, as it stands in the JSON.
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

  void input(std::vector<std::string> words) const {
    words.insert(words.begin(), "xdotool");
    EXPECT_EQ(run(words, {"DISPLAY=" + display_}), 0);
  }
  void move(int x, int y) const { input({"mousemove", std::to_string(x), std::to_string(y)}); }
  // Dear ImGui before 1.87 knows where the mouse is once per frame, so a press needs a frame of its
  // own.
  void press() const {
    input({"mousedown", "1"});
    ASSERT_TRUE(eventually([&] { return text("pressed") == "true"; })) << slurp(state_file());
  }
  void key(const std::string& name) const { input({"key", name}); }

  // Screen position of an instant, in the middle of the lane of "copies".
  static constexpr int kGutter = 236, kCopiesY = 192, kEmptyY = 133;
  int x_of(double ns) const {
    return kGutter + static_cast<int>(std::lround((ns - number("begin_ns")) / number("ns_per_px")));
  }

  static std::unique_ptr<Process> server_;
  static std::string display_;
  Folder folder_;
  std::unique_ptr<Process> program_;
};

std::unique_ptr<Process> Window::server_;
std::string Window::display_;

TEST_F(Window, ClickSelectsWhatIsUnderTheMouse) {
  open_pipeline();
  move(x_of(100'000), kCopiesY);
  ASSERT_TRUE(eventually([&] { return text("hovered") == "\"op:0\""; })) << slurp(state_file());
  input({"click", "1"});
  EXPECT_TRUE(eventually([&] { return text("selection") == "\"op:0\""; })) << slurp(state_file());
  move(x_of(100'000), kEmptyY);
  input({"click", "1"});
  EXPECT_TRUE(eventually([&] { return text("selection") == "null"; })) << slurp(state_file());
}

TEST_F(Window, DragPansByExactlyThePixelsOfTheMouse) {
  open_pipeline();
  const double begin = number("begin_ns"), scale = number("ns_per_px");
  move(500, kEmptyY);
  press();
  move(600, kEmptyY);
  move(700, kEmptyY);
  input({"mouseup", "1"});
  EXPECT_TRUE(eventually([&] {
    return std::fabs(number("begin_ns") - (begin - 200 * scale)) <= 1;
  })) << slurp(state_file());
  EXPECT_EQ(number("ns_per_px"), scale);
}

TEST_F(Window, WheelZoomsWhereTheMouseIs) {
  open_pipeline();
  const double scale = number("ns_per_px"), under = number("begin_ns") + (600 - kGutter) * scale;
  move(600, kEmptyY);
  input({"click", "4"});
  input({"click", "4"});
  EXPECT_TRUE(eventually([&] {
    return std::fabs(number("ns_per_px") * 1.25 * 1.25 / scale - 1) < 1e-9;
  })) << slurp(state_file());
  EXPECT_NEAR(number("begin_ns") + (600 - kGutter) * number("ns_per_px"), under, 2);
}

TEST_F(Window, ShiftDragMarksARange) {
  open_pipeline();
  const double from = number("begin_ns") + (500 - kGutter) * number("ns_per_px");
  move(500, kEmptyY);
  input({"keydown", "shift"});
  press();
  move(640, kEmptyY);
  input({"mouseup", "1"});
  input({"keyup", "shift"});
  EXPECT_TRUE(eventually([&] { return text("marked") != "null" && !text("marked").empty(); }))
      << slurp(state_file());
  EXPECT_NEAR(std::atof(text("marked").c_str() + 1), from, 2);
}

TEST_F(Window, KeysFollowTheEdgesOfTheSelection) {
  open_pipeline();
  key("l");
  ASSERT_TRUE(eventually([&] { return text("selection").find("op:") != std::string::npos; }));
  const std::string waiter = text("selection");
  key("bracketleft");
  EXPECT_TRUE(eventually([&] { return text("selection") != waiter; }));
  key("bracketright");
  EXPECT_TRUE(eventually([&] { return text("selection") == waiter; })) << slurp(state_file());
  key("Escape");
  EXPECT_TRUE(eventually([&] { return text("selection") == "null"; }));
}

TEST_F(Window, PaletteRunsACommandByItsName) {
  open_pipeline();
  key("ctrl+p");
  ASSERT_TRUE(eventually([&] { return text("overlay") == "\"palette\""; }));
  input({"type", "--delay", "40", "theme"});
  key("Return");
  EXPECT_TRUE(eventually([&] { return text("theme") == "\"light\"" && text("overlay") == "\"\""; }))
      << slurp(state_file());
  key("question");
  EXPECT_TRUE(eventually([&] { return text("overlay") == "\"help\""; }));
  key("F1");
  EXPECT_TRUE(eventually([&] { return text("overlay") == "\"\""; }));
}

TEST_F(Window, DigitsOpenAndClosePanels) {
  open_pipeline();
  const std::pair<const char*, const char*> panels[] = {
      {"1", "findings"},   {"2", "graph"}, {"3", "pools"},  {"4", "deadlocks"},
      {"5", "statistics"}, {"6", "sql"},   {"7", "compare"}};
  for (const auto& [digit, panel] : panels) {
    key(digit);
    EXPECT_TRUE(eventually([&] { return text("drawer") == "\"" + std::string(panel) + "\""; }))
        << panel << slurp(state_file());
  }
  key("7");
  EXPECT_TRUE(eventually([&] { return text("drawer") == "\"\""; })) << slurp(state_file());
}

TEST_F(Window, AClickOnATabOpensItsPanel) {
  open_pipeline();
  move(40, 800 - 30 - 16);  // the first tab, in the strip over the legend
  input({"click", "1"});
  EXPECT_TRUE(eventually([&] { return text("drawer") == "\"findings\""; })) << slurp(state_file());
}

TEST_F(Window, SearchFindsNamesAndGoesFromHitToHit) {
  open_pipeline();
  key("ctrl+f");
  ASSERT_TRUE(eventually([&] { return text("overlay") == "\"search\""; }));
  input({"type", "--delay", "40", "GEMM"});
  ASSERT_TRUE(eventually([&] { return number("hits") == 6; })) << slurp(state_file());
  key("Return");
  ASSERT_TRUE(eventually([&] { return text("selection").find("op:") != std::string::npos; }));
  const std::string first = text("selection");
  key("F3");
  EXPECT_TRUE(eventually([&] { return text("selection") != first; })) << slurp(state_file());
  key("shift+F3");
  EXPECT_TRUE(eventually([&] { return text("selection") == first; })) << slurp(state_file());
  key("Escape");
  EXPECT_TRUE(eventually([&] { return number("hits") == 0; })) << slurp(state_file());
}

TEST_F(Window, FiltersLanesByName) {
  open_pipeline();
  const double all = number("lanes");
  key("shift+f");
  ASSERT_TRUE(eventually([&] { return text("overlay") == "\"filter\""; }));
  input({"type", "--delay", "40", "RESULTS"});
  ASSERT_TRUE(eventually([&] { return number("lanes") == 3; })) << slurp(state_file());
  key("Return");
  ASSERT_TRUE(eventually([&] { return text("overlay") == "\"\""; }));
  EXPECT_EQ(number("lanes"), 3);
  key("shift+f");
  ASSERT_TRUE(eventually([&] { return text("overlay") == "\"filter\""; }));
  key("Escape");
  EXPECT_TRUE(eventually([&] { return number("lanes") == all; })) << slurp(state_file());
}

TEST_F(Window, ColorsByEverythingInTurn) {
  open_pipeline();
  for (const char* by : {"name", "stream", "cause of a late start", "critical path", "kind"}) {
    key("k");
    EXPECT_TRUE(eventually([&] { return text("color_by") == "\"" + std::string(by) + "\""; }))
        << slurp(state_file());
  }
}

TEST_F(Window, DragsALaneToAnotherPlace) {
  open_pipeline();
  key("l");  // the longest wait, on another stream than the first
  ASSERT_TRUE(eventually([&] { return text("selection").find("op:") != std::string::npos; }));
  const std::string before = text("order");
  move(60, kCopiesY);
  press();
  move(60, kCopiesY + 30);
  move(60, kCopiesY + 60);
  input({"mouseup", "1"});
  EXPECT_TRUE(eventually([&] { return text("order") != before; })) << slurp(state_file());
}

TEST_F(Window, PinsTheLaneOfTheSelection) {
  open_pipeline();
  key("l");
  ASSERT_TRUE(eventually([&] { return text("selection").find("op:") != std::string::npos; }));
  key("shift+p");
  EXPECT_TRUE(eventually([&] { return number("pinned") == 1; })) << slurp(state_file());
  key("shift+p");
  EXPECT_TRUE(eventually([&] { return number("pinned") == 0; })) << slurp(state_file());
}

TEST_F(Window, KeepsBookmarksBesideTheTrace) {
  open_pipeline();
  key("l");
  ASSERT_TRUE(eventually([&] { return text("selection").find("op:") != std::string::npos; }));
  const std::string begin = text("begin_ns");
  key("ctrl+b");
  ASSERT_TRUE(eventually([&] { return text("overlay") == "\"note\""; }));
  input({"type", "--delay", "40", "it stalls"});
  key("Return");
  ASSERT_TRUE(eventually([&] { return number("bookmarks") == 1; })) << slurp(state_file());
  EXPECT_THAT(slurp(folder_ / "pipeline.sqlite.bookmarks"), HasSubstr("it stalls"));
  key("f");
  ASSERT_TRUE(eventually([&] { return text("begin_ns") != begin; }));
  key("shift+b");
  ASSERT_TRUE(eventually([&] { return text("overlay") == "\"bookmarks\""; }));
  key("Return");
  EXPECT_TRUE(eventually([&] { return std::fabs(number("begin_ns") - std::stod(begin)) <= 2; }))
      << slurp(state_file());
}

TEST_F(Window, GoesFromFindingToFinding) {
  TraceBuilder builder = pipeline_trace(6);
  builder.stream("math").wait("never recorded").kernel("late", 4'000'000, 4'100'000);
  builder.write(folder_ / "faulty.sqlite");
  open(folder_ / "faulty.sqlite");
  ASSERT_TRUE(eventually([&] { return text("loaded") == "true"; }));
  key("e");
  EXPECT_TRUE(eventually([&] {
    return text("finding") == "0" && text("drawer") == "\"findings\"";
  })) << slurp(state_file());
  key("shift+e");
  EXPECT_TRUE(eventually([&] { return text("finding") != "null"; })) << slurp(state_file());
}

TEST_F(Window, PredictsTheRunWithAFindingRepaired) {
  needless_sync_trace(6).write(folder_ / "waits.sqlite");
  open(folder_ / "waits.sqlite");
  ASSERT_TRUE(eventually([&] { return text("loaded") == "true"; }));
  key("e");
  ASSERT_TRUE(eventually([&] { return text("finding") == "0"; })) << slurp(state_file());
  key("x");
  EXPECT_TRUE(eventually([&] { return number("predicted_gain_ns") > 1'000'000; }))
      << slurp(state_file());
  key("x");
  EXPECT_TRUE(eventually([&] { return text("predicted_gain_ns") == "null"; }))
      << slurp(state_file());
}

TEST_F(Window, OpensATraceWhereItWasLeft) {
  open_pipeline();
  move(600, kEmptyY);
  input({"click", "4"});
  input({"click", "4"});
  key("2");
  ASSERT_TRUE(eventually([&] { return text("drawer") == "\"graph\""; }));
  const double begin = number("begin_ns");
  key("ctrl+q");
  ASSERT_TRUE(eventually([&] { return !program_->is_running(); }));
  std::filesystem::remove(state_file());
  open(folder_ / "pipeline.sqlite");
  EXPECT_TRUE(eventually([&] {
    return text("drawer") == "\"graph\"" && std::fabs(number("begin_ns") - begin) <= 2;
  })) << slurp(state_file());
}

TEST_F(Window, FollowsATraceThatIsBeingRecorded) {
  trace::Writer writer = trace::Writer::create(folder_ / "live.sqlite");
  writer.append(trace::Process{.os_pid = 1});
  writer.append(trace::Device{.ordinal = 0});
  writer.append(trace::Context{.process_id = 0, .device_id = 0});
  writer.append(trace::Stream{.context_id = 0, .kind = trace::kNonBlockingStream});
  Ns at = 0;
  const auto work = [&](int ops) {
    for (int i = 0; i < ops; ++i, at += 1000)
      writer.append(
          trace::Op{.kind = trace::kKernel, .stream_id = 0, .start_ns = at, .end_ns = at + 900});
    writer.flush();
  };
  work(10);
  open(folder_ / "live.sqlite");
  ASSERT_TRUE(eventually([&] { return number("operations") == 10 && text("live") == "true"; }))
      << slurp(state_file()) << slurp(folder_ / "err");
  work(15);
  EXPECT_TRUE(eventually([&] { return number("operations") == 25; })) << slurp(state_file());
  writer.finish(true);
  EXPECT_TRUE(eventually([&] { return text("live") == "false"; })) << slurp(state_file());
  EXPECT_EQ(number("operations"), 25);
}

TEST_F(Window, ComparesWithASecondTrace) {
  pipeline_trace(8).write(folder_ / "other.sqlite");
  pipeline_trace(6).write(folder_ / "pipeline.sqlite");
  open(folder_ / "pipeline.sqlite", {folder_ / "other.sqlite"});
  EXPECT_TRUE(eventually([&] {
    return text("loaded") == "true" && text("compared") == "true" &&
           text("drawer") == "\"compare\"";
  })) << slurp(state_file())
      << slurp(folder_ / "err");
}

TEST_F(Window, QuitsOnItsKeyWithCode0) {
  open_pipeline();
  key("ctrl+q");
  ASSERT_TRUE(eventually([&] { return !program_->is_running(); }));
  EXPECT_EQ(program_->wait(), 0);
}

TEST_F(Window, ShowsTheReadersMessageForAnUnusableTrace) {
  std::ofstream(folder_ / "foreign.sqlite") << "this is no database";
  open(folder_ / "foreign.sqlite");
  EXPECT_TRUE(eventually([&] { return text("error").find("foreign.sqlite") != std::string::npos; }))
      << slurp(state_file());
  EXPECT_TRUE(program_->is_running());
}

TEST_F(Window, RestsWhenNothingHappens) {
  open_pipeline();
  const auto changed = [&] { return std::filesystem::last_write_time(state_file()); };
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const auto before = changed();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(changed(), before);
}

}  // namespace
}  // namespace streamscope::test
