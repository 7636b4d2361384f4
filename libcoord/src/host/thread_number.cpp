// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "thread_number.h"

#include <unistd.h>

#include <atomic>
#include <cstddef>

namespace coord {

namespace {

constexpr std::size_t kRemembered = 4096;

/// Number and system id of the newest threads.
struct Known {
  std::atomic<std::uint64_t> number{0};
  std::atomic<std::uint32_t> system{0};
};
constinit Known known[kRemembered];

}  // namespace

[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint64_t this_thread_number_value =
    0;

std::uint64_t take_thread_number() noexcept {
  static std::atomic<std::uint64_t> next{1};
  const std::uint64_t number = next.fetch_add(1, std::memory_order_relaxed);
  Known& slot = known[number % kRemembered];
  slot.system.store(static_cast<std::uint32_t>(::gettid()), std::memory_order_relaxed);
  slot.number.store(number, std::memory_order_release);
  return this_thread_number_value = number;
}

std::uint32_t system_thread(std::uint64_t number) noexcept {
  const Known& slot = known[number % kRemembered];
  return slot.number.load(std::memory_order_acquire) == number
             ? slot.system.load(std::memory_order_relaxed)
             : 0;
}

}  // namespace coord
