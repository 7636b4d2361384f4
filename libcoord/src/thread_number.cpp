// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "thread_number.h"

#include <atomic>

namespace coord {

[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint64_t this_thread_number_value =
    0;

std::uint64_t take_thread_number() noexcept {
  static std::atomic<std::uint64_t> next{1};
  return this_thread_number_value = next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace coord
