// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Python frames as they are read from memory, here from that of this process: made by hand, by
// each layout. That real interpreters have these layouts is for tests/e2e/samples.sh.
#include "record/samples/python_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/processors.h"

namespace streamscope::record {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Object = std::array<unsigned char, 512>;

class Interpreter {
 public:
  explicit Interpreter(int minor) : layout_(*ring::python_layout(minor)), state_(object()) {
    thread_.state = at(state_);
    thread_.code_type = at(object());
    thread_.text_type = at(object());
    thread_.minor = static_cast<uint32_t>(minor);
    if (layout_.c_frame != ring::kNoField) put(state_, layout_.thread_frame, at(c_frame_));
  }

  static uint64_t at(const Object& object) { return reinterpret_cast<uint64_t>(object.data()); }
  template <class T>
  static void put(Object& object, size_t offset, T value) {
    std::memcpy(object.data() + offset, &value, sizeof value);
  }
  Object& object() { return objects_.emplace_back(); }

  /// A string of characters of `unit` bytes: compact and ASCII, or wider.
  Object& text(const std::u32string& characters, uint32_t unit = 1, bool ascii = true) {
    Object& text = object();
    put(text, 8, thread_.text_type);
    put(text, 16, uint64_t{characters.size()});
    put(text, 32, unit << 2 | 1u << 5 | static_cast<uint32_t>(ascii) << 6);
    const size_t begin = layout_.text + (ascii ? 0 : layout_.minor < 12 ? 24 : 16);
    for (size_t i = 0; i < characters.size(); ++i)
      std::memcpy(text.data() + begin + i * unit, &characters[i], unit);
    return text;
  }
  /// A function whose code is on one line more after every four bytes.
  Object& code(Object& file, Object& name, int first_line) {
    Object& table = object();
    const std::string lines = layout_.minor < 10    ? std::string("\4\1\4\1\4\1", 6)
                              : layout_.minor == 10 ? std::string("\4\0\4\1\4\1", 6)
                                                    : std::string("\xe9\0\xe9\2\xe9\2", 6);
    put(table, 16, uint64_t{lines.size()});
    std::memcpy(table.data() + 32, lines.data(), lines.size());
    Object& code = object();
    put(code, 8, thread_.code_type);
    put(code, layout_.file, at(file));
    put(code, layout_.name, at(name));
    put(code, layout_.lines, at(table));
    put(code, layout_.first_line, int32_t{first_line});
    return code;
  }
  void set_instruction(Object& frame, Object& code, int offset) {
    if (layout_.first_code != ring::kNoField)
      put(frame, layout_.instruction,
          at(code) + layout_.first_code + static_cast<uint64_t>(offset));
    else
      put(frame, layout_.instruction, int32_t{layout_.minor == 10 ? offset / 2 : offset});
  }
  /// A frame that `caller` called; nullptr: the outermost.
  Object& frame(Object& code, int offset, const Object* caller = nullptr) {
    Object& frame = object();
    put(frame, layout_.previous, caller != nullptr ? at(*caller) : uint64_t{0});
    put(frame, layout_.code, at(code));
    set_instruction(frame, code, offset);
    return frame;
  }
  /// What the interpreter pushes where native code calls it: it has no function.
  Object& entry_frame(const Object& caller) {
    Object& frame = object();
    put(frame, layout_.previous, at(caller));
    put(frame, layout_.owner, uint8_t{3});
    return frame;
  }
  void run(const Object& frame) {
    if (layout_.c_frame != ring::kNoField)
      put(c_frame_, layout_.c_frame, at(frame));
    else
      put(state_, layout_.thread_frame, at(frame));
  }

  const PythonThread& thread() const { return thread_; }
  const ring::PythonLayout& layout() const { return layout_; }

 private:
  const ring::PythonLayout& layout_;
  std::deque<Object> objects_;
  Object& state_;
  Object c_frame_{};
  PythonThread thread_;
};

class PythonFrames : public testing::TestWithParam<int> {
 protected:
  std::vector<std::string> read() {
    std::vector<SampledFrame> frames;
    stacks_.read(python_.thread(), frames);
    std::vector<std::string> texts;
    for (const SampledFrame& frame : frames) texts.push_back(frame.text);
    return texts;
  }

  Interpreter python_{GetParam()};
  PythonStacks stacks_{::getpid()};
};
INSTANTIATE_TEST_SUITE_P(Layouts, PythonFrames, testing::Values(8, 9, 10, 11, 12, 13));

TEST_P(PythonFrames, AreReadInnermostFirst) {
  Object& file = python_.text(U"train.py");
  Object& outer_code = python_.code(file, python_.text(U"<module>"), 1);
  Object& inner_code = python_.code(file, python_.text(U"step"), 20);
  const Object& outer = python_.frame(outer_code, 8);
  python_.run(python_.frame(inner_code, 4, &outer));
  EXPECT_THAT(read(), ElementsAre("train.py:21 step", "train.py:3 <module>"));
}

TEST_P(PythonFrames, OfNativeCallersAreLeftOut) {
  if (python_.layout().owner == ring::kNoField) return;  // before 3.11 they have no frame
  Object& code = python_.code(python_.text(U"a.py"), python_.text(U"f"), 1);
  const Object& outer = python_.frame(code, 0);
  python_.run(python_.frame(code, 4, &python_.entry_frame(outer)));
  EXPECT_THAT(read(), ElementsAre("a.py:2 f", "a.py:1 f"));
}

TEST_P(PythonFrames, HaveNamesInAnyAlphabet) {
  Object& latin = python_.text(U"gr\u00fc\u00dfe.py", 1, false);
  Object& greek = python_.text(U"\u03b1b", 2, false);
  Object& wide = python_.text(U"c\U0001f600", 4, false);
  const Object& outer = python_.frame(python_.code(latin, greek, 1), 0);
  python_.run(python_.frame(python_.code(latin, wide, 1), 0, &outer));
  EXPECT_THAT(read(), ElementsAre("gr??e.py:1 c?", "gr??e.py:1 ?b"));
}

TEST_P(PythonFrames, HaveTheFirstLineIfTheirTableCannotBeRead) {
  Object& code = python_.code(python_.text(U"a.py"), python_.text(U"f"), 5);
  Interpreter::put(code, python_.layout().lines, uint64_t{8});
  python_.run(python_.frame(code, 8));
  EXPECT_THAT(read(), ElementsAre("a.py:5 f"));
}

TEST_P(PythonFrames, OfACodeObjectInTheMemoryOfAnotherHaveItsNames) {
  Object& code = python_.code(python_.text(U"a.py"), python_.text(U"f"), 5);
  python_.run(python_.frame(code, 0));
  EXPECT_THAT(read(), ElementsAre("a.py:5 f"));
  Interpreter::put(code, python_.layout().name, Interpreter::at(python_.text(U"g")));
  EXPECT_THAT(read(), ElementsAre("a.py:5 g"));
  Interpreter::put(code, python_.layout().first_line, int32_t{90});
  EXPECT_THAT(read(), ElementsAre("a.py:90 g"));
}

TEST_P(PythonFrames, WithoutAThreadAreMissing) {
  EXPECT_THAT(read(), IsEmpty());  // the interpreter runs nothing
  std::vector<SampledFrame> frames(3);
  stacks_.read({}, frames);
  EXPECT_THAT(frames, IsEmpty());
  PythonThread unknown = python_.thread();
  unknown.minor = 99;
  frames.resize(3);
  stacks_.read(unknown, frames);
  EXPECT_THAT(frames, IsEmpty());
}

TEST_P(PythonFrames, EndWhereAnObjectIsOfAnotherType) {
  Object& code = python_.code(python_.text(U"a.py"), python_.text(U"f"), 1);
  Object& no_code = python_.object();
  const Object& outer = python_.frame(code, 0);
  const Object& wrong = python_.frame(no_code, 0, &outer);
  python_.run(python_.frame(code, 4, &wrong));
  EXPECT_THAT(read(), ElementsAre("a.py:2 f"));
}

TEST_P(PythonFrames, ThatAreTheirOwnCallersComeToAnEnd) {
  Object& code = python_.code(python_.text(U"a.py"), python_.text(U"f"), 1);
  Object& frame = python_.frame(code, 0);
  Interpreter::put(frame, python_.layout().previous, Interpreter::at(frame));
  python_.run(frame);
  EXPECT_EQ(read().size(), 64u);
  if (python_.layout().owner == ring::kNoField) return;
  Object& entry = python_.entry_frame(frame);
  Interpreter::put(entry, python_.layout().previous, Interpreter::at(entry));
  python_.run(entry);
  EXPECT_THAT(read(), IsEmpty());
}

TEST_P(PythonFrames, OfSizesThatCannotBeAreCutOff) {
  Object& file = python_.text(U"a.py");
  Interpreter::put(file, 16, ~uint64_t{0});
  Object& code = python_.code(file, python_.text(U"f"), 1);
  python_.run(python_.frame(code, 0));
  const auto frames = read();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_LT(frames[0].size(), 300u);
  // The table is as long as the memory that follows it, or longer.
  Object& name = python_.text(U"g");
  Object& table = python_.object();
  Interpreter::put(table, 16, ~uint64_t{0});
  Object& other = python_.code(python_.text(U"b.py"), name, 7);
  Interpreter::put(other, python_.layout().lines, Interpreter::at(table));
  python_.run(python_.frame(other, 0));
  ASSERT_EQ(read().size(), 1u);
  EXPECT_THAT(read()[0], testing::MatchesRegex("b\\.py:[0-9]+ g"));
}

TEST_P(PythonFrames, WithRandomContentComeToAnEnd) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    Interpreter python(GetParam());
    Object& file = python.text(U"a.py");
    Object& code = python.code(file, python.text(U"f"), 1);
    Object& outer = python.frame(code, 0);
    Object& inner = python.frame(code, 4, &outer);
    python.run(inner);
    Object* const objects[] = {&file, &code, &outer, &inner};
    for (int change = 0; change < 4; ++change) {
      Object& object = *objects[random() % 4];
      object[random() % 144] = static_cast<unsigned char>(random());
    }
    std::vector<SampledFrame> frames;
    stacks_.read(python.thread(), frames);
    EXPECT_LE(frames.size(), 64u);
  }
}

TEST_P(PythonFrames, OfAThreadThatRunsOnHaveTheirCallersInCommon) {
  Object& file = python_.text(U"a.py");
  Object& outer_code = python_.code(file, python_.text(U"outer"), 1);
  Object& f = python_.code(file, python_.text(U"f"), 10);
  Object& g = python_.code(file, python_.text(U"g"), 20);
  const Object& outer = python_.frame(outer_code, 4);
  const Object& in_f = python_.frame(f, 0, &outer);
  const Object& in_g = python_.frame(g, 0, &outer);
  python_.run(in_f);
  const std::vector<int> processors = test::usable_processors();
  std::atomic<bool> ends{false};
  std::thread running([&] {
    if (processors.size() > 1) test::stay_on(processors[1]);
    while (!ends) {
      python_.run(in_g);
      python_.run(in_f);
    }
  });
  // As often as the readings happen to agree, both frames are there.
  bool all = false, only_outer = false;
  std::thread reading([&] {
    if (!processors.empty()) test::stay_on(processors[0]);
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
         !(all && only_outer) && std::chrono::steady_clock::now() < end;) {
      const auto frames = read();
      ASSERT_GE(frames.size(), 1u);
      EXPECT_EQ(frames.back(), "a.py:2 outer");
      all = all || frames.size() == 2;
      only_outer = only_outer || frames.size() == 1;
      if (frames.size() == 2) {
        EXPECT_THAT(frames[0], testing::AnyOf("a.py:10 f", "a.py:20 g"));
      } else {
        EXPECT_EQ(frames.size(), 1u);
      }
    }
  });
  reading.join();
  ends = true;
  running.join();
  EXPECT_TRUE(all);
  EXPECT_TRUE(only_outer || processors.size() < 2);
}

TEST(FramesInCommon, AreTheSameFunctionsCalledFromTheSamePlaces) {
  using Frames = std::vector<ring::PythonFrame>;
  const auto frame = [](uint64_t code, int offset) {
    ring::PythonFrame made;
    made.code = code;
    made.offset = offset;
    return made;
  };
  const Frames three = {frame(3, 30), frame(2, 20), frame(1, 10)};
  EXPECT_EQ(frames_in_common(three, three), 3u);
  EXPECT_EQ(frames_in_common(three, {}), 0u);
  EXPECT_EQ(frames_in_common({}, three), 0u);
  // The innermost has gone on, or called, or returned.
  EXPECT_EQ(frames_in_common(three, {frame(3, 32), frame(2, 20), frame(1, 10)}), 3u);
  EXPECT_EQ(frames_in_common(three, {frame(4, 0), frame(3, 32), frame(2, 20), frame(1, 10)}), 2u);
  EXPECT_EQ(frames_in_common(three, {frame(2, 20), frame(1, 10)}), 2u);
  EXPECT_EQ(frames_in_common(three, {frame(2, 22), frame(1, 10)}), 1u);
  // Another call of the same function is another frame.
  EXPECT_EQ(frames_in_common(three, {frame(3, 30), frame(2, 24), frame(1, 10)}), 1u);
  EXPECT_EQ(frames_in_common(three, {frame(3, 30), frame(2, 20), frame(9, 10)}), 0u);
}

TEST(PythonStacks, OfAProcessThatHasEndedAreMissing) {
  PythonStacks stacks(0x3fffffff);
  std::vector<SampledFrame> frames(1);
  stacks.read({.state = 0x1000, .code_type = 0x2000, .text_type = 0x3000, .minor = 11}, frames);
  EXPECT_THAT(frames, IsEmpty());
}

}  // namespace
}  // namespace streamscope::record
