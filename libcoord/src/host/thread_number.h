// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Numbers for threads: unique in the process, unlike the handles that a later thread may get again.
#pragma once

#include <cstdint>

namespace coord {

// Eight bytes that even a library opened late finds at a fixed place: no call to look for them.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local std::uint64_t
    this_thread_number_value;  // 0: none yet
std::uint64_t take_thread_number() noexcept;

/// The system's id of the thread that got this number, 0 if that was too long ago.
std::uint32_t system_thread(std::uint64_t number) noexcept;

/// Number of the calling thread, from 1.
inline std::uint64_t this_thread_number() noexcept {
  const std::uint64_t number = this_thread_number_value;
  return number != 0 ? number : take_thread_number();
}

}  // namespace coord
