// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "surroundings.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

namespace streamscope::cli {
namespace {

constexpr rlim_t kLeastStack = 1 << 20;
constexpr size_t kStack = 8 << 20;

struct Call {
  const std::function<void()>& body;
  sigset_t signals;
};

void* run(void* pointer) {
  const Call& call = *static_cast<Call*>(pointer);
  ::pthread_sigmask(SIG_SETMASK, &call.signals, nullptr);
  call.body();
  return nullptr;
}

}  // namespace

void hold_standard_files() {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file) {
    // open() takes the lowest free number, which is this one. Writing fails, as if closed.
    if (::fcntl(file, F_GETFD) < 0) (void)::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
}

void call_with_stack(const std::function<void()>& body) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeastStack) {
    body();
    return;
  }
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStack);
  ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
  // Only the working thread handles signals.
  Call call{body, {}};
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &call.signals);
  pthread_t thread;
  const bool started = ::pthread_create(&thread, nullptr, run, &call) == 0;
  if (started) ::pthread_join(thread, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &call.signals, nullptr);
  if (!started) body();
}

}  // namespace streamscope::cli
