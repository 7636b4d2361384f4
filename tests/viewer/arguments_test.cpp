// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "window/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/error.h"

namespace streamscope::viewer {
namespace {

using ::testing::HasSubstr;

Arguments parse(std::initializer_list<const char*> words) {
  return parse_arguments(std::span(words.begin(), words.size()));
}

std::string refusal(std::initializer_list<const char*> words) {
  try {
    parse(words);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Arguments, AreReadInAnyOrder) {
  const Arguments arguments =
      parse({"--size", "800x600", "t.sqlite", "--theme=light", "--scale", "1.5", "--select",
             "op:12", "--panel", "inspector", "--drawer", "none", "--screenshot", "a.png"});
  EXPECT_EQ(arguments.trace, "t.sqlite");
  EXPECT_EQ(arguments.width, 800);
  EXPECT_EQ(arguments.height, 600);
  EXPECT_EQ(arguments.theme, ThemeKind::kLight);
  EXPECT_EQ(arguments.scale, 1.5f);
  EXPECT_EQ(arguments.select, (Item{ItemKind::kOp, 12}));
  EXPECT_EQ(arguments.panel, "inspector");
  EXPECT_EQ(arguments.drawer, kNoDrawer);
  EXPECT_EQ(arguments.screenshot, "a.png");
}

TEST(Arguments, NameAFindingAndItsFix) {
  const Arguments arguments = parse({"t.sqlite", "--select", "finding:3", "--what-if"});
  EXPECT_EQ(arguments.finding, 3u);
  EXPECT_TRUE(arguments.what_if);
  EXPECT_THAT(refusal({"--select", "finding:first"}), HasSubstr("number"));
  EXPECT_TRUE(parse({"t.sqlite", "--what-if"}).what_if) << "of all repairs";
}

TEST(Arguments, RangesAreTimesAndPercent) {
  const Arguments arguments = parse({"t.sqlite", "--range", "1.5us:75%"});
  ASSERT_TRUE(arguments.range);
  EXPECT_EQ(resolve(*arguments.range, {1000, 5000}), (TimeRange{1500, 4000}));
}

TEST(Arguments, AreRefusedInOneLineWithTheCorrectForm) {
  EXPECT_THAT(refusal({"--size", "big"}), HasSubstr("WIDTHxHEIGHT"));
  EXPECT_THAT(refusal({"--size", "10x10"}), HasSubstr("320x200"));
  EXPECT_THAT(refusal({"--range", "5ms"}), HasSubstr("FROM:TO"));
  EXPECT_THAT(refusal({"--range", "a:b"}), HasSubstr("number"));
  EXPECT_THAT(refusal({"--select", "12"}), HasSubstr("op:ID"));
  EXPECT_THAT(refusal({"--panel", "kitchen"}), HasSubstr("timeline,inspector"));
  EXPECT_THAT(refusal({"--theme", "pink"}), HasSubstr("dark,light"));
  EXPECT_THAT(refusal({"--scale", "0"}), HasSubstr("0.5 to 4"));
  EXPECT_THAT(refusal({"--frobnicate"}), HasSubstr("--frobnicate"));
  EXPECT_THAT(refusal({"--size"}), HasSubstr("WxH"));
  EXPECT_EQ(parse({"a.sqlite", "b.sqlite"}).compared, "b.sqlite");
  EXPECT_THAT(refusal({"a.sqlite", "b.sqlite", "c.sqlite"}), HasSubstr("two traces"));
  EXPECT_THAT(refusal({"--screenshot", "a.png"}), HasSubstr("no trace"));
  for (const auto& words : {std::initializer_list<const char*>{"--size", "x"},
                            {"--range", ":"},
                            {"--select", "op:"},
                            {"--select", ":1"},
                            {"--frobnicate"},
                            {"--panel", "kitchen"},
                            {"--drawer", "kitchen"},
                            {"--size"}}) {
    EXPECT_EQ(refusal(words).find('\n'), std::string::npos);
    EXPECT_FALSE(refusal(words).empty());
  }
}

TEST(Arguments, TheLastValueOfAnOptionCounts) {
  const Arguments arguments = parse({"--size", "800x600", "t.sqlite", "--help", "--theme", "light",
                                     "--size", "640x480", "--theme", "dark", "--help"});
  EXPECT_EQ(arguments.width, 640);
  EXPECT_EQ(arguments.theme, ThemeKind::kDark);
  EXPECT_TRUE(arguments.help);
}

TEST(Arguments, MayBeginWithAMinus) {
  const Arguments arguments = parse({"--range", "-5ms:10ms", "t.sqlite"});
  EXPECT_EQ(arguments.range->first.ns, -5'000'000);
  EXPECT_EQ(arguments.trace, "t.sqlite");
}

TEST(Arguments, AreAllInTheUsage) {
  for (const char* flag :
       {"--screenshot", "--size", "--range", "--select", "--panel", "--drawer", "--theme",
        "--scale", "--what-if", "--state", "--help", "--version", "barrier:ID"}) {
    EXPECT_THAT(usage(), HasSubstr(flag));
  }
}

}  // namespace
}  // namespace streamscope::viewer
