// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What is said of iterations behind the steady part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/formats/json.h"
#include "report/sections/iteration.h"
#include "support/units.h"

namespace streamscope::report {
namespace {

using test::kUs;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr trace::Ns kMs = 1000 * kUs;

// 60 iterations, of which the first half is the steady part.
IterationSummary summary_with(std::optional<analysis::OtherLevel> later) {
  IterationSummary summary;
  summary.iterations.source = analysis::IterationSource::kRange;
  summary.iterations.name = "step";
  summary.iterations.all.resize(60);
  summary.iterations.steady_to = 30;
  summary.iterations.median_ns = summary.iterations.low_ns = summary.iterations.high_ns = 5 * kMs;
  summary.bare_ns = 5 * kMs;
  summary.other_level = later;
  return summary;
}

TEST(LaterIterations, AreNamedWithTheTimeThatTheyTook) {
  EXPECT_THAT(duration_sentence(summary_with({})), Not(HasSubstr("Iterations")));
  EXPECT_THAT(duration_sentence(summary_with({{37, 60, 3 * kMs, 1}})),
              EndsWith(" Iterations 38 to 60 took 3.00 ms."));
}

TEST(LaterIterations, SayThatTheHostWasFasterOrSlower) {
  EXPECT_THAT(duration_sentence(summary_with({{37, 60, 3 * kMs, 0.5}})),
              EndsWith("took 3.00 ms: there the host did everything 2.0 times as fast, as on a "
                       "less busy or faster processor."));
  EXPECT_THAT(duration_sentence(summary_with({{37, 60, 9 * kMs, 1.8}})),
              EndsWith("took 9.00 ms: there everything took the host 1.8 times as long, as on a "
                       "busier or slower processor."));
}

TEST(LaterIterations, AreNumbersInJson) {
  const Json later = to_json(summary_with({{37, 60, 3 * kMs, 0.5}}))["later_iterations"];
  EXPECT_EQ(later,
            (Json{{"from", 37}, {"count", 23}, {"median_ns", 3 * kMs}, {"host_slowdown", 0.5}}));
  EXPECT_TRUE(to_json(summary_with({}))["later_iterations"].is_null());
}

}  // namespace
}  // namespace streamscope::report
