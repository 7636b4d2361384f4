// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/labels.h"

#include <gtest/gtest.h>

namespace streamscope::analysis {
namespace {

TEST(ScopedName, HasNoReturnTypeParametersOrTemplateArguments) {
  EXPECT_EQ(scoped_name("load(int)"), "load");
  EXPECT_EQ(scoped_name("void at::native::gpu_kernel<Functor<float, 4>, false>(Args&)"),
            "at::native::gpu_kernel<…>");
  EXPECT_EQ(scoped_name("std::vector<int, A<int> > Rows<B>::all<C>(int) const"), "Rows<…>::all<…>");
  EXPECT_EQ(scoped_name("void at::(anonymous namespace)::launch<float>(float)"),
            "at::(anonymous namespace)::launch<…>");
  EXPECT_EQ(scoped_name("_Z3addIfEvT_"), "add<…>");
  EXPECT_EQ(scoped_name("bool Value::operator()(int)"), "bool Value::operator()");
  EXPECT_EQ(scoped_name("main"), "main");
  EXPECT_EQ(scoped_name(""), "");
}

}  // namespace
}  // namespace streamscope::analysis
