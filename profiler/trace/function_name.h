// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Full and short names of C++ functions, mainly kernels. The writer stores the short names of
// kernels; recording, analysis and viewer use either form. Total: a name that is not understood
// stays unchanged.
#pragma once

#include <string>
#include <string_view>

namespace streamscope::trace {

/// The demangled name if it is a linker name, else unchanged.
std::string demangled(std::string_view name);

struct ShortName {
  std::string text;                     ///< "gemm", "operator()"
  bool has_template_arguments = false;  ///< gemm<float, 4>
  /// What a kernel that is a template for many computes, else "": "CUDAFunctor_add" of
  /// vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >,
  /// "sum_functor", "MyForce" of Kokkos, "cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4". It
  /// is the first template argument that is neither a value nor a type of data.
  std::string functor;

  /// "vectorized_elementwise_kernel<CUDAFunctor_add>"; template arguments that say less are left
  /// out.
  std::string with_functor() const { return functor.empty() ? text : text + '<' + functor + '>'; }
};
/// The short name of the function: without return type, parameters, enclosing scopes and template
/// arguments; linker names too. Words without a parameter list ("load batch 3") are not a function
/// and stay whole. Never empty unless `name` is.
ShortName short_name(std::string_view name);

}  // namespace streamscope::trace
