// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What `diff` says about iterations, in text, Markdown and JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/sections/diff_document.h"
#include "support/trace_builder.h"
#include "support/units.h"

namespace streamscope::report {
namespace {

using nlohmann::json;
using test::kUs;
using testing::AllOf;
using testing::HasSubstr;
using trace::Ns;
using trace::Trace;

// Steps of a kernel after which the host synchronizes, at a known line.
Trace steps_with_kernel(Ns kernel_us) {
  test::TraceBuilder b;
  b.meta("tier", "times");
  const trace::Id stack = b.add(trace::Stack{.process_id = 0, .hash = 1, .frame_count = 1});
  b.add(trace::StackFrame{.stack_id = stack,
                          .depth = 0,
                          .kind = trace::kPythonFrame,
                          .symbol_id = b.intern("train.py:41 step")});
  Ns at = 0;
  for (int i = 0; i < 20; ++i) {
    const Ns begin = at, end = at + (5 + kernel_us) * kUs + i % 3 * kUs;
    b.at(at).stream("math").kernel("gemm", at + 5 * kUs, end);
    b.stream("math").synchronize(at + 10 * kUs, end + 2 * kUs);
    b.columns().host_sync.stack_id.back() = stack;
    at = end + 4 * kUs;
    b.range("step", begin, at - kUs);
  }
  return b.trace();
}

DiffVerdict verdict_on(const Trace& base, const Trace& now,
                       const analysis::IterationRequest& request = {}) {
  analysis::Analyses before(base, request), after(now, request);
  analysis::TraceDiff diff = analysis::diff(before, after, request.range);
  BaseRun run{.ns = diff.base_ns};
  if (diff.steady) run.steady = diff.steady->base;
  return judge(std::move(diff), {run}, 0.05);
}

TEST(IterationSections, AreTheFirstThing) {
  const DiffVerdict verdict = verdict_on(steps_with_kernel(300), steps_with_kernel(400));
  const Document document = diff_document(verdict);
  ASSERT_GE(document.sections.size(), 3u);
  EXPECT_EQ(document.sections[0].title, "Iteration");
  EXPECT_EQ(document.sections[1].title, "Where the host's time changed");
  EXPECT_EQ(document.sections[2].title, "What was compared");
  for (const std::string& text : {to_text(document, {}), to_markdown(document)}) {
    EXPECT_THAT(text, AllOf(HasSubstr("an iteration instead of"), HasSubstr("Mann-Whitney test"),
                            HasSubstr("slower in 100 % of all pairs"),
                            HasSubstr("Grew most: kernels, from 3"),
                            HasSubstr("blocked in cudaStreamSynchronize"),
                            HasSubstr("train.py:41 step"), HasSubstr("+100 µs")));
  }
}

TEST(IterationSections, SayThatADifferenceMayBeChance) {
  const std::string text =
      to_text(diff_document(verdict_on(steps_with_kernel(300), steps_with_kernel(300))), {});
  EXPECT_THAT(text, AllOf(HasSubstr("+0.0 %"), HasSubstr("Chance may explain the difference")));
  EXPECT_THAT(text, testing::Not(HasSubstr("Grew most")));
}

// Steps of ten launches.
Trace steps_with_launches(Ns launch_ns, Ns between_ns) {
  test::TraceBuilder b;
  b.meta("tier", "times");
  Ns at = 0;
  for (int step = 0; step < 20; ++step) {
    const Ns begin = at;
    for (int launch = 0; launch < 10; ++launch) {
      b.at(at).stream("math").kernel("gemm", at + launch_ns, at + launch_ns + kUs);
      b.columns().api_call.end_ns.back() = at + launch_ns;
      at += launch_ns + between_ns;
    }
    b.range("step", begin, at - 1);
  }
  return b.trace();
}

TEST(IterationSections, SayThatTheHostIsSlowerAtEverything) {
  const auto texts_of = [](const Trace& base, const Trace& now) {
    const DiffVerdict verdict = verdict_on(base, now);
    return std::pair(to_text(diff_document(verdict), {}),
                     json::parse(diff_json(verdict))["iteration"]);
  };
  const Trace base = steps_with_launches(5000, 2000);
  const auto [slower, slower_json] = texts_of(base, steps_with_launches(7500, 3200));
  EXPECT_THAT(slower, HasSubstr("The host is slower at everything: a launch takes it 7.50 µs "
                                "instead of 5.00 µs, and the program 3.20 µs instead of 2.00 µs "
                                "between two calls (medians). A slower or busier processor"));
  EXPECT_EQ(slower_json["host_slowdown"], 1.5);
  EXPECT_EQ(slower_json["new"]["host_pace"]["launch_call_ns"], 7500);
  EXPECT_EQ(slower_json["base"]["host_pace"]["between_calls_ns"], 2000);
  EXPECT_THAT(texts_of(steps_with_launches(7500, 3200), base).first,
              HasSubstr("The host is faster at everything"));
  const auto [one, one_json] = texts_of(base, steps_with_launches(5000, 3200));
  EXPECT_THAT(one, testing::Not(HasSubstr("at everything")));
  EXPECT_EQ(one_json["host_slowdown"], 1);
}

TEST(Regression, IsNotKnownIfTheHostIsSlowerAtEverything) {
  const Trace base = steps_with_launches(5000, 2000);
  const DiffVerdict slow_host = verdict_on(base, steps_with_launches(7500, 3200));
  EXPECT_FALSE(slow_host.regressed());
  EXPECT_EQ(slow_host.result(), CheckResult::kNotEvaluable);
  EXPECT_THAT(to_text(diff_document(slow_host), {}),
              HasSubstr("not evaluable: a repetition is slower than in the baseline by more than "
                        "5.0 %, but no more than the host is at everything (1.5 times)"));
  EXPECT_EQ(json::parse(diff_json(slow_host))["result"], "not-evaluable");
  // One part of it, more than the host, and a host that is as fast as before.
  EXPECT_EQ(verdict_on(base, steps_with_launches(5000, 3200)).result(), CheckResult::kFailed);
  EXPECT_EQ(verdict_on(base, steps_with_launches(6000, 9000)).result(), CheckResult::kFailed);
  EXPECT_EQ(verdict_on(base, base).result(), CheckResult::kPassed);
}

TEST(IterationSections, AreLeftOutWithAReason) {
  const DiffVerdict verdict =
      verdict_on(steps_with_kernel(300), steps_with_kernel(400), {.off = true});
  const std::string text = to_text(diff_document(verdict), {});
  EXPECT_THAT(text, AllOf(HasSubstr("Whole runs including start-up"),
                          HasSubstr("Iterations are not compared: none were requested.")));
  EXPECT_EQ(json::parse(diff_json(verdict))["iteration"]["comparable"], false);
}

TEST(IterationSections, AreInTheJson) {
  const json iteration = json::parse(
      diff_json(verdict_on(steps_with_kernel(300), steps_with_kernel(400))))["iteration"];
  EXPECT_EQ(iteration["comparable"], true);
  EXPECT_EQ(iteration["significant"], true);
  EXPECT_LT(iteration["p_value"], 0.001);
  EXPECT_EQ(iteration["new_is_longer"], 1.0);
  EXPECT_EQ(iteration["grew_most"], "kernels");
  EXPECT_EQ(iteration["base"]["steady_count"], 20);
  EXPECT_NEAR(
      iteration["new"]["median_ns"].get<double>() - iteration["base"]["median_ns"].get<double>(),
      100'000, 1);
  EXPECT_EQ(iteration["base"]["mean_shares_ns"].size(), analysis::kShareCount);
  const json& place = iteration["places"][0];
  EXPECT_EQ(place["what"], "synchronization");
  EXPECT_EQ(place["name"], "cudaStreamSynchronize");
  EXPECT_EQ(place["called_from"], "train.py:41 step");
}

TEST(InfoOfIterations, IsShownIfRequested) {
  const Trace trace = steps_with_kernel(300);
  Info info = info_of(trace);
  EXPECT_THAT(info_text(trace, info), testing::Not(HasSubstr("an iteration")));
  EXPECT_FALSE(json::parse(info_json(info)).contains("iteration"));
  analysis::Analyses analyses(trace);
  info.iteration = summarize(analyses, analyses.iteration_model());
  EXPECT_THAT(info_text(trace, info), AllOf(HasSubstr("  310 µs ± 1.00 µs an iteration"),
                                            HasSubstr("Bound by the device, which runs kernels")));
  EXPECT_EQ(json::parse(info_json(info))["iteration"]["name"], "step");
  info.iteration = IterationSummary{};
  EXPECT_THAT(info_text(trace, info), HasSubstr("no iterations were found"));
  EXPECT_TRUE(json::parse(info_json(info))["iteration"].is_null());
}

}  // namespace
}  // namespace streamscope::report
