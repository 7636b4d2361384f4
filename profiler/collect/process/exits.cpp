// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Notices that the program ends by _exit(), which runs no exit handlers, so that the trace does not
// report it as killed and has the newest device times. That may happen in a signal handler, in the
// middle of a record, or in a child that shares its parent's memory: so this makes only system
// calls and writes nothing into a ring.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

#include "collect/process/session.h"
#include "ring/image.h"

namespace streamscope::collect {
namespace {

using Exit = void (*)(int);

void note_exit(int code) {
  const uint32_t pid = session.pid.load(std::memory_order_acquire);
  if (pid == 0 || !running() || ::syscall(SYS_getpid) != static_cast<long>(pid)) return;
  if (auto* const deliver = session.deliver_device_times.load(std::memory_order_acquire)) deliver();
  char name[80];
  char* at = name;
  const uint64_t parts[] = {pid, session.process_start,
                            session.image.load(std::memory_order_relaxed),
                            static_cast<uint64_t>(code & 0xff)};
  for (const uint64_t part : parts) {
    at = std::to_chars(at, name + sizeof name - sizeof ring::kExitEnding - 1, part).ptr;
    *at++ = '-';
  }
  std::memcpy(at - 1, ring::kExitEnding, sizeof ring::kExitEnding);
  const long folder =
      ::syscall(SYS_openat, AT_FDCWD, session.rings_folder, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
  if (folder < 0) return;
  // Stays open: the process ends.
  (void)::syscall(SYS_openat, folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  0600);
}

// Other libraries may define functions of these names, too. Looked up when the library is loaded,
// since a signal handler must not.
constinit Exit next_exit = nullptr, next_c_exit = nullptr;

__attribute__((constructor)) void look_up() {
  next_exit = reinterpret_cast<Exit>(::dlsym(RTLD_NEXT, "_exit"));
  next_c_exit = reinterpret_cast<Exit>(::dlsym(RTLD_NEXT, "_Exit"));
}

[[noreturn, maybe_unused]] void leave(Exit next, int code) {
  note_exit(code);
  if (next != nullptr) next(code);
  for (;;) ::syscall(SYS_exit_group, code);
}

}  // namespace
}  // namespace streamscope::collect

// The thread sanitizer has its own.
#if !defined(__SANITIZE_THREAD__)

extern "C" {

__attribute__((visibility("default"), noreturn)) void _exit(int code) {
  streamscope::collect::leave(streamscope::collect::next_exit, code);
}

__attribute__((visibility("default"), noreturn)) void _Exit(int code) noexcept {
  streamscope::collect::leave(streamscope::collect::next_c_exit, code);
}
}

#endif
