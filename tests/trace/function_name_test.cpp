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

TEST(ShortName, SaysWhatATemplateForManyComputes) {
  const auto functor = [](std::string_view name) { return short_name(name).functor; };
  EXPECT_EQ(
      functor("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
              "at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>)"),
      "FillFunctor");
  EXPECT_EQ(
      functor("void at::native::unrolled_elementwise_kernel<at::native::(anonymous namespace)::"
              "pow_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase&, float)::"
              "{lambda(float)#1}, std::array<char*, 2ul>, 4>(int)"),
      "pow_tensor_scalar_kernel_impl");
  EXPECT_EQ(functor("void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<"
                    "at::native::BinaryFunctor<c10::Half, c10::Half, c10::Half, at::native::"
                    "binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&, int const&)::"
                    "{lambda(int)#1}>(int, int)"),
            "MulFunctor");
  EXPECT_EQ(
      functor("void at::native::elementwise_kernel<(int)128, (int)2, void at::native::"
              "gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase "
              "&)::[lambda() (instance 3)]::operator ()() const::[lambda() (instance 7)]>(at::T "
              "&)::[lambda(int) (instance 1)]>(int, T3)"),
      "direct_copy_kernel_cuda");
  EXPECT_EQ(
      functor("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::"
              "func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator()("
              "at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(int)"),
      "sum_functor");
  EXPECT_EQ(
      functor("void Kokkos::Impl::cuda_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<"
              "MyForce<Kokkos::View<double*> >, Kokkos::RangePolicy<> > >(int)"),
      "MyForce");
  EXPECT_EQ(
      functor("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4>(int)"),
      "cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4");
  EXPECT_EQ(
      functor("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::("
              "anonymous namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::"
              "BinaryOpScalarFunctor<float, 2, 1, 1>, std::multiplies<float>, float>(int)"),
      "BinaryOpScalarFunctor");
  EXPECT_EQ(functor("void run<main::{lambda(int)#1}>(int)"), "main");
  EXPECT_EQ(short_name("void scale<(anonymous namespace)::Twice>(int)").with_functor(),
            "scale<Twice>");
  for (const char* name :
       {"void gemm<float, 4>(float*)", "void gemm<(bool)1, const double *>(int)", "saxpy",
        "void layer_norm<c10::Half, float, unsigned long, false>(int)", "gemm<>(int)",
        "void cub::DeviceReduceKernel<cub::DeviceReducePolicy<float, 2>::Policy600, float*>(int)",
        "void fill<{lambda(int)#1}>(int)", "load<batch"}) {
    EXPECT_EQ(functor(name), "") << name;
    EXPECT_EQ(short_name(name).with_functor(), short_name(name).text);
  }
}

TEST(ShortName, KeepsNamesThatPeopleChose) {
  for (const char* name : {"load batch 3", "half of step 0", "step (warm up)", "layer(2) of 4",
                           "ampere_sgemm_128x64_tn", "nn/modules/module.py(1532): _call_impl",
                           "phase a::b of c", ""}) {
    EXPECT_EQ(text_of(name), name);
  }
}

TEST(ShortName, SurvivesBrokenNames) {
  for (const char* name :
       {"<",        ">",         "(",     "(((",  "ns::",  "f(",
        "operator", "a<b<c",     "::",    "_Z",   "f(int", "(anonymous namespace)::",
        "->",       "operator(", "f<(",   "f<a<", "f<,",   "f<a::",
        "f<void ",  "f<::>(",    "f<(x)>"}) {
    EXPECT_FALSE(text_of(name).empty()) << name;
  }
  EXPECT_FALSE(text_of(std::string(4000, '<')).empty());
}

}  // namespace
}  // namespace streamscope::trace
