// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Call stacks of Python programs, with real interpreters: python3, and those that
// STREAMSCOPE_TEST_PYTHONS also names (separated by colons).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <list>
#include <sstream>

#include "observed.h"

namespace streamscope::collect {
namespace {

using ring::RecordKind;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::vector<std::string> interpreters() {
  std::string names = "python3";
  if (const char* more = std::getenv("STREAMSCOPE_TEST_PYTHONS")) names += std::string(":") + more;
  std::vector<std::string> found;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ':');) {
    // An entry on the path may be a script that searches for the interpreter.
    FILE* pipe =
        popen((name + " -c 'import sys, ctypes; print(sys.executable)' 2>&-").c_str(), "r");
    char path[4096] = {};
    if (fgets(path, sizeof path, pipe) != nullptr)
      found.emplace_back(path, std::strcspn(path, "\n"));
    pclose(pipe);
  }
  return found;
}

/// The frames of each blocking call, innermost first: Python's as "line function", native ones as
/// "native", as often as they follow each other.
std::vector<std::vector<std::string>> stacks(const Observed& run, const std::string& file) {
  std::map<uint32_t, std::vector<std::string>> by_hash;
  for (const auto& record : run.all<ring::StackRecord>(RecordKind::kStack)) {
    auto& frames = by_hash[static_cast<uint32_t>(record.hash)];
    for (int i = 0; i < record.frame_count; ++i) {
      std::string frame = "native";
      if ((record.texts >> i & 1) != 0) {
        frame = run.text(record.frames[i]);
        if (frame.rfind(file + ":", 0) == 0) frame = frame.substr(file.size() + 1);
      }
      if (frame != "native" || frames.empty() || frames.back() != "native")
        frames.push_back(std::move(frame));
    }
  }
  std::vector<std::vector<std::string>> found;
  for (const ring::CallRecord& call : run.calls()) found.push_back(by_hash[call.stack]);
  return found;
}

// A program as every interpreter ran it.
struct Ran {
  std::string interpreter;
  Observed run;
  std::vector<std::vector<std::string>> stacks;
};

/// Runs a program that finds the library in `scene` under each interpreter.
std::list<Ran> run_program(const std::string& text) {
  std::list<Ran> all;
  for (const std::string& interpreter : interpreters()) {
    Ran& ran = all.emplace_back();
    ran.interpreter = interpreter;
    const std::string file = (ran.run.folder() / "program.py").string();
    std::ofstream(file) << "import ctypes, sys, threading\n"
                        << "scene = ctypes.CDLL(sys.argv[1])\n"
                        << text;
    ran.run.control().stacks = ring::StackMode::kSyncs;
    EXPECT_EQ(ran.run.run({interpreter, file, COLLECT_PYTHON_SCENE}), 0) << ran.run.error_text();
    EXPECT_EQ(ran.run.error_text(), "");
    ran.stacks = stacks(ran.run, file);
  }
  return all;
}

#define NEEDS_PYTHON() \
  NEEDS_PRELOADING();  \
  if (interpreters().empty()) GTEST_SKIP() << "python3 with ctypes is not here"

TEST(Python, FramesAreWhereTheInterpretersOwnWouldBe) {
  NEEDS_PYTHON();
  for (const auto& [interpreter, run, stacks] : run_program(R"(
def inner(library):
    library.synchronize()

class Model:
    def step(self, library):
        return [inner(library)
                for _ in (1,)]

Model().step(scene)
Model().step(ctypes.PyDLL(sys.argv[1]))   # does not give the interpreter's lock up
)")) {
    SCOPED_TRACE(interpreter);
    ASSERT_EQ(stacks.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      const auto& frames = stacks[i];
      // The comprehension is a separate frame up to 3.11, and only then are names qualified.
      ASSERT_GE(frames.size(), 4u);
      EXPECT_EQ(frames[0], "native");
      EXPECT_EQ(frames[1], "5 inner");
      EXPECT_THAT(frames[frames.size() - 2], EndsWith("step"));
      EXPECT_THAT(frames[frames.size() - 2], ::testing::StartsWith("9 "));
      EXPECT_EQ(frames.back(), i == 0 ? "12 <module>" : "13 <module>");
    }
  }
}

TEST(Python, FramesOfAThreadAndOfACallbackFromNativeCodeArePresent) {
  NEEDS_PYTHON();
  for (const auto& [interpreter, run, stacks] : run_program(R"(
def wait():
    scene.synchronize()

thread = threading.Thread(target=wait)
thread.start()
thread.join()

@ctypes.CFUNCTYPE(None)
def called_back():
    wait()

scene.call_back(called_back)
)")) {
    SCOPED_TRACE(interpreter);
    ASSERT_EQ(stacks.size(), 2u);
    size_t threads = 0, callbacks = 0;
    for (const auto& frames : stacks) {
      ASSERT_GE(frames.size(), 3u);
      EXPECT_EQ(frames[0], "native");
      EXPECT_EQ(frames[1], "5 wait");
      if (frames[2] == "13 called_back") {
        ++callbacks;
        EXPECT_EQ(frames.back(), "15 <module>");
      } else {
        ++threads;
        EXPECT_THAT(frames.back(), HasSubstr("threading.py:"));
      }
    }
    EXPECT_EQ(threads, 1u);
    EXPECT_EQ(callbacks, 1u);
  }
}

TEST(Python, FramesOfDeepRecursionAreTheInnermost) {
  NEEDS_PYTHON();
  for (const auto& [interpreter, run, stacks] : run_program(R"(
def descend(depth):
    if depth == 0:
        scene.synchronize()
    else:
        descend(depth - 1)

descend(100)
)")) {
    SCOPED_TRACE(interpreter);
    ASSERT_EQ(stacks.size(), 1u);
    EXPECT_EQ(stacks[0].size(), 33u);
    EXPECT_EQ(stacks[0][1], "6 descend");
    EXPECT_EQ(stacks[0].back(), "8 descend");
  }
}

TEST(Python, NamesThatAreNotPlainTextAreReadWithoutContent) {
  NEEDS_PYTHON();
  for (const auto& [interpreter, run, stacks] :
       run_program("def gr\xc3\xbc\xc3\x9f"
                   "e():\n    scene.synchronize()\ngr\xc3\xbc\xc3\x9f"
                   "e()\n")) {
    SCOPED_TRACE(interpreter);
    ASSERT_EQ(stacks.size(), 1u);
    EXPECT_THAT(stacks[0], ElementsAre("native", "4 gr??e", "5 <module>"));
  }
}

TEST(Python, FramesAreOmittedIfTheThreadIsNotInPython) {
  NEEDS_PYTHON();
  // The interpreter is present, but this thread is not one of its threads.
  for (const auto& [interpreter, run, stacks] : run_program(R"(
import os
library = ctypes.CDLL(None)
thread = ctypes.c_ulong()
function = ctypes.cast(scene.synchronize, ctypes.c_void_p)
library.pthread_create(ctypes.byref(thread), None, function, None)
library.pthread_join(thread, None)
)")) {
    SCOPED_TRACE(interpreter);
    ASSERT_EQ(stacks.size(), 1u);
    EXPECT_THAT(stacks[0], ElementsAre("native"));
  }
}

TEST(Python, StacksCostIsCounted) {
  NEEDS_PYTHON();
  for (const auto& [interpreter, run, stacks] :
       run_program("for _ in range(10): scene.synchronize()\n")) {
    SCOPED_TRACE(interpreter);
    uint64_t count = 0, cost = 0;
    for (const ObservedRing& ring : run.rings()) {
      count += ring.stacks;
      cost += ring.stack_ticks;
    }
    EXPECT_EQ(count, 10u);
    EXPECT_GT(cost, 10u);
  }
}

}  // namespace
}  // namespace streamscope::collect
