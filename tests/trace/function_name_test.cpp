// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "trace/function_name.h"

#include <gtest/gtest.h>

namespace streamscope::trace {
namespace {

std::string text_of(std::string_view name) { return short_name(name).text; }

TEST(ShortName, KeepsTheFunctionOnly) {
  EXPECT_EQ(text_of("saxpy"), "saxpy");
  EXPECT_EQ(text_of("compute(const float *, int)"), "compute");
  EXPECT_EQ(text_of("void at::native::(anonymous namespace)::gemm<float, 4>(float*, int)"), "gemm");
  EXPECT_EQ(text_of("<unnamed>::fused_f0(<unnamed>::Tensor<float, (int)3>, <unnamed>::Tensor<>)"),
            "fused_f0");
  EXPECT_EQ(text_of("void cutlass::Kernel<cutlass::gemm::Shape<1, 2>, (bool)1>(cutlass::Params)"),
            "Kernel");
  EXPECT_EQ(text_of("void gemm<float>"), "gemm");
  EXPECT_EQ(text_of("run(int)::{lambda(float)#1}::operator()(float) const [clone .isra.0]"),
            "operator()");
  EXPECT_EQ(text_of("std::ostream& operator<< <int>(std::ostream&, int)"), "operator<<");
  EXPECT_EQ(text_of("void sort<decltype(a->b)>(int)"), "sort");
}

TEST(ShortName, TakesLinkerNames) {
  EXPECT_EQ(text_of("_Z5saxpyfPfS_i"), "saxpy");
  EXPECT_EQ(text_of("_ZN2ns5thingIiEEvPT_"), "thing");
  EXPECT_EQ(demangled("_Z5saxpyfPfS_i"), "saxpy(float, float*, float*, int)");
  EXPECT_EQ(demangled("_Zbroken"), "_Zbroken");
}

TEST(ShortName, DetectsTemplateArguments) {
  EXPECT_TRUE(short_name("_Z4gemmIfLi128EEvPKT_S2_PS0_i").has_template_arguments);
  EXPECT_FALSE(short_name("pool<float>::fill(std::vector<int>)").has_template_arguments);
  EXPECT_FALSE(short_name("saxpy").has_template_arguments);
}

TEST(ShortName, KeepsNamesThatPeopleChose) {
  for (const char* name : {"load batch 3", "half of step 0", "step (warm up)", "layer(2) of 4",
                           "ampere_sgemm_128x64_tn", "nn/modules/module.py(1532): _call_impl",
                           "phase a::b of c", ""}) {
    EXPECT_EQ(text_of(name), name);
  }
}

TEST(ShortName, SurvivesBrokenNames) {
  for (const char* name : {"<", ">", "(", "(((", "ns::", "f(", "operator", "a<b<c", "::", "_Z",
                           "f(int", "(anonymous namespace)::", "->", "operator("}) {
    EXPECT_FALSE(text_of(name).empty()) << name;
  }
  EXPECT_FALSE(text_of(std::string(4000, '<')).empty());
}

}  // namespace
}  // namespace streamscope::trace
