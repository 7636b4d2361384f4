// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace/error.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace streamscope {
namespace {

TEST(Explain, StatesWhatToDo) {
  EXPECT_EQ(explain(Error("run.sqlite", "is empty", "record it again")),
            "run.sqlite: is empty; record it again");
  EXPECT_EQ(explain(std::bad_alloc()), "out of memory; record or read a shorter part");
  EXPECT_EQ(explain(std::bad_array_new_length()), "out of memory; record or read a shorter part");
  EXPECT_EQ(explain(std::logic_error("no stream")), "internal error: no stream");
}

}  // namespace
}  // namespace streamscope
