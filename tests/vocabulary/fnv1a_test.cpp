// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "vocabulary/fnv1a.h"

#include <gtest/gtest.h>

namespace streamscope {
namespace {

TEST(Fnv1a, ReturnsThePublishedValues) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
  EXPECT_EQ(fnv1a("\xff"), fnv1a_step(0xff, kFnv1aStart)) << "bytes are unsigned";
}

TEST(Fnv1a, ContinuesWithParts) { EXPECT_EQ(fnv1a("bar", fnv1a("foo")), fnv1a("foobar")); }

}  // namespace
}  // namespace streamscope
