// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/process/writer_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "collect/process/session.h"
#include "ring/control.h"
#include "ring/descriptor.h"

// libc's own name of clone: the thread sanitizer replaces the usual one, and would take the process
// that shares our memory for one with a copy of it.
extern "C" int __clone(int (*)(void*), void*, int, void*, ...);

namespace streamscope::collect {
namespace {

constexpr int kReadyTimeoutMs = 5000;
constexpr size_t kStackBytes = 64 * 1024;
constexpr int kMaxArguments = 48;
constexpr int kReadyFile = STDERR_FILENO + 1;  // number of the pipe in the helper
constexpr char kOutputVariable[] = "STREAMSCOPE_OUTPUT";

constinit char start_folder[PATH_MAX] = {};

struct Launch {
  const char* program;
  char* arguments[kMaxArguments];
  char** environment;
  const char* folder;  // where the writer starts; empty: the program's current folder
  int ready_file;
  bool says;  // writes to the program's standard error
  char* inner_stack;
  int error;  // errno of a failed exec
};

// Runs in the future helper. It shares our memory until execve, so it stores only to its own stack
// and makes system calls without their wrappers: replacements of those (by the program's own
// preloaded libraries or the thread sanitizer) keep state in the memory that we share.
int become_writer(void* pointer) {
  auto* launch = static_cast<Launch*>(pointer);
  // Handlers of the program must not run here; ignored signals would stay ignored in the helper.
  struct {
    void* handler;  // SIG_DFL
    unsigned long flags;
    void* restorer;
    uint64_t mask;
  } by_default{};  // the kernel's layout, which is not libc's struct sigaction
  for (int signal = 1; signal < NSIG; ++signal)
    ::syscall(SYS_rt_sigaction, signal, &by_default, nullptr, sizeof by_default.mask);
  ::syscall(SYS_setsid);  // Ctrl-C is for the program; the writer ends after it
  if (launch->ready_file == kReadyFile) {
    ::syscall(SYS_fcntl, kReadyFile, F_SETFD, 0);
  } else if (::syscall(SYS_dup3, launch->ready_file, kReadyFile, 0) < 0) {
    ::syscall(SYS_exit_group, 126);
  }
  if (::syscall(SYS_close_range, kReadyFile + 1, ~0u, 0) != 0) {
    for (int file = kReadyFile + 1; file < 65536; ++file) ::syscall(SYS_close, file);
  }
  // It may itself be one of these, if the program has closed that one.
  const long null = ::syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
  for (int file = STDIN_FILENO; null >= 0 && file <= STDERR_FILENO; ++file) {
    if (file != null && (file != STDERR_FILENO || !launch->says))
      ::syscall(SYS_dup3, null, file, 0);
  }
  if (launch->folder[0] != '\0') ::syscall(SYS_chdir, launch->folder);
  const uint64_t none = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
  ::syscall(SYS_execve, launch->program, launch->arguments, launch->environment);
  launch->error = errno;
  ::syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

// The intermediate process: its end makes the helper a child of init.
int become_parent(void* pointer) {
  auto* launch = static_cast<Launch*>(pointer);
  int child =
      __clone(become_writer, launch->inner_stack + kStackBytes, CLONE_VM | CLONE_VFORK, launch);
  ::syscall(SYS_exit_group, child > 0 ? 0 : 125);
  __builtin_unreachable();
}

bool executable(const char* path) { return ::access(path, X_OK) == 0; }

// STREAMSCOPE_BIN, relative to the library (../bin), then PATH.
bool find_program(char* path, size_t size) {
  auto fits = [size](int length) { return length > 0 && static_cast<size_t>(length) < size; };
  if (const char* named = ::secure_getenv("STREAMSCOPE_BIN"); named != nullptr && *named != '\0')
    return fits(std::snprintf(path, size, "%s", named)) && executable(path);
  const char* library = library_path();
  if (const char* slash = std::strrchr(library, '/')) {
    const int folder = static_cast<int>(slash - library);
    // lib/ next to bin/, also one level deeper as in lib/x86_64-linux-gnu/.
    for (const char* up : {"/../bin/streamscope", "/../../bin/streamscope"}) {
      if (fits(std::snprintf(path, size, "%.*s%s", folder, library, up)) && executable(path))
        return true;
    }
  }
  const char* at = ::secure_getenv("PATH");
  while (at != nullptr && *at != '\0') {
    const char* colon = ::strchrnul(at, ':');
    const int folder = static_cast<int>(colon - at);
    if (folder > 0 && fits(std::snprintf(path, size, "%.*s/streamscope", folder, at)) &&
        executable(path))
      return true;
    at = *colon == ':' ? colon + 1 : nullptr;
  }
  return false;
}

bool names_variable(const char* entry, const char* name) {
  size_t length = std::strlen(name);
  return std::strncmp(entry, name, length) == 0 && entry[length] == '=';
}

// The environment without the variables that would make the helper record itself.
char** helper_environment() {
  size_t count = 0;
  while (environ[count] != nullptr) ++count;
  auto** copy = static_cast<char**>(std::malloc((count + 1) * sizeof(char*)));
  if (copy == nullptr) return nullptr;
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    bool drop = false;
    for (const char* name : {"LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
                             kOtherNvtxVariable, ring::kRingsVariable})
      drop = drop || names_variable(environ[i], name);
    if (!drop) copy[kept++] = environ[i];
  }
  copy[kept] = nullptr;
  return copy;
}

// Reads the folder from the pipe within the time limit; a zero byte ends it.
bool read_folder(int file, char* folder, size_t size) {
  size_t used = 0;
  timespec start;
  ::clock_gettime(CLOCK_MONOTONIC, &start);
  for (;;) {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const long passed =
        (now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1'000'000;
    if (passed >= kReadyTimeoutMs) return false;
    pollfd wait{file, POLLIN, 0};
    int ready = ::poll(&wait, 1, static_cast<int>(kReadyTimeoutMs - passed));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    ssize_t got = ::read(file, folder + used, size - 1 - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += static_cast<size_t>(got);
    if (std::memchr(folder, '\0', used) != nullptr || used == size - 1) break;
  }
  folder[used] = '\0';
  return folder[0] == '/';
}

}  // namespace

const char* library_path() {
  static constinit char path[PATH_MAX] = {};
  if (path[0] == '\0') {
    Dl_info facts{};
    if (::dladdr(reinterpret_cast<void*>(&library_path), &facts) != 0 &&
        facts.dli_fname != nullptr) {
      if (::realpath(facts.dli_fname, path) == nullptr)
        std::snprintf(path, sizeof path, "%s", facts.dli_fname);
    }
  }
  return path;
}

void set_environment(const char* name, const char* value) {
  auto set = reinterpret_cast<decltype(&::setenv)>(::dlsym(RTLD_NEXT, "setenv"));
  if (set == nullptr) set = ::setenv;
  set(name, value, 1);
}

void unset_environment(const char* name) {
  auto unset = reinterpret_cast<decltype(&::unsetenv)>(::dlsym(RTLD_NEXT, "unsetenv"));
  (unset != nullptr ? unset : ::unsetenv)(name);
}

void reserve_environment(const char* name) {
  if (::secure_getenv(name) != nullptr) return;
  set_environment(name, "");
  unset_environment(name);
}

void remember_folder() {
  if (::getcwd(start_folder, sizeof start_folder) == nullptr) start_folder[0] = '\0';
  static constinit char path[2 * PATH_MAX] = {};
  for (const char* variable : {kOutputVariable, ring::kRunVariable}) {
    const char* output = ::secure_getenv(variable);
    if (output == nullptr || *output == '\0' || *output == '/' || start_folder[0] == '\0') continue;
    const int length = std::snprintf(path, sizeof path, "%s/%s", start_folder, output);
    if (length > 0 && static_cast<size_t>(length) < sizeof path) set_environment(variable, path);
  }
}

namespace {

// The options that variables set. The words stay valid.
template <class Add>
void add_options(Add add) {
  struct Option {
    const char* variable;
    const char* option;
  };
  for (Option option :
       {Option{kOutputVariable, "-o"}, Option{ring::kRunVariable, "--run"},
        Option{"STREAMSCOPE_TIER", "--tier"}, Option{"STREAMSCOPE_WITH", "--with"},
        Option{"STREAMSCOPE_GRAPHS", "--graphs"}, Option{"STREAMSCOPE_STACKS", "--stacks"},
        Option{"STREAMSCOPE_SOURCE", "--source"}, Option{"STREAMSCOPE_DELAY", "--delay"},
        Option{"STREAMSCOPE_DURATION", "--duration"},
        Option{"STREAMSCOPE_CAPTURE_RANGE", "--capture-range"},
        Option{"STREAMSCOPE_SAMPLES", "--samples"},
        Option{"STREAMSCOPE_HANG_TIMEOUT", "--hang-timeout"},
        Option{"STREAMSCOPE_ON_HANG", "--on-hang"},
        Option{"STREAMSCOPE_CONTROL_PORT", "--control-port"},
        Option{"STREAMSCOPE_FLIGHT_RECORDER", "--flight-recorder"}}) {
    const char* value = ::secure_getenv(option.variable);
    if (value == nullptr || *value == '\0') continue;
    add(option.option);
    add(value);
  }
  for (Option flag : {Option{"STREAMSCOPE_QUIET", "--quiet"},
                      Option{"STREAMSCOPE_START_LATER", "--start-later"}}) {
    const char* value = ::secure_getenv(flag.variable);
    if (value != nullptr && *value != '\0') add(flag.option);
  }
  // Its value is part of the word.
  static constinit char measure_cost[sizeof "--measure-cost=" + 256] = {};
  const char* progress = ::secure_getenv("STREAMSCOPE_MEASURE_COST");
  if (progress == nullptr || *progress == '\0') return;
  std::snprintf(measure_cost, sizeof measure_cost, "--measure-cost=%s", progress);
  add(measure_cost);
}

}  // namespace

bool start_writer(char* folder, size_t folder_size, const char** cause, const char** remedy) {
  static constinit char found[PATH_MAX] = {}, program[PATH_MAX] = {};
  // By its absolute path, as the helper may start in another folder.
  if (!find_program(found, sizeof found) || ::realpath(found, program) == nullptr) {
    *cause = "the program `streamscope` was not found";
    *remedy = "start with `streamscope record -- PROGRAM`, or name it in STREAMSCOPE_BIN";
    return false;
  }
  *cause = "the writer could not be started";
  *remedy = "start with `streamscope record -- PROGRAM`";

  Launch launch{};
  launch.program = program;
  launch.says = has_standard_error();
  launch.folder = start_folder;
  char target[16], ready[16];
  std::snprintf(target, sizeof target, "%d", static_cast<int>(::getpid()));
  std::snprintf(ready, sizeof ready, "%d", kReadyFile);
  int count = 0;
  auto add = [&launch, &count](const char* argument) {
    if (count < kMaxArguments - 1) launch.arguments[count++] = const_cast<char*>(argument);
  };
  for (const char* argument :
       {static_cast<const char*>(program), "record", "--attach-writer", "--ready-fd",
        static_cast<const char*>(ready), "--target", static_cast<const char*>(target)})
    add(argument);
  add_options(add);
  launch.environment = helper_environment();
  if (launch.environment == nullptr) return false;

  int pipe_files[2] = {-1, -1};
  auto* stacks = static_cast<char*>(::mmap(nullptr, 2 * kStackBytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0));
  bool started = false;
  if (stacks != MAP_FAILED && ring::pipe_high(pipe_files)) {
    launch.ready_file = pipe_files[1];
    launch.inner_stack = stacks;
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    // Exit signal 0: no SIGCHLD, and only __WCLONE waits for it.
    int child = __clone(become_parent, stacks + 2 * kStackBytes, CLONE_VM | CLONE_VFORK, &launch);
    if (child > 0) {
      int status = 0;
      while (::waitpid(child, &status, __WCLONE) < 0 && errno == EINTR) {
      }
      started = WIFEXITED(status) && WEXITSTATUS(status) == 0 && launch.error == 0;
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::close(pipe_files[1]);
    if (started) {
      started = read_folder(pipe_files[0], folder, folder_size);
      if (!started) *cause = "the writer did not become ready";
    }
    ::close(pipe_files[0]);
  }
  if (stacks != MAP_FAILED) ::munmap(stacks, 2 * kStackBytes);
  std::free(launch.environment);
  return started;
}

}  // namespace streamscope::collect
