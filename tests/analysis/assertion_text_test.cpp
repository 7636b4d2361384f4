// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reading assertions: their forms, and what is said about mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/assertions/assertion.h"
#include "trace/error.h"

namespace streamscope::analysis {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(AssertionText, IsReadAndWrittenInOneForm) {
  const std::pair<const char*, const char*> texts[] = {
      {R"(may_overlap("All*","gemm*"))", R"(may_overlap("All*", "gemm*"))"},
      {R"(  may_overlap ( 'All*' , "a \"b\" c" )  )", R"(may_overlap("All*", "a \"b\" c"))"},
      {R"(ordered("memcpy HtoD", "gemm<…>"))", R"(ordered("memcpy HtoD", "gemm<…>"))"},
      {R"(may_overlap_across("a","b"))", R"(may_overlap_across("a", "b"))"},
      {R"(no_sync_in("nvtx:step"))", R"(no_sync_in("nvtx:step"))"},
      {R"(no_sync_in("iteration"))", R"(no_sync_in("iteration"))"},
      {"launches_per_iteration<=120", "launches_per_iteration <= 120"},
      {"syncs_per_iteration < 2", "syncs_per_iteration < 2"},
      {"allocations_per_iteration == 0", "allocations_per_iteration == 0"},
      {"launches_per_iteration >= 1e2", "launches_per_iteration >= 100"},
      {"launches_per_iteration > 0.5", "launches_per_iteration > 0.5"},
      {R"(max_bound("host")<=20%)", R"(max_bound("host") <= 20 %)"},
      {R"(max_bound("host-launching") < 12.5 %)", R"(max_bound("host-launching") < 12.5 %)"},
  };
  for (const auto& [text, form] : texts) {
    const Assertion assertion = parse_assertion(text, "test");
    EXPECT_EQ(assertion.text(), form);
    EXPECT_EQ(parse_assertion(form, "test"), assertion) << form;
  }
}

TEST(AssertionText, SaysWhatIsWrongAndWhere) {
  const auto message = [](std::string_view text) {
    try {
      (void)parse_assertion(text, "--assert");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message("may_overlp(\"a\", \"b\")"),
              AllOf(HasSubstr("--assert: column 1: there is no assertion 'may_overlp'"),
                    HasSubstr("use one of may_overlap, may_overlap_across, ordered")));
  EXPECT_THAT(message(""), HasSubstr("column 1: expected an assertion instead of the end"));
  EXPECT_THAT(message("ordered"), HasSubstr("column 8: expected '('"));
  EXPECT_THAT(message("ordered(a, b)"), HasSubstr("column 9: expected a text in quotes"));
  EXPECT_THAT(message("ordered(\"a\")"), HasSubstr("column 12: expected ',' instead of ')'"));
  EXPECT_THAT(message("ordered(\"a\", \"b"), HasSubstr("column 14: the text does not end"));
  EXPECT_THAT(message("ordered(\"a\", \"\")"), HasSubstr("column 14: the text is empty"));
  EXPECT_THAT(message("ordered(\"a\", \"b\") <= 3"), HasSubstr("column 19: unexpected '<= 3'"));
  EXPECT_THAT(message("no_sync_in(\"step\")"),
              AllOf(HasSubstr("column 12"), HasSubstr("nvtx:NAME")));
  EXPECT_THAT(message("no_sync_in(\"nvtx:\")"), HasSubstr("column 12"));
  EXPECT_THAT(message("launches_per_iteration = 3"), HasSubstr("column 24: expected a limit"));
  EXPECT_THAT(message("launches_per_iteration <= many"), HasSubstr("column 27: expected a number"));
  EXPECT_THAT(message("launches_per_iteration <= nan"), HasSubstr("expected a number"));
  EXPECT_THAT(message("launches_per_iteration <= -1"), HasSubstr("expected a number"));
  EXPECT_THAT(message("launches_per_iteration <= 3 %"), HasSubstr("column 29: a count has no %"));
  EXPECT_THAT(message("max_bound(\"host\") <= 20"), HasSubstr("expected '%' instead of the end"));
  EXPECT_THAT(message("max_bound(\"host\") >= 20 %"),
              HasSubstr("column 19: max_bound cannot be >="));
  EXPECT_THAT(message("max_bound(\"hots\") <= 20 %"),
              AllOf(HasSubstr("column 11: there is no bound 'hots'"),
                    HasSubstr("host, device, kernels, collectives, copies")));
  EXPECT_THAT(message("ordered(\"a\x1b[31m"), Not(HasSubstr("\x1b")));
}

TEST(AssertionPattern, KnowsStarAndQuestionMark) {
  EXPECT_TRUE(matches("gemm", "gemm"));
  EXPECT_FALSE(matches("gemm", "gemm2"));
  EXPECT_FALSE(matches("gemm", "a gemm"));
  EXPECT_TRUE(matches("*gemm*", "a gemm2"));
  EXPECT_TRUE(matches("a*b*c", "aXbbYc"));
  EXPECT_FALSE(matches("a*b*c", "aXbbY"));
  EXPECT_TRUE(matches("*ab", "aab"));
  EXPECT_TRUE(matches("gemm<?>", "gemm<…>"));
  EXPECT_FALSE(
      matches("gemm<?"
              "?>",
              "gemm<…>"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_FALSE(matches("?", ""));
  EXPECT_TRUE(matches("memcpy HtoD", "memcpy HtoD"));
  EXPECT_FALSE(matches("Gemm", "gemm"));
}

TEST(AssertionLimit, IsInclusiveOrNot) {
  const auto allows = [](const char* limit, double value) {
    return parse_assertion(std::string("syncs_per_iteration ") + limit, "test").allows(value);
  };
  EXPECT_TRUE(allows("<= 3", 3));
  EXPECT_FALSE(allows("<= 3", 4));
  EXPECT_FALSE(allows("< 3", 3));
  EXPECT_TRUE(allows("== 3", 3));
  EXPECT_FALSE(allows("== 3", 2));
  EXPECT_TRUE(allows(">= 3", 3));
  EXPECT_FALSE(allows(">= 3", 2));
  EXPECT_FALSE(allows("> 3", 3));
}

TEST(AssertionParser, AcceptsOrRefusesAnyText) {
  std::mt19937 random(7);
  const std::string_view parts[] = {
      "may_overlap", "ordered", "max_bound", "(",  ")",  "\"", "'", ",", "\\",
      "nvtx:",       "host",    "*",         "<=", "==", "20", "%", " ", "launches_per_iteration",
      "\xff",        "1e999",   "-",         "\n"};
  const std::string valid[] = {R"(may_overlap("a*", "b"))", R"(no_sync_in("nvtx:step"))",
                               "launches_per_iteration <= 20", R"(max_bound("host") < 20 %)"};
  int accepted = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = valid[random() % std::size(valid)];
    for (size_t n = random() % 3; n > 0; --n) {
      const size_t at = random() % (text.size() + 1);
      text.replace(at, random() % 3, parts[random() % std::size(parts)]);
    }
    try {
      const Assertion assertion = parse_assertion(text, "test");
      EXPECT_EQ(parse_assertion(assertion.text(), "test"), assertion) << text;
      ++accepted;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("column ")) << text;
      ++refused;
    }
  }
  EXPECT_GT(accepted, 5000);
  EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace streamscope::analysis
