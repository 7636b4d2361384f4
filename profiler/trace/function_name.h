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
};
/// The short name of the function: without return type, parameters, enclosing scopes and template
/// arguments; linker names too. Words without a parameter list ("load batch 3") are not a function
/// and stay whole. Never empty unless `name` is.
ShortName short_name(std::string_view name);

}  // namespace streamscope::trace
