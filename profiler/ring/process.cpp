// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "descriptor.h"

namespace streamscope::ring {
namespace {

struct Stat {
  char state = 0;  // 0: no such process; '?': the file could not be read
  uint64_t start = 0;
};

Stat read_stat(uint32_t pid) {
  char path[32] = "/proc/";
  auto end = std::to_chars(path + 6, path + 20, pid);
  std::memcpy(end.ptr, "/stat", 6);
  int file = open_high(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {errno == ENOENT || errno == ESRCH ? '\0' : '?'};
  char text[1024];
  size_t size = 0;
  int failure = 0;
  while (size < sizeof text - 1) {
    ssize_t got = ::read(file, text + size, sizeof text - 1 - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      failure = got < 0 ? errno : 0;
      break;
    }
    size += static_cast<size_t>(got);
  }
  ::close(file);
  if (failure != 0 && failure != ESRCH) return {'?'};
  text[size] = '\0';

  // The name in field 2 may contain spaces and parentheses; fields are counted from the last ')'.
  const char* at = std::strrchr(text, ')');
  if (at == nullptr || at + 2 >= text + size) return {};
  Stat stat;
  at += 2;
  stat.state = *at;
  for (int field = 3; field < 22; ++field) {
    at = std::strchr(at, ' ');
    if (at == nullptr) return {};
    ++at;
  }
  std::from_chars(at, text + size, stat.start);
  return stat;
}

}  // namespace

uint64_t process_start(uint32_t pid) { return read_stat(pid).start; }

bool process_alive(uint32_t pid, uint64_t start) {
  Stat stat = read_stat(pid);
  // Without a file descriptor, only the existence of the pid can be checked.
  if (stat.state == '?') return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
  return stat.state != 0 && stat.state != 'Z' && stat.state != 'X' && stat.start == start;
}

}  // namespace streamscope::ring
