// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/process/bus_errors.h"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "collect/process/session.h"
#include "ring/guard.h"

namespace streamscope::collect {
namespace {

using SetAction = int(int, const struct sigaction*, struct sigaction*);
using SetHandler = sighandler_t(int, sighandler_t);

// The program's own action. A handler that runs meanwhile may still read the previous one.
constexpr size_t kActions = 16;
constinit struct sigaction actions[kActions] = {};
constinit std::atomic<size_t> newest{0};
constinit std::atomic<pid_t> owner{0};  // process in which ours is installed; 0: none

const struct sigaction& programs_action() {
  return actions[newest.load(std::memory_order_acquire) % kActions];
}

void note_programs_action(const struct sigaction& action) {
  const size_t next = newest.load(std::memory_order_relaxed) + 1;
  actions[next % kActions] = action;
  newest.store(next, std::memory_order_release);
}

// The C library's function: a program may be linked with functions of the same name.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

int pass_on(int signal, const struct sigaction* action, struct sigaction* old) {
  static constinit std::atomic<SetAction*> found{nullptr};
  SetAction* function = found.load(std::memory_order_relaxed);
  if (function == nullptr) found.store(function = next<SetAction>("sigaction"));
  if (function != nullptr) return function(signal, action, old);
  errno = ENOSYS;
  return -1;
}

int set_action(const struct sigaction* action, struct sigaction* old) {
  return pass_on(SIGBUS, action, old);
}

bool is_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

void act_by_default() {
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  set_action(&by_default, nullptr);
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const bool is_access = info->si_code > 0;  // else another process or thread sent it
  if (is_access && ring::rescue(info->si_addr)) return;
  const struct sigaction action = programs_action();
  if (!is_handler(action)) {
    act_by_default();  // and the access is repeated
    if (!is_access) ::raise(signal);
    return;
  }
  if ((action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
    struct sigaction by_default {};
    note_programs_action(by_default);
  }
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
}

// Our action in place of the program's, under the same conditions.
struct sigaction ours_for(const struct sigaction& action) {
  struct sigaction ours = action;
  ours.sa_sigaction = on_bus_error;
  ours.sa_flags = (ours.sa_flags & ~static_cast<int>(SA_RESETHAND)) | static_cast<int>(SA_SIGINFO);
  if (!is_handler(action)) ours.sa_flags |= SA_RESTART | SA_ONSTACK;
  return ours;
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_bus_error;
}

bool is_ignored(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

int change_action(const struct sigaction* wanted, struct sigaction* old) {
  struct sigaction now {};
  // In a child of vfork the memory is the parent's, but the actions are not.
  if (owner.load(std::memory_order_relaxed) != ::getpid() || set_action(nullptr, &now) != 0 ||
      !is_ours(now))
    return set_action(wanted, old);
  const struct sigaction before = programs_action();
  if (wanted != nullptr) {
    const struct sigaction action = *wanted;
    const struct sigaction ours = is_ignored(action) ? action : ours_for(action);
    note_programs_action(action);
    if (set_action(&ours, nullptr) != 0) {
      note_programs_action(before);
      return -1;
    }
  }
  if (old != nullptr) *old = before;
  return 0;
}

[[maybe_unused]] sighandler_t change_handler(sighandler_t handler, int flags) {
  struct sigaction wanted {
  }, old{};
  wanted.sa_handler = handler;
  wanted.sa_flags = flags;
  ::sigemptyset(&wanted.sa_mask);
  if ((flags & SA_NODEFER) == 0) ::sigaddset(&wanted.sa_mask, SIGBUS);
  return change_action(&wanted, &old) == 0 ? old.sa_handler : SIG_ERR;
}

[[maybe_unused]] sighandler_t pass_on(const char* name, int signal, sighandler_t handler) {
  if (SetHandler* function = next<SetHandler>(name)) return function(signal, handler);
  errno = ENOSYS;
  return SIG_ERR;
}

[[maybe_unused]] constexpr int kSystemV = SA_RESETHAND | SA_NODEFER;

}  // namespace

void rescue_from_bus_errors() {
  struct sigaction action {};
  if (owner.load(std::memory_order_relaxed) == ::getpid() || set_action(nullptr, &action) != 0 ||
      is_ignored(action))
    return;
  owner.store(::getpid(), std::memory_order_relaxed);
  if (is_ours(action)) return;
  note_programs_action(action);
  const struct sigaction ours = ours_for(action);
  set_action(&ours, nullptr);
}

void report_lost_files() {
  static constinit std::atomic<bool> reported = false;
  if (ring::lost_mappings() == 0 || reported.exchange(true)) return;
  report_to_user("records are missing", "files of the recording were truncated",
                 "do not touch the folder FILE.rings while a program is recorded");
}

void forget_bus_errors_after_fork() {
  // The child has the parent's actions, too.
  if (owner.load(std::memory_order_relaxed) != 0)
    owner.store(::getpid(), std::memory_order_relaxed);
}

}  // namespace streamscope::collect

// The thread sanitizer defines functions of these names itself, which a program linked with this
// library needs before any code of ours can run.
#if !defined(__SANITIZE_THREAD__)
#define STREAMSCOPE_INTERPOSED extern "C" __attribute__((visibility("default")))

STREAMSCOPE_INTERPOSED int sigaction(int signal, const struct sigaction* wanted,
                                     struct sigaction* old) noexcept {
  using namespace streamscope::collect;
  return signal == SIGBUS ? change_action(wanted, old) : pass_on(signal, wanted, old);
}

STREAMSCOPE_INTERPOSED sighandler_t signal(int signal, sighandler_t handler) noexcept {
  using namespace streamscope::collect;
  return signal == SIGBUS ? change_handler(handler, SA_RESTART)
                          : pass_on("signal", signal, handler);
}

// The meaning of `signal` for programs that request X/Open's.
STREAMSCOPE_INTERPOSED sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept {
  using namespace streamscope::collect;
  return signal == SIGBUS ? change_handler(handler, kSystemV)
                          : pass_on("__sysv_signal", signal, handler);
}

#endif
