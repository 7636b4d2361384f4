// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Numbers for threads: unique in the process, unlike handles, which later threads may reuse.
#pragma once

#include <cstdint>

namespace coord {

// Eight bytes at a fixed offset even in a library opened late: no call is needed to find them.
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
