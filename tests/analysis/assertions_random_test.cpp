// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Assertions on random programs: the same answer as comparing every pair by the rules, and the same
// answer whenever the program runs.
#include <gtest/gtest.h>

#include <map>

#include "analysis/assertions/evaluate.h"
#include "analysis/assertions/judged_iterations.h"
#include "analysis/iterations/iterations.h"
#include "random_program.h"
#include "support/trace_builder.h"

namespace streamscope::analysis {
namespace {

using test::TraceBuilder;

struct Named {
  RandomProgram program;
  bool by_step = false;
};

// A random program whose kernels are called a, b or c, and whose first thread has steps.
Named named_program(uint32_t seed) {
  Named result{.program = random_program(seed), .by_step = seed % 2 == 0};
  Trace& trace = result.program.t.trace;
  trace.meta = {{"complete", "1"}, {"tier", "structure"}};
  std::mt19937 random(seed + 1);
  Id names[3];
  for (int i = 0; i < 3; ++i) names[i] = result.program.t.text(std::string(1, "abc"[i]));
  const Id name = result.program.t.text("step");
  for (Id op = 0; op < trace.op.size(); ++op) trace.op.name_id[op] = names[random() % 3];
  // Streams of unknown kind make answers uncertain; their order is that of non-blocking ones.
  for (Id stream = 0; stream < trace.stream.size(); ++stream) {
    if (trace.stream.kind[stream] == trace::kUnknownStream)
      trace.stream.kind[stream] = trace::kNonBlockingStream;
  }
  constexpr Ns kSteps = 6;
  const Ns length = result.program.items.back().end / kSteps + 1;
  for (Ns step = 0; result.by_step && step < kSteps; ++step) {
    append(trace, trace::Range{.thread_id = 0,
                               .kind = trace::kPushPop,
                               .name_id = name,
                               .start_ns = step * length,
                               .end_ns = (step + 1) * length});
  }
  return result;
}

IterationRequest request_of(const Named& named) {
  IterationRequest request;
  EXPECT_TRUE(parse(named.by_step ? "nvtx:step" : "none", request));
  return request;
}

// Compares every pair of ops named a and b, by the rules.
class Oracle {
 public:
  Oracle(const Named& named, const JudgedIterations& iterations)
      : items_(named.program.items),
        before_(order_by_rules(named.program, HostRule::kAll)),
        trace_(named.program.t.trace) {
    for (size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].kind != ProgramItem::kOp) continue;
      const Id process = trace_.process_of_stream(items_[i].stream);
      std::optional<size_t> scope = process;
      if (iterations.found()) scope = process == 0 ? iterations.at(items_[i].start) : std::nullopt;
      if (scope) scopes_[*scope].push_back(i);
    }
  }

  AssertionOutcome may_overlap(const std::string& first, const std::string& second) const {
    return judge(
        first, second,
        [&](size_t a, size_t b, bool& counts, bool& good) {
          counts = true;
          good |= !before_[a][b] && !before_[b][a];
        },
        false);
  }
  AssertionOutcome may_overlap_across(const std::string& first, const std::string& second) const {
    size_t judged = 0, held = 0;
    for (const auto& [scope, ops] : scopes_) {
      const auto next = scopes_.find(scope + 1);
      if (next == scopes_.end()) continue;
      bool counts = false, good = false;
      for (const size_t here : ops) {
        for (const size_t there : next->second) {
          if (!(is(here, first) && is(there, second)) && !(is(here, second) && is(there, first)))
            continue;
          counts = true;
          good |= !before_[here][there] && !before_[there][here];
        }
      }
      judged += counts;
      held += counts && good;
    }
    return outcome(judged, held);
  }
  AssertionOutcome ordered(const std::string& first, const std::string& second) const {
    return judge(
        first, second,
        [&](size_t a, size_t b, bool& counts, bool& good) {
          if (before_[a][b]) return;  // b comes first
          const bool forward = before_[b][a];
          const bool later = items_[a].thread == items_[b].thread && b < a;
          if (!forward && later) return;
          counts = true;
          good &= forward;
        },
        true);
  }

 private:
  bool is(size_t item, const std::string& name) const {
    return name == "*" || trace_.text(trace_.op.name_id[items_[item].id]) == name;
  }
  static AssertionOutcome outcome(size_t judged, size_t held) {
    return judged == 0      ? AssertionOutcome::kNotEvaluable
           : held == judged ? AssertionOutcome::kHolds
                            : AssertionOutcome::kFails;
  }
  template <class Visit>
  AssertionOutcome judge(const std::string& first, const std::string& second, Visit visit,
                         bool good_unless) const {
    size_t judged = 0, held = 0;
    for (const auto& [scope, ops] : scopes_) {
      bool counts = false, good = good_unless, any_first = false, any_second = false;
      for (const size_t a : ops) {
        any_first |= is(a, first);
        any_second |= is(a, second);
        for (const size_t b : ops) {
          if (a != b && is(a, first) && is(b, second)) visit(a, b, counts, good);
        }
      }
      if (!good_unless) counts = any_first && any_second;
      judged += counts;
      held += counts && good;
    }
    return outcome(judged, held);
  }

  const std::vector<ProgramItem>& items_;
  std::vector<Set> before_;
  const Trace& trace_;
  std::map<size_t, std::vector<size_t>> scopes_;
};

TEST(RandomPrograms, GetTheAnswersOfComparingEveryPair) {
  std::map<std::pair<size_t, AssertionOutcome>, int> seen;  // by kind, in steps
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const Named named = named_program(seed);
    Analyses analyses(named.program.t.trace, request_of(named));
    const JudgedIterations iterations(analyses);
    const Oracle oracle(named, iterations);
    for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
             {"a", "b"}, {"b", "a"}, {"a", "a"}, {"*", "c"}, {"*", "*"}}) {
      const std::string texts = "(\"" + first + "\", \"" + second + "\")";
      const auto results =
          evaluate(analyses, {parse_assertion("may_overlap" + texts, "test"),
                              parse_assertion("ordered" + texts, "test"),
                              parse_assertion("may_overlap_across" + texts, "test")});
      EXPECT_EQ(results[0].outcome, oracle.may_overlap(first, second))
          << seed << texts << results[0].text;
      EXPECT_EQ(results[1].outcome, oracle.ordered(first, second))
          << seed << texts << results[1].text;
      if (named.by_step) {
        EXPECT_EQ(results[2].outcome, oracle.may_overlap_across(first, second))
            << seed << texts << results[2].text;
      }
      for (size_t kind = 0; named.by_step && kind < results.size(); ++kind)
        ++seen[{kind, results[kind].outcome}];
    }
  }
  for (size_t kind = 0; kind < 3; ++kind) {
    for (const auto outcome : {AssertionOutcome::kHolds, AssertionOutcome::kFails})
      EXPECT_GT((seen[{kind, outcome}]), 50) << kind << to_string(outcome);
  }
}

// One run of a program: the order of the calls of each thread is always the same; the rest is
// chance: how long calls and work take, and how the threads interleave within a step.
class RepeatedRun {
 public:
  TraceBuilder builder;
  bool overlapped = false;    // a gather and a gemm ran at the same time
  bool loader_first = false;  // the loader was faster in some step

  explicit RepeatedRun(uint32_t seed) : random_(seed) {
    builder.meta("tier", "times");
    builder.thread("loader");
    builder.thread("main");
    for (int i = 0; i < 8; ++i) step();
  }

 private:
  Ns any(Ns most) { return 1 + static_cast<Ns>(random_() % static_cast<uint64_t>(most)); }

  void step() {
    const Ns begin = now_ += any(500);
    Ns main = begin + any(50), loader = begin + any(2000);
    const Ns gathered = main + any(3000), gather_end = gathered + any(3000);
    builder.at(main).stream("copies").kernel("AllGather", gathered, gather_end).record("gathered");
    main += any(300) + 2;
    const Ns computed = main + any(3000), gemm_end = computed + any(3000);
    builder.at(main).stream("math").kernel("gemm", computed, gemm_end);
    overlapped |= gathered < gemm_end && computed < gather_end;
    main += any(300) + 1;
    builder.at(main).stream("math").wait("gathered").kernel("norm", main + any(4000), main + 9000);
    loader_first |= loader < main;
    // The loader waits for its copy: by chance that is over before the main thread goes on.
    const Ns loaded = loader + 1 + any(99);
    builder.thread("loader").at(loader).stream("input").memcpy(test::kHtoD, loader, loaded);
    builder.stream("input").synchronize(loader + 1, loaded + 1);
    builder.thread("main");
    main = std::max(main, loaded) + any(500) + 5;
    builder.stream("math").synchronize(main, main + any(9000));
    now_ = main + 9001;
    builder.range("step", begin, now_);
  }

  std::mt19937 random_;
  Ns now_ = 0;
};

TEST(RepeatedRuns, NeverChangeAnAnswer) {
  const std::pair<const char*, AssertionOutcome> expected[] = {
      {R"(may_overlap("AllGather*", "gemm*"))", AssertionOutcome::kHolds},
      {R"(may_overlap("AllGather*", "norm"))", AssertionOutcome::kFails},
      {R"(may_overlap("memcpy*", "gemm*"))", AssertionOutcome::kHolds},
      {R"(ordered("AllGather*", "norm"))", AssertionOutcome::kHolds},
      {R"(ordered("AllGather*", "gemm"))", AssertionOutcome::kFails},
      {R"(ordered("memcpy HtoD", "norm"))", AssertionOutcome::kFails},
      {R"(ordered("norm", "memcpy HtoD"))", AssertionOutcome::kFails},
      {R"(no_sync_in("nvtx:step"))", AssertionOutcome::kFails},
      {"launches_per_iteration == 3", AssertionOutcome::kHolds},
      {"syncs_per_iteration < 1", AssertionOutcome::kFails},
      {"allocations_per_iteration == 0", AssertionOutcome::kHolds},
  };
  std::vector<Assertion> assertions;
  for (const auto& [text, outcome] : expected) assertions.push_back(parse_assertion(text, "test"));
  IterationRequest request;
  ASSERT_TRUE(parse("nvtx:step", request));
  int overlapped = 0, loader_first = 0;
  constexpr int kRuns = 1000;
  for (uint32_t seed = 0; seed < kRuns; ++seed) {
    const RepeatedRun run(seed);
    overlapped += run.overlapped;
    loader_first += run.loader_first;
    const Trace trace = run.builder.trace();
    Analyses analyses(trace, request);
    const auto results = evaluate(analyses, assertions);
    for (size_t i = 0; i < results.size(); ++i) {
      ASSERT_EQ(results[i].outcome, expected[i].second)
          << "run " << seed << ": " << expected[i].first << ": " << results[i].text;
    }
  }
  // The runs did differ.
  EXPECT_GT(overlapped, kRuns / 20);
  EXPECT_GT(loader_first, kRuns / 20);
  EXPECT_LT(loader_first, kRuns);
}

}  // namespace
}  // namespace streamscope::analysis
