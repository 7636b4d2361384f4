// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Names of C++ functions, kernels above all, as people write and as people say them. The writer
// stores the short names of kernels; recording, analysis and viewer ask for either form. Total:
// whatever is not understood stays as it is.
#pragma once

#include <string>
#include <string_view>

namespace streamscope::trace {

/// The name as people write it if it is a linker name, else unchanged.
std::string demangled(std::string_view name);

struct ShortName {
  std::string text;                     ///< "gemm", "operator()"
  bool has_template_arguments = false;  ///< gemm<float, 4>
};
/// What a person calls the function: without return type, parameters, enclosing scopes and template
/// arguments; linker names too. Words without a parameter list ("load batch 3") are no function and
/// stay whole. Never empty unless `name` is.
ShortName short_name(std::string_view name);

}  // namespace streamscope::trace
