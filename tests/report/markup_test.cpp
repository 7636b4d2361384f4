// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "report/formats/markup.h"

#include <gtest/gtest.h>

namespace streamscope::report {
namespace {

TEST(WithoutFolders, KeepsTheLastPartOfAbsolutePaths) {
  EXPECT_EQ(without_folders("/home/me/train.py:41 step"), "train.py:41 step");
  EXPECT_EQ(without_folders("at \"/a/b.cpp\" (/c/d/e) '/f/g'"), "at \"b.cpp\" (e) 'g'");
  EXPECT_EQ(without_folders("/a/b/ is a folder"), " is a folder");
}

TEST(WithoutFolders, LeavesEverythingElse) {
  for (const char* text :
       {"", "/", "/file", "src/train.py:41", "1/2 of 3/4", "http://host/page", "a // b", "/ /"})
    EXPECT_EQ(without_folders(text), text);
}

}  // namespace
}  // namespace streamscope::report
