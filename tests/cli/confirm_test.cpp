// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.h"

namespace streamscope::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using ConfirmCommand = CommandLine;

TEST_F(ConfirmCommand, NeedsTheProgram) {
  write_trace();
  const Result result = streamscope({"confirm", "t.sqlite"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("no program is given"));
  EXPECT_EQ(streamscope({"confirm", "t.sqlite", "--", "/no/such/program"}).code, 0)
      << "without a race nothing is run";
}

TEST_F(ConfirmCommand, SaysWhatCannotBeConfirmed) {
  ASSERT_EQ(streamscope({"demo", "race", "--device", "sim", "-o", "race.sqlite"}).code, 0);
  const Result result = streamscope({"confirm", "race.sqlite", "--", "/bin/echo", "output"});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(result.out, StartsWith("not confirmable: "));
  EXPECT_THAT(result.out, HasSubstr("made no CUDA call"));
  EXPECT_THAT(result.out, Not(HasSubstr("output"))) << "what the program prints is left out";
  EXPECT_THAT(result.err, HasSubstr("race 1 of 1"));
  const Result as_json =
      streamscope({"confirm", "race.sqlite", "--json", "--quiet", "--", "/bin/true"});
  EXPECT_EQ(as_json.err, "");
  EXPECT_EQ(json::parse(as_json.out)["races"][0]["verdict"], "not confirmable");
}

}  // namespace
}  // namespace streamscope::test
