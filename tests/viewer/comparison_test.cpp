// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "model/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_builder.h"

namespace streamscope::viewer {
namespace {

using ::testing::ElementsAre;

struct Program {
  int first_stream = 0;  // shifts the numbers of streams
  int steps = 3;
  Ns gemm_ns = 100;
  bool has_copies = true;
};

std::shared_ptr<const TraceModel> run(const Program& program) {
  test::TraceBuilder builder;
  for (int i = 0; i < program.first_stream; ++i) builder.stream("unused");
  for (int step = 0; step < program.steps; ++step) {
    const Ns at = step * 1000;
    builder.stream("math")
        .kernel("gemm", at, at + program.gemm_ns)
        .kernel("relu", at + 300, at + 310);
    if (program.has_copies) builder.stream("copies").memcpy(test::kHtoD, at, at + 50);
  }
  return std::make_shared<const TraceModel>(builder.trace());
}

// Ops of a name, in the order of their ids.
std::vector<Id> ops_called(const TraceModel& model, std::string_view name) {
  std::vector<Id> ops;
  for (Id op = 0; op < model.trace().op.size(); ++op) {
    if (model.items().label({ItemKind::kOp, op}) == name) ops.push_back(op);
  }
  return ops;
}

TEST(Comparison, PairsStreamsByNameWhateverTheirNumber) {
  const auto base = run({}), other = run({.first_stream = 4, .has_copies = false});
  const Comparison comparison(*base, *other);
  ASSERT_EQ(comparison.lanes.size(), 2u);
  for (const Comparison::Lanes& lanes : comparison.lanes) {
    EXPECT_TRUE(lanes.has[0]);
    EXPECT_EQ(lanes.has[1], lanes.title == "math") << lanes.title;
  }
}

TEST(Comparison, MatchesTheNthWithTheNth) {
  const auto base = run({}), other = run({.steps = 5});
  const Comparison comparison(*base, *other);
  const std::vector<Id> before = ops_called(*base, "gemm"), after = ops_called(*other, "gemm");
  ASSERT_EQ(before.size(), 3u);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(comparison.number(0, before[i]), i);
    EXPECT_EQ(comparison.counterpart(0, before[i]), after[i]);
    EXPECT_EQ(comparison.counterpart(1, after[i]), before[i]);
    EXPECT_EQ(comparison.match(0, before[i]), Match::kSame);
  }
  EXPECT_EQ(comparison.counterpart(1, after[4]), kNoId);
  EXPECT_EQ(comparison.match(1, after[4]), Match::kAlone);
}

TEST(Comparison, ColorsSlowerWorkOnBothSides) {
  const auto base = run({}), other = run({.gemm_ns = 200});
  const Comparison comparison(*base, *other);
  EXPECT_EQ(comparison.work[0].label, "gemm");  // the most expensive first
  EXPECT_EQ(comparison.work[0].cost_ns(), 300);
  EXPECT_EQ(comparison.work[0].base_longest, ops_called(*base, "gemm")[0]);
  for (const int side : {0, 1}) {
    const TraceModel& model = side == 0 ? *base : *other;
    for (const Id op : ops_called(model, "gemm"))
      EXPECT_EQ(comparison.match(side, op), Match::kSlower);
    for (const Id op : ops_called(model, "relu"))
      EXPECT_EQ(comparison.match(side, op), Match::kSame);
  }
  const Comparison back(*other, *base);
  EXPECT_EQ(back.match(0, ops_called(*other, "gemm")[0]), Match::kFaster);
  // The bars show the same.
  const auto math = std::ranges::find(comparison.lanes, "math", &Comparison::Lanes::title);
  ASSERT_NE(math, comparison.lanes.end());
  const Row& bars = math->bands[1].at(0);
  EXPECT_EQ(bars.kind[0], static_cast<uint8_t>(Match::kSlower));
  EXPECT_EQ(bars.kind[1], static_cast<uint8_t>(Match::kSame));
}

TEST(Comparison, AcceptsATraceWithoutWork) {
  const TraceModel none{trace::Trace{}};
  const auto some = run({});
  EXPECT_TRUE(Comparison(none, none).work.empty());
  const Comparison gone(*some, none);
  for (const Id op : ops_called(*some, "gemm")) EXPECT_EQ(gone.match(0, op), Match::kAlone);
}

TEST(Comparer, AnswersTheLastRequest) {
  const auto base = run({}), other = run({.steps = 4}), third = run({.steps = 5});
  Comparer comparer;
  EXPECT_EQ(comparer.ask(base, nullptr), nullptr);
  const auto answer = [&](const std::shared_ptr<const TraceModel>& with) {
    std::shared_ptr<const Comparison> found;
    while ((found = comparer.ask(base, with)) == nullptr)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return found;
  };
  comparer.ask(base, other);
  EXPECT_THAT(answer(third)->serials, ElementsAre(base->serial(), third->serial()));
  EXPECT_FALSE(comparer.is_busy());
  EXPECT_EQ(comparer.ask(base, nullptr), nullptr);
}

}  // namespace
}  // namespace streamscope::viewer
