// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/call_sites.h"

#include <gtest/gtest.h>

#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

TEST(SourceLine, HasFileLineAndFunction) {
  const auto source = source_line("src/train.py:41 Model::step(int)");
  ASSERT_TRUE(source);
  EXPECT_EQ(source->file, "src/train.py");
  EXPECT_EQ(source->line, 41u);
  EXPECT_EQ(source->function, "Model::step(int)");
  ASSERT_TRUE(source_line("data.cpp:7"));
  EXPECT_EQ(source_line("data.cpp:7")->function, "");
}

TEST(SourceLine, IsEmptyWithoutAFileAndALine) {
  for (const char* text : {"", "load", "std::sort", "app+0xb667", ":41 step", "data.cpp:0 step",
                           "data.cpp:", "data.cpp:41step", "data.cpp:-1", "data.cpp:99999999999"})
    EXPECT_FALSE(source_line(text)) << text;
}

TEST(CallSite, IsTheProgramsFunctionRatherThanOneThatACompilerWrote) {
  for (const char* generated :
       {"/tmp/torchinductor_me/ov/cov463.py:2533 call", "<eval_with_key>.50:4 forward"}) {
    test::TraceBuilder builder;
    builder.sample(100, {generated, "torch/_dynamo/eval_frame.py:1039 _fn", "train.py:9 step"});
    EXPECT_EQ(call_sites(builder.trace())[0], "train.py:9 step") << generated;
  }
}

TEST(Language, IsWhatTheFramesOfStacksTell) {
  const auto of_frames = [](std::initializer_list<trace::Small> kinds) {
    test::TraceBuilder builder;
    const trace::Id stack = builder.add(trace::Stack{.process_id = 0, .frame_count = 2});
    trace::Small depth = 0;
    for (const trace::Small kind : kinds)
      builder.add(trace::StackFrame{.stack_id = stack, .depth = depth++, .kind = kind});
    return language_of(builder.trace());
  };
  EXPECT_EQ(of_frames({}), Language::kUnknown);
  EXPECT_EQ(of_frames({trace::kNativeFrame, trace::kNativeFrame}), Language::kCompiled);
  EXPECT_EQ(of_frames({trace::kNativeFrame, trace::kPythonFrame}), Language::kPython);
  EXPECT_EQ(of_frames({trace::kRangeFrame}), Language::kPython) << "of a profile of PyTorch";
}

}  // namespace
}  // namespace streamscope::analysis
