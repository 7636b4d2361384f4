// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "process.h"

#include <pthread.h>

namespace coord {

std::atomic<std::uint32_t> process_generation_value{0};

void watch_forks() noexcept {
  static const int registered = pthread_atfork(
      nullptr, nullptr, [] { process_generation_value.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
}

}  // namespace coord
