// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "window/bookmarks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace streamscope::viewer {
namespace {

using ::testing::ElementsAre;

class BookmarksFile : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(trace_.string() + ".bookmarks"); }
  const std::filesystem::path trace_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".sqlite");
};

TEST_F(BookmarksFile, KeepsThemForTheNextSession) {
  Bookmarks bookmarks;
  bookmarks.open(trace_);
  EXPECT_TRUE(bookmarks.all().empty());
  bookmarks.add({{500, 900}, "here it\nstalls"});
  bookmarks.add({{-100, 200}, ""});
  EXPECT_EQ(bookmarks.error(), "");
  Bookmarks again;
  again.open(trace_);
  EXPECT_THAT(again.all(),
              ElementsAre(Bookmark{{-100, 200}, ""}, Bookmark{{500, 900}, "here it stalls"}));
  again.remove(0);
  again.remove(7);
  bookmarks.open(trace_);
  EXPECT_THAT(bookmarks.all(), ElementsAre(Bookmark{{500, 900}, "here it stalls"}));
}

TEST_F(BookmarksFile, SkipsInvalidLines) {
  std::ofstream(trace_.string() + ".bookmarks") << "words\n10 5 backwards\n7 8 good\n\n9\n";
  Bookmarks bookmarks;
  bookmarks.open(trace_);
  EXPECT_THAT(bookmarks.all(), ElementsAre(Bookmark{{7, 8}, "good"}));
}

TEST(Bookmarks, ReportWhyTheyCannotBeSaved) {
  Bookmarks bookmarks;
  bookmarks.open("/nowhere/at/all.sqlite");
  bookmarks.add({{1, 2}, "note"});
  EXPECT_THAT(bookmarks.error(), ::testing::HasSubstr("/nowhere/at/all.sqlite.bookmarks"));
  EXPECT_EQ(bookmarks.all().size(), 1u);
  bookmarks.open({});
  bookmarks.add({{1, 2}, "note"});
  EXPECT_FALSE(bookmarks.error().empty());
}

}  // namespace
}  // namespace streamscope::viewer
