// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// How much a test does under a sanitizer, which makes everything some ten times as slow. It finds
// with few random inputs what it finds with many; how often an answer is right is asked by other
// builds.
#pragma once

#include <algorithm>

namespace streamscope::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = kThreadSanitized;
#endif

/// All of `count` random inputs, or a tenth under a sanitizer; at least one.
constexpr int sample_of(int count) { return kSanitized ? std::max(count / 10, 1) : count; }

}  // namespace streamscope::test
