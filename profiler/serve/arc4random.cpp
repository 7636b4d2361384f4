// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The random numbers of libc that libevent asks for, for systems whose libc has none (glibc
// before 2.36).
#include <sys/random.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" void arc4random_buf(void* buffer, size_t bytes) {
  auto* at = static_cast<unsigned char*>(buffer);
  while (bytes > 0) {
    const ssize_t got = ::getrandom(at, bytes, 0);
    if (got < 0 && errno != EINTR) std::abort();  // as libc does
    if (got <= 0) continue;
    at += got;
    bytes -= static_cast<size_t>(got);
  }
}

extern "C" uint32_t arc4random() {
  uint32_t value = 0;
  arc4random_buf(&value, sizeof value);
  return value;
}
