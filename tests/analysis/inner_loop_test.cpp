// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Loops of the program inside an iteration.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/iterations/inner_loop.h"
#include "iteration_program.h"

namespace streamscope::analysis {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kModuleCall = "/lib/site-packages/torch/nn/modules/module.py:1747 _call_impl";

// Each step: rounds of two short kernels, in whose function the host is sampled at two lines.
struct Rounds {
  int rounds = 12;
  int others = 0;  // other kernels of a step
  const char* kernel = "scaled<8>";
  const char* called_by = "/src/train.py:7 equalize";
  const char* between = "";  // a frame between the two
  const char* outermost = "/src/train.py:20 <module>";
  bool synchronizes = false;

  void round(SteppedProgram& program, int number) const {
    for (const int line : {10, 11}) {
      const std::string inner = fmt::format("/src/scale.py:{} scale", line);
      const auto outer = program.python(outermost), caller = program.python(called_by);
      if (*between == '\0') {
        program.sampled_pause(20, {program.python(inner), caller, outer});
      } else {
        program.sampled_pause(20, {program.python(inner), program.python(between), caller, outer});
      }
      program.launch(5, 2, line == 10 ? "counted" : number % 3 == 0 ? kernel : "scaled<8>");
    }
  }
  SteppedProgram program() const {
    SteppedProgram program;
    program.steps(12, [&](int) {
      for (int i = 0; i < rounds; ++i) {
        round(program, i);
        if (synchronizes) program.synchronize();
      }
      for (int i = 0; i < others; ++i) program.launch(5, 2, fmt::format("other{}", i));
    });
    return program;
  }
};

std::optional<InnerLoop> loop_of(const SteppedProgram& program) {
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  EXPECT_TRUE(analyses.iteration_model().found());
  return find_inner_loop(analyses, analyses.iteration_model());
}

TEST(InnerLoop, HasItsRoundsAndTheLineThatMakesThem) {
  const auto loop = loop_of(Rounds().program());
  ASSERT_TRUE(loop.has_value());
  EXPECT_EQ(loop->ops, 2u);
  EXPECT_EQ(loop->rounds, 12u);
  EXPECT_DOUBLE_EQ(loop->share, 1);
  EXPECT_EQ(loop->place, "in scale (scale.py), called at train.py:7 equalize");
}

TEST(InnerLoop, IsPartOfAnIteration) {
  const auto loop = loop_of(Rounds{.others = 8}.program());
  ASSERT_TRUE(loop.has_value());
  EXPECT_EQ(loop->rounds, 12u);
  EXPECT_DOUBLE_EQ(loop->share, 0.75);
  EXPECT_FALSE(loop_of(Rounds{.others = 17}.program())) << "24 of 41 ops";
}

TEST(InnerLoop, MayComeInSeveralParts) {
  const Rounds rounds;
  SteppedProgram program;
  program.steps(12, [&](int) {
    for (int part = 0; part < 2; ++part) {
      for (int i = 0; i < 9; ++i) rounds.round(program, i);
      program.launch(5, 2, "between");
    }
  });
  const auto loop = loop_of(program);
  ASSERT_TRUE(loop.has_value());
  EXPECT_EQ(loop->ops, 2u);
  EXPECT_EQ(loop->rounds, 18u);
}

TEST(InnerLoop, IsFoundInRandomSteps) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const size_t ops = 1 + random() % 6, rounds = 8 + random() % 8;
    const size_t before = random() % 4, after = random() % 4;  // at most 6 of 14 ops
    SteppedProgram program;
    program.steps(8, [&](int) {
      size_t other = 0;
      const auto launch = [&](const std::string& name) {
        program.sampled_pause(20, {program.python("/src/train.py:7 step")});
        program.launch(5, 2, name);
      };
      while (other < before) launch(fmt::format("other{}", other++));
      for (size_t i = 0; i < ops * rounds; ++i) launch(fmt::format("round{}", i % ops));
      while (other < before + after) launch(fmt::format("other{}", other++));
    });
    const auto loop = loop_of(program);
    const double share =
        static_cast<double>(ops * rounds) / static_cast<double>(ops * rounds + before + after);
    ASSERT_EQ(loop.has_value(), share >= 0.6) << "seed " << seed;
    if (!loop) continue;
    ASSERT_EQ(loop->ops, ops) << "seed " << seed;
    ASSERT_EQ(loop->rounds, rounds) << "seed " << seed;
    ASSERT_DOUBLE_EQ(loop->share, share) << "seed " << seed;
  }
}

TEST(InnerLoop, IsAtTheLineThatLaunches) {
  SteppedProgram program;
  program.steps(12, [&](int) {
    for (int i = 0; i < 20; ++i) {
      program.sampled_pause(20, {program.python("/src/train.py:7 step")});
      program.launch(5, 2);
    }
  });
  const auto loop = loop_of(program);
  ASSERT_TRUE(loop.has_value());
  EXPECT_EQ(loop->ops, 1u);
  EXPECT_EQ(loop->place, "at train.py:7 step");
}

TEST(InnerLoop, HasKernelsThatDifferOnlyByTheAlignmentOfTheirData) {
  const auto of = [](const char* every_third, const char* usual) {
    SteppedProgram program;
    program.steps(12, [&](int) {
      for (int i = 0; i < 18; ++i) {
        program.sampled_pause(20, {program.python("/src/train.py:7 step")});
        program.launch(5, 2, i % 3 == 0 ? every_third : usual);
      }
    });
    return loop_of(program);
  };
  const auto aligned =
      of("void at::native::unrolled_elementwise_kernel<at::native::Add>(int)",
         "void at::native::vectorized_elementwise_kernel<4, at::native::Add>(int)");
  ASSERT_TRUE(aligned.has_value());
  EXPECT_EQ(aligned->rounds, 18u);
  EXPECT_FALSE(of("add", "multiply")) << "six rounds of three";
}

TEST(InnerLoop, NeedsEightRounds) {
  EXPECT_TRUE(loop_of(Rounds{.rounds = 8}.program()));
  EXPECT_FALSE(loop_of(Rounds{.rounds = 7}.program()));
}

TEST(InnerLoop, IsNotSaidOfLayersThatNeedEachOther) {
  EXPECT_FALSE(loop_of(Rounds{.between = kModuleCall}.program()));
  EXPECT_FALSE(loop_of(Rounds{.between = "torch/nn/modules/module.py:1747 _call_impl"}.program()))
      << "as PyTorch's profiler writes it";
  SteppedProgram library;  // all of the network is in one, which the program calls once
  library.steps(12, [&](int) {
    for (int i = 0; i < 12; ++i) {
      library.sampled_pause(20,
                            {library.python("/site-packages/transformers/vit.py:9 forward"),
                             library.python(kModuleCall), library.python("/src/train.py:7 step")});
      library.launch(5, 2);
      library.launch(5, 2, "other");
    }
  });
  EXPECT_FALSE(loop_of(library));
  const auto inside = loop_of(Rounds{.outermost = kModuleCall}.program());
  ASSERT_TRUE(inside.has_value()) << "a loop of one layer";
  EXPECT_EQ(inside->place, "in scale (scale.py), called at train.py:7 equalize");
}

TEST(InnerLoop, IsNotSaidOfCodeThatACompilerWrote) {
  const auto of = [](const char* function) {
    SteppedProgram program;
    program.steps(12, [&](int) {
      for (int i = 0; i < 20; ++i) {
        program.sampled_pause(20, {program.python(function)});
        program.launch(5, 2);
      }
    });
    return loop_of(program);
  };
  EXPECT_TRUE(of("/src/train.py:7 step"));
  EXPECT_FALSE(of("/tmp/torchinductor_me/ov/cov463.py:2533 call"));
  EXPECT_FALSE(of("<eval_with_key>.50:4 forward"));
}

TEST(InnerLoop, IsNotSaidWithoutAPlaceInPython) {
  SteppedProgram silent, native;
  silent.steps(12, [&](int) {
    for (int i = 0; i < 20; ++i) silent.launch(25, 2);
  });
  native.steps(12, [&](int) {
    for (int i = 0; i < 20; ++i) {
      native.sampled_pause(20, {native.native("sort() /src/sort.cu:7", "/src/sort")});
      native.launch(5, 2);
    }
  });
  EXPECT_FALSE(loop_of(silent));
  EXPECT_FALSE(loop_of(native));
}

TEST(HostBoundLaunching, NamesTheLoopThatOneCallCanReplace) {
  EXPECT_THAT(only("host-bound-launching", Rounds().program()).text,
              HasSubstr("100 % of an iteration's work is 12 rounds of the same 2 kernels and "
                        "copies, in scale (scale.py), called at train.py:7 equalize: if no round "
                        "needs the result of another, let one call do all of them (a "
                        "batched operation, torch.vmap, foreach=True)."));
  EXPECT_THAT(only("host-bound-launching", Rounds{.synchronizes = true}.program()).text,
              HasSubstr("foreach=True), and most synchronizations go with the rounds."));
  EXPECT_THAT(
      only("host-bound-launching", Rounds{.others = 8, .synchronizes = true}.program()).text,
      AllOf(HasSubstr("foreach=True)."), Not(HasSubstr("go with the rounds"))))
      << "they may belong to the others";
  EXPECT_THAT(only("host-bound-launching", Rounds{.rounds = 7}.program()).text,
              Not(HasSubstr("rounds")));
}

}  // namespace
}  // namespace streamscope::analysis
