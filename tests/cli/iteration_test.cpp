// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// `--iteration` of `diff` and `info`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.h"

namespace streamscope::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class IterationOption : public CommandLine {
 protected:
  void SetUp() override {
    for (const auto& [file, length] :
         {std::pair("base.sqlite", 300'000), {"new.sqlite", 400'000}}) {
      TraceBuilder builder;
      builder.meta("tier", "times");
      for (trace::Ns at = 0; at < 10'000'000; at += 500'000) {
        builder.at(at).stream("math").kernel("gemm", at + 5000, at + 5000 + length);
        builder.stream("math").kernel("norm", at + 5000 + length, at + 9000 + length);
        builder.range("step", at, at + 490'000);
      }
      builder.write(folder_ / file);
    }
  }
};

TEST_F(IterationOption, OfDiffChoosesWhatIsCompared) {
  const auto compared = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"diff", "base.sqlite", "new.sqlite", "--format", "json"});
    const Result result = streamscope(options);
    EXPECT_THAT(result.code, testing::AnyOf(0, 1)) << result.err;
    return json::parse(result.out);
  };
  EXPECT_THAT(compared({})["iteration"]["how"], HasSubstr("step"));
  EXPECT_EQ(compared({"--iteration", "nvtx:step"})["compared"]["range"], "step");
  const json sequence = compared({"--iteration", "sequence"});
  EXPECT_EQ(sequence["compared"]["what"], "sequence");
  EXPECT_THAT(sequence["iteration"]["how"], HasSubstr("that repeat"));
  const json none = compared({"--iteration", "none"});
  EXPECT_EQ(none["compared"]["what"], "whole-run");
  EXPECT_EQ(none["iteration"]["comparable"], false);
  EXPECT_EQ(streamscope({"diff", "base.sqlite", "new.sqlite", "--iteration", "step"}).code, 2);
  EXPECT_EQ(streamscope({"diff", "base.sqlite", "new.sqlite", "--iteration", "nvtx:x"}).code, 2);
  EXPECT_EQ(streamscope({"diff", "base.sqlite", "new.sqlite", "--base-run", "base.sqlite",
                         "--iteration", "sequence"})
                .code,
            0);
}

TEST_F(IterationOption, OfInfoShowsIterations) {
  EXPECT_THAT(streamscope({"info", "base.sqlite"}).out, Not(HasSubstr("an iteration")));
  for (const char* how : {"auto", "nvtx:step", "sequence"}) {
    const Result result = streamscope({"info", "base.sqlite", "--iteration", how});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("500 µs ± ")) << how;
  }
  const Result as_json = streamscope({"info", "base.sqlite", "--json", "--iteration", "auto"});
  EXPECT_EQ(json::parse(as_json.out)["iteration"]["name"], "step");
  EXPECT_THAT(streamscope({"info", "base.sqlite", "--iteration", "graph"}).out,
              HasSubstr("no iterations were found"));
  EXPECT_EQ(streamscope({"info", "base.sqlite", "--iteration", "step"}).code, 2);
}

}  // namespace
}  // namespace streamscope::test
