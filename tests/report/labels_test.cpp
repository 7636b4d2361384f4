// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/call_sites.h"
#include "analysis/labels.h"
#include "analysis/locations.h"
#include "analysis/units.h"
#include "report/formats/table.h"
#include "support/trace_builder.h"

namespace streamscope::report {
namespace {

using analysis::call_sites;
using analysis::format_bytes;
using analysis::format_change;
using analysis::format_count;
using analysis::format_duration;
using analysis::format_duration_change;
using analysis::format_mean;
using analysis::format_percent;
using analysis::function_name;
using analysis::printable;
using analysis::short_kernel_name;
using analysis::stack_lines;
using analysis::stream_label;
using testing::ElementsAre;

TEST(Units, ChooseAReadableUnit) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(999), "999 ns");
  EXPECT_EQ(format_duration(1000), "1.00 µs");
  EXPECT_EQ(format_duration(12'345), "12.3 µs");
  EXPECT_EQ(format_duration(999'499), "999 µs");
  EXPECT_EQ(format_duration(999'600), "1.00 ms");
  EXPECT_EQ(format_duration(4'210'000'000), "4.21 s");
  EXPECT_EQ(format_duration(192'000'000'000), "3 min 12 s");
  EXPECT_EQ(format_duration(-1500), "-1.50 µs");
  EXPECT_FALSE(format_duration(INT64_MIN).empty());
  EXPECT_EQ(format_count(61'672), "61,672");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1'000'000), "1,000,000");
  EXPECT_EQ(format_count(1, "stream"), "1 stream");
  EXPECT_EQ(format_count(0, "stream"), "0 streams");
  EXPECT_EQ(format_mean(1.0, "launch", "launches"), "1 launch");
  EXPECT_EQ(format_mean(0.97, "launch", "launches"), "0.97 launches");
  EXPECT_EQ(format_mean(342.2, "launch", "launches"), "342 launches");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(4 << 20), "4 MiB");
  EXPECT_EQ(format_percent(61, 100), "61 %");
  EXPECT_EQ(format_percent(4, 1000), "0.4 %");
  EXPECT_EQ(format_percent(1, 100'000), "<0.1 %");
  EXPECT_EQ(format_percent(0, 5), "0 %");
  EXPECT_EQ(format_percent(5, 0), "–");
}

TEST(Units, ShowTheSignOfAChange) {
  EXPECT_EQ(format_change(-0.1768), "−17.7 %");
  EXPECT_EQ(format_change(0.031), "+3.1 %");
  EXPECT_EQ(format_change(0), "+0.0 %");
  EXPECT_EQ(format_duration_change(-100'000), "−100 µs");
  EXPECT_EQ(format_duration_change(3'200'000), "+3.20 ms");
  EXPECT_EQ(format_duration_change(0), "0 ns");
  EXPECT_EQ(analysis::format_range(-0.31, 0.6), "−0.3 to 0.6 %");
}

TEST(Units, ShowWhatWasAndWhatIs) {
  EXPECT_EQ(analysis::format_step("3", "4"), "3 → 4");
  EXPECT_EQ(analysis::format_step("4", "4"), "4");
  EXPECT_EQ(analysis::format_gain(8'500'000, 1'520'000), "8.50 ms → 1.52 ms (−82 %)");
  EXPECT_EQ(analysis::format_gain(1'000'000, 1'100'000), "1.00 ms → 1.10 ms (+10 %)");
}

TEST(Labels, KernelNamesAreShortened) {
  EXPECT_EQ(short_kernel_name("gemm"), "gemm");
  EXPECT_EQ(short_kernel_name("_Z4gemmIfLi128EEvPKT_S2_PS0_i"), "gemm<…>");
  EXPECT_EQ(short_kernel_name(
                "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
                "at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>)"),
            "vectorized_elementwise_kernel<FillFunctor>");
  EXPECT_EQ(short_kernel_name("(anonymous namespace)::fill(float*, int)"), "fill");
  EXPECT_EQ(short_kernel_name("sm90_xmma_gemm_f32f32_tn_n"), "sm90_xmma_gemm_f32f32_tn_n");
  EXPECT_EQ(short_kernel_name(""), "");
  EXPECT_EQ(short_kernel_name("((("), "(((");
  EXPECT_EQ(short_kernel_name("_Zbroken"), "_Zbroken");
  EXPECT_EQ(short_kernel_name("half of step 0"), "half of step 0");
}

TEST(Labels, StreamsOfSeveralProcessesSayTheRankOnce) {
  test::TraceBuilder builder;
  builder.stream("copies").kernel("k", 0, 1);
  auto& process = builder.columns().process;
  process.rank[0] = 3;
  process.name_id[0] = builder.intern("train");
  builder.add(trace::Process{.os_pid = 7});
  EXPECT_THAT(stream_label(builder.trace(), 0), testing::StartsWith("train[rank 3] "));
  process.name_id[0] = builder.intern("train (rank 3)");
  EXPECT_THAT(stream_label(builder.trace(), 0), testing::StartsWith("train (rank 3) "));
}

TEST(Labels, ThreadsAreCalledSoOnce) {
  EXPECT_EQ((analysis::Location{.thread = "main", .ranges = "step"}.sentence()),
            "on thread main, in step");
  EXPECT_EQ((analysis::Location{.thread = "thread 7 (python3)"}.sentence()),
            "on thread 7 (python3)");
  EXPECT_EQ((analysis::Location{.ranges = "step"}.sentence()), "in step");
}

TEST(Locations, FunctionsOfAProfileAreNoRanges) {
  test::TraceBuilder builder;
  builder.range("step", 0, 100).range("train.py(3): train", 1, 99);
  builder.columns().range.domain_id.back() = builder.intern("python_function");
  builder.at(10).stream("main").kernel("k", 20, 30);
  const trace::Trace trace = builder.trace();
  EXPECT_EQ(analysis::Places(trace).of_op(0).ranges, "step");
}

TEST(Labels, FunctionNamesLoseTheirParametersOnly) {
  EXPECT_EQ(function_name("c10::cuda::device_synchronize()"), "c10::cuda::device_synchronize");
  EXPECT_EQ(function_name("a::(anonymous namespace)::f(int) [clone .isra.0]"),
            "a::(anonymous namespace)::f");
  EXPECT_EQ(function_name("std::function<void (int)>::operator()(int) const"),
            "std::function<void (int)>::operator()");
  EXPECT_EQ(function_name("main"), "main");
}

TEST(CallSites, AreTheInnermostFrameOfTheProgram) {
  test::TraceBuilder builder;
  const auto stack = [&] { return builder.add(trace::Stack{.process_id = 0}); };
  const auto frame = [&](trace::Id of, trace::Small depth, trace::Small kind, const char* symbol,
                         const char* module) {
    builder.add(trace::StackFrame{.stack_id = of,
                                  .depth = depth,
                                  .kind = kind,
                                  .address = 0x1234,
                                  .symbol_id = *symbol ? builder.intern(symbol) : trace::kNoId,
                                  .module_id = *module ? builder.intern(module) : trace::kNoId});
  };
  const trace::Id native = stack(), python = stack(), bare = stack(), none = stack(),
                  library = stack(), line = stack(), runtime = stack(), launch = stack();
  for (trace::Id of : {native, python, bare, none, library, line, runtime, launch}) {
    frame(of, 0, trace::kNativeFrame, "callback", "/opt/lib/libstreamscope_inject.so");
    frame(of, 1, trace::kNativeFrame, "cuEventSynchronize", "/usr/lib/libcuda.so.1");
    frame(of, 9, trace::kNativeFrame, "__libc_start_main", "/lib/libc.so.6");
  }
  for (trace::Id of : {native, python})
    frame(of, 2, trace::kNativeFrame, "coord::wait(int)", "/opt/lib/libcoord.so");
  frame(library, 2, trace::kNativeFrame, "coord::wait(int)", "/opt/lib/libcoord.so");
  frame(native, 4, trace::kNativeFrame, "outer()", "/home/app");
  frame(native, 3, trace::kNativeFrame, "_Z4loadi", "/home/app");
  frame(line, 2, trace::kNativeFrame, "coord::StreamRef::wait(int) /src/stream.cpp:7", "/home/app");
  frame(line, 3, trace::kNativeFrame, "(anonymous namespace)::load(int) /src/my data/load.cpp:41",
        "/home/app");
  frame(python, 3, trace::kPythonFrame, "/usr/lib/python3/dist-packages/torch/cuda.py:7 sync", "");
  frame(python, 4, trace::kPythonFrame, "/home/me/train.py:41 step", "");
  frame(python, 5, trace::kPythonFrame, "/home/me/train.py:99 <module>", "");
  frame(bare, 3, trace::kNativeFrame, "", "");
  frame(runtime, 2, trace::kNativeFrame, "libcudart_static_5382377d5c77", "/home/app");
  frame(runtime, 3, trace::kNativeFrame, "cudaMalloc", "/home/app");
  frame(runtime, 4, trace::kNativeFrame, "cudalike::allocate(int)", "/home/app");
  frame(launch, 2, trace::kNativeFrame, "cudaLaunchKernel", "/home/app");
  frame(launch, 3, trace::kNativeFrame, "__device_stub__Z4fillIfEvPT_(float*)", "/home/app");
  frame(launch, 4, trace::kNativeFrame, "void fill<float>(float*) /src/fill.cu:3", "/home/app");
  frame(launch, 5, trace::kNativeFrame, "step(int) /src/step.cu:8", "/home/app");
  const trace::Id call = builder.add(trace::ApiCall{.stack_id = launch});
  builder.add(trace::Op{.kind = trace::kKernel,
                        .name_id = builder.intern("void fill<float>(float*)"),
                        .api_call_id = call});
  EXPECT_THAT(call_sites(builder.trace()),
              ElementsAre("load", "train.py:41 step", "app+0x1234", "", "coord::wait",
                          "load.cpp:41 (anonymous namespace)::load", "cudalike::allocate",
                          "step.cu:8 step"));
  EXPECT_THAT(stack_lines(builder.trace(), python),
              ElementsAre("callback", "cuEventSynchronize", "coord::wait", "cuda.py:7 sync",
                          "train.py:41 step", "train.py:99 <module>", "__libc_start_main"));
}

TEST(CallSites, PreferTheProgramToAModelsLibraryAndThatToPyTorch) {
  test::TraceBuilder builder;
  const auto stack_of = [&](std::initializer_list<const char*> lines) {
    const trace::Id stack = builder.add(trace::Stack{.process_id = 0});
    trace::Small depth = 0;
    for (const char* line : lines)
      builder.add(trace::StackFrame{.stack_id = stack,
                                    .depth = depth++,
                                    .kind = trace::kPythonFrame,
                                    .symbol_id = builder.intern(line)});
  };
  stack_of({"torch/nn/modules/linear.py:124 forward", "contextlib.py:81 inner",
            "transformers/models/bert.py:410 forward", "torch/nn/modules/module.py:1743 _call",
            "train/step.py:9 main", "threading.py:1032 _bootstrap"});
  stack_of({"torch/nn/modules/linear.py:124 forward", "transformers/models/bert.py:410 forward",
            "torch/nn/modules/module.py:1743 _call", "<frozen runpy>:86 _run_code"});
  stack_of({"/opt/lib/python3.11/site-packages/torch/cuda.py:7 sync",
            "/opt/lib/python3.11/site-packages/vision/net.py:3 forward",
            "/opt/lib/python3.11/queue.py:9 get"});
  stack_of({"torch/cuda/__init__.py:7 synchronize", "<string>:3 __init__"});
  stack_of({"torch/cuda/__init__.py:7 synchronize", "<stdin>:1 <module>"});
  EXPECT_THAT(call_sites(builder.trace()),
              ElementsAre("step.py:9 main", "bert.py:410 forward", "net.py:3 forward",
                          "__init__.py:7 synchronize", "<stdin>:1 <module>"));
}

TEST(StackLines, NamelessFramesOfOneLibraryAreOneLine) {
  test::TraceBuilder builder;
  const trace::Id stack = builder.add(trace::Stack{.process_id = 0});
  const auto frame = [&](trace::Small depth, const char* symbol, const char* module) {
    builder.add(trace::StackFrame{.stack_id = stack,
                                  .depth = depth,
                                  .kind = trace::kNativeFrame,
                                  .address = 0x10 + depth,
                                  .symbol_id = *symbol ? builder.intern(symbol) : trace::kNoId,
                                  .module_id = builder.intern(module)});
  };
  frame(0, "", "/usr/lib/libcuda.so.1");
  frame(1, "", "/usr/lib/libcuda.so.1");
  frame(2, "", "/usr/lib/libcuda.so.1");
  frame(3, "", "/usr/lib/libother.so");
  frame(4, "waits()", "/home/app");
  frame(5, "waits()", "/home/app");
  frame(6, "", "/usr/lib/libcuda.so.1");
  EXPECT_THAT(stack_lines(builder.trace(), stack),
              ElementsAre("libcuda.so.1+0x10 and 2 more", "libother.so+0x13", "waits", "waits",
                          "libcuda.so.1+0x16"));
}

TEST(Labels, UntrustedTextIsMadePrintable) {
  EXPECT_EQ(printable("plain µs ✓"), "plain µs ✓");
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a [31mb ");
  EXPECT_EQ(printable("bad \xff end"), "bad \uFFFD end");
  EXPECT_EQ(printable("cut \xe2\x82"), "cut \uFFFD\uFFFD");
  EXPECT_EQ(printable("\xc2\x9b"), " ");  // a control character of two bytes
  EXPECT_EQ(printable("a\nb\tc", true), "a\nb c");
}

TEST(Labels, CharactersThatChangeTextDirectionAreEscaped) {
  EXPECT_EQ(printable("\u202Eabc\u202C"), "[U+202E]abc[U+202C]");
  EXPECT_EQ(printable("\u2066x\u2069 \u200E\u200F \u061C"),
            "[U+2066]x[U+2069] [U+200E][U+200F] [U+061C]");
  EXPECT_EQ(printable("\u2028"), "[U+2028]");
  EXPECT_EQ(printable("\u05D0 \u2027 \u202F"), "\u05D0 \u2027 \u202F");
}

std::vector<std::string> lines(const std::vector<Column>& columns,
                               const std::vector<std::vector<std::string>>& rows, size_t width) {
  std::vector<std::string> result;
  for (const TableLine& line : lay_out(columns, rows, width)) result.push_back(line.text);
  return result;
}

TEST(Table, AlignsByCodePoints) {
  EXPECT_THAT(lines({{"name"}, {"time", true}}, {{"a", "5 µs"}, {"bcd", "12 µs"}}, 0),
              ElementsAre("  name   time", "  a      5 µs", "  bcd   12 µs"));
}

TEST(Table, TextIsShortenedToTheWidth) {
  const auto text = lines({{"n", true}, {"text"}}, {{"1", std::string(100, 'x')}}, 30);
  EXPECT_EQ(display_width(text[1]), 30u);
  EXPECT_THAT(text[1], testing::EndsWith("…"));
  EXPECT_THAT(lines({{"n", true}, {"text"}}, {{"1", "three words that do not fit"}}, 18),
              ElementsAre("  n  text", "  1  three words", "     that do not", "     fit"));
  EXPECT_EQ(shortened("größer", 4), "grö…");
  EXPECT_THAT(lines({{"a"}}, {}, 0), ElementsAre("  a"));
  EXPECT_THAT(wrapped("one two three", 8), ElementsAre("one two", "three"));
}

TEST(Table, NumbersThatDoNotFitContinueBelow) {
  EXPECT_THAT(lines({{"x"}, {"first", true}, {"second", true}}, {{"a", "1", "2"}}, 12),
              ElementsAre("  x  first", "  a      1", "  x  second", "  a       2"));
}

TEST(Table, AdjacentRowsOfAGroupHaveACommonHeading) {
  EXPECT_THAT(
      lines({{"x"}, {"launch", true, "waiting"}, {"event", true, "waiting"}}, {{"a", "1", "2"}}, 0),
      ElementsAre("     ── waiting ──", "  x  launch  event", "  a       1      2"));
}

}  // namespace
}  // namespace streamscope::report
