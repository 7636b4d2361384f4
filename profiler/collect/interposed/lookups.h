// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How programs find the driver's functions, and get wrappers instead.
//
// A program that links libcuda reaches the stubs that libstreamscope_calls.so exports under the
// driver's names. One that looks functions up (every CUDA runtime does) reaches the dlsym, dlvsym
// and cuGetProcAddress of that library, which jump to functions here. Whatever is not wrapped, and
// whatever another tool looks up, is answered as without us.
#pragma once

namespace streamscope::collect {

/// True if libstreamscope_calls.so is preloaded and programs reach its functions: what initializes
/// CUDA at this moment, or has looked up functions before, does.
bool can_interpose();

}  // namespace streamscope::collect
