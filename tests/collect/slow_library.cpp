// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A library whose loading ends when the program allows it, or after five seconds: it writes a byte
// to the first file descriptor that SLOW_LIBRARY names, and waits for one from the second.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

extern "C" {
__attribute__((visibility("default"))) int slow_library_was_reported = 0;
}

namespace {

__attribute__((constructor)) void load() {
  const char* descriptors = std::getenv("SLOW_LIBRARY");
  int to = -1, from = -1;
  if (descriptors == nullptr || std::sscanf(descriptors, "%d %d", &to, &from) != 2) return;
  char byte = 0;
  if (write(to, &byte, 1) != 1) return;
  pollfd readable{from, POLLIN, 0};
  slow_library_was_reported = poll(&readable, 1, 5'000) == 1;
}

}  // namespace
