// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Keeps the signals that writing raises from the program: SIGXFSZ for a file above the size limit,
// SIGPIPE for a pipe without a reader. The failing call reports the same by its result.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <cerrno>

namespace streamscope::ring {

/// While it exists, the calling thread takes neither signal; those that arrive meanwhile are
/// consumed at its end, those that were pending before stay. Preserves errno. Must not be nested.
class HeldSignals {
 public:
  HeldSignals() {
    const int error = errno;
    ::sigemptyset(&held_);
    ::sigaddset(&held_, SIGXFSZ);
    ::sigaddset(&held_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    for (const int signal : {SIGXFSZ, SIGPIPE}) {
      if (::sigismember(&pending, signal) == 1) ::sigdelset(&held_, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &held_, &before_);
    errno = error;
  }
  ~HeldSignals() {
    const int error = errno;
    const timespec none{};
    while (::sigtimedwait(&held_, nullptr, &none) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t held_, before_;
};

}  // namespace streamscope::ring
