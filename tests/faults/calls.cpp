// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The functions of libc that the injector replaces. Each calls decide() and then fails, does less,
// or calls the real one.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "injector.h"

using namespace faults;

namespace {

template <typename Function>
Function next(Function* known, const char* name) {
  if (*known == nullptr) *known = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
  return *known;
}

template <typename Result, typename Function, typename... Arguments>
Result pass(const Verdict& verdict, Result failure, Function real, Arguments... arguments) {
  if (verdict.error != 0) {
    errno = verdict.error;
    return failure;
  }
  Result result = real(arguments...);
  if (verdict.kill_after) die();
  return result;
}

size_t half(size_t bytes) { return bytes > 1 ? bytes / 2 : bytes; }

}  // namespace

#define REAL(name)                                 \
  static decltype(&::name) known_##name = nullptr; \
  [[maybe_unused]] auto* const real = next(&known_##name, #name)
#define VERDICT(name, kinds, file) \
  Verdict verdict = decide(#name, kinds, __builtin_return_address(0), file)

// WRAP(result, name, (parameters), (arguments), kinds, descriptor, failure)
#define UNPACK(...) __VA_OPT__(, ) __VA_ARGS__
#define WRAP(result, name, parameters, arguments, kinds, file, failure)      \
  extern "C" __attribute__((visibility("default"))) result name parameters { \
    REAL(name);                                                              \
    VERDICT(name, kinds, file);                                              \
    return pass<result>(verdict, failure, real UNPACK arguments);            \
  }
// The same for functions that may do only a part: `size` is halved.
#define WRAP_PART(result, name, parameters, arguments, kinds, file, size)    \
  extern "C" __attribute__((visibility("default"))) result name parameters { \
    REAL(name);                                                              \
    VERDICT(name, kinds, file);                                              \
    if (verdict.is_short) size = half(size);                                 \
    return pass<result>(verdict, -1, real UNPACK arguments);                 \
  }
// The same for functions that return the error number.
#define WRAP_CODE(name, parameters, arguments, kinds, file)                                   \
  extern "C" __attribute__((visibility("default"))) int name parameters {                     \
    REAL(name);                                                                               \
    VERDICT(name, kinds, file);                                                               \
    return verdict.error != 0 ? verdict.error : pass<int>(verdict, 0, real UNPACK arguments); \
  }

#pragma GCC diagnostic push
// NOLINTNEXTLINE(clang-diagnostic-unknown-warning-option)
#pragma GCC diagnostic ignored "-Wnonnull-compare"
#pragma GCC diagnostic ignored "-Wvarargs"  // an enum as the last named argument

// Opening. A call that may create also takes disk space and makes a name.
namespace {
uint32_t open_kinds(int flags) {
  return kDescriptor | ((flags & O_CREAT) != 0 ? kSpace | kName : 0);
}
mode_t mode_argument(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}
}  // namespace

#define WRAP_OPEN(name)                                                                          \
  extern "C" __attribute__((visibility("default"))) int name(const char* path, int flags, ...) { \
    REAL(name);                                                                                  \
    va_list arguments;                                                                           \
    va_start(arguments, flags);                                                                  \
    const mode_t mode = mode_argument(flags, arguments);                                         \
    va_end(arguments);                                                                           \
    VERDICT(name, open_kinds(flags), -1);                                                        \
    return pass<int>(verdict, -1, real, path, flags, mode);                                      \
  }
#define WRAP_OPENAT(name)                                                                  \
  extern "C" __attribute__((visibility("default"))) int name(int folder, const char* path, \
                                                             int flags, ...) {             \
    REAL(name);                                                                            \
    va_list arguments;                                                                     \
    va_start(arguments, flags);                                                            \
    const mode_t mode = mode_argument(flags, arguments);                                   \
    va_end(arguments);                                                                     \
    VERDICT(name, open_kinds(flags), -1);                                                  \
    return pass<int>(verdict, -1, real, folder, path, flags, mode);                        \
  }
WRAP_OPEN(open)
WRAP_OPEN(open64)
WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)
WRAP(int, creat, (const char* path, mode_t mode), (path, mode), kDescriptor | kSpace | kName, -1,
     -1)
WRAP(FILE*, fopen, (const char* path, const char* mode), (path, mode), kDescriptor, -1, nullptr)
WRAP(FILE*, fopen64, (const char* path, const char* mode), (path, mode), kDescriptor, -1, nullptr)
WRAP(DIR*, opendir, (const char* path), (path), kDescriptor, -1, nullptr)
WRAP(DIR*, fdopendir, (int file), (file), kDescriptor, file, nullptr)
WRAP(dirent*, readdir, (DIR * folder), (folder), kLook, -1, nullptr)
WRAP(dirent64*, readdir64, (DIR * folder), (folder), kLook, -1, nullptr)
WRAP(int, mkstemp, (char* path), (path), kDescriptor | kSpace | kName, -1, -1)
WRAP(int, mkostemp, (char* path, int flags), (path, flags), kDescriptor | kSpace | kName, -1, -1)
WRAP(int, mkostemp64, (char* path, int flags), (path, flags), kDescriptor | kSpace | kName, -1, -1)
WRAP(char*, mkdtemp, (char* path), (path), kSpace | kName, -1, nullptr)
WRAP(int, dup, (int file), (file), kDescriptor, file, -1)
WRAP(int, dup2, (int file, int other), (file, other), kOther, file, -1)
WRAP(int, dup3, (int file, int other, int flags), (file, other, flags), kOther, file, -1)
WRAP(int, pipe, (int files[2]), (files), kDescriptor, -1, -1)
WRAP(int, pipe2, (int files[2], int flags), (files, flags), kDescriptor, -1, -1)
WRAP(int, socket, (int domain, int type, int protocol), (domain, type, protocol), kDescriptor, -1,
     -1)
WRAP(int, memfd_create, (const char* name, unsigned flags), (name, flags), kDescriptor, -1, -1)

// Data.
WRAP_PART(ssize_t, read, (int file, void* to, size_t size), (file, to, size), kRead, file, size)
WRAP_PART(ssize_t, pread, (int file, void* to, size_t size, off_t at), (file, to, size, at), kRead,
          file, size)
WRAP_PART(ssize_t, pread64, (int file, void* to, size_t size, off64_t at), (file, to, size, at),
          kRead, file, size)
WRAP(ssize_t, readv, (int file, const iovec* parts, int count), (file, parts, count), kRead, file,
     -1)
WRAP_PART(ssize_t, write, (int file, const void* from, size_t size), (file, from, size), kWrite,
          file, size)
WRAP_PART(ssize_t, pwrite, (int file, const void* from, size_t size, off_t at),
          (file, from, size, at), kWrite, file, size)
WRAP_PART(ssize_t, pwrite64, (int file, const void* from, size_t size, off64_t at),
          (file, from, size, at), kWrite, file, size)
WRAP(ssize_t, writev, (int file, const iovec* parts, int count), (file, parts, count), kWrite, file,
     -1)
WRAP_PART(ssize_t, copy_file_range,
          (int from, off64_t* from_at, int to, off64_t* to_at, size_t size, unsigned flags),
          (from, from_at, to, to_at, size, flags), kWrite, to, size)
WRAP_PART(ssize_t, sendfile, (int to, int from, off_t* at, size_t size), (to, from, at, size),
          kWrite, to, size)
WRAP_PART(ssize_t, sendfile64, (int to, int from, off64_t* at, size_t size), (to, from, at, size),
          kWrite, to, size)
WRAP(size_t, fwrite, (const void* from, size_t size, size_t count, FILE* file),
     (from, size, count, file), kOther, ::fileno(file), 0)
WRAP(size_t, fread, (void* to, size_t size, size_t count, FILE* file), (to, size, count, file),
     kOther, -1, 0)
WRAP(int, fputs, (const char* text, FILE* file), (text, file), kOther, ::fileno(file), EOF)
WRAP(char*, fgets, (char* to, int size, FILE* file), (to, size, file), kOther, -1, nullptr)
extern "C" __attribute__((visibility("default"))) int fflush(FILE* file) {
  REAL(fflush);
  if (file == nullptr || ::__fpending(file) == 0) return real(file);  // nothing that could fail
  VERDICT(fflush, kOther, ::fileno(file));
  return pass<int>(verdict, EOF, real, file);
}
WRAP(int, fsync, (int file), (file), kSync, file, -1)
WRAP(int, fdatasync, (int file), (file), kSync, file, -1)
WRAP(int, msync, (void* at, size_t size, int flags), (at, size, flags), kSync, -1, -1)
WRAP(int, ftruncate, (int file, off_t size), (file, size), kSpace, file, -1)
WRAP(int, ftruncate64, (int file, off64_t size), (file, size), kSpace, file, -1)
WRAP(int, truncate, (const char* path, off_t size), (path, size), kSpace, -1, -1)
WRAP(int, fallocate, (int file, int mode, off_t at, off_t size), (file, mode, at, size), kSpace,
     file, -1)
WRAP(int, fallocate64, (int file, int mode, off64_t at, off64_t size), (file, mode, at, size),
     kSpace, file, -1)
WRAP_CODE(posix_fallocate, (int file, off_t at, off_t size), (file, at, size), kSpace, file)
WRAP_CODE(posix_fallocate64, (int file, off64_t at, off64_t size), (file, at, size), kSpace, file)
WRAP(off_t, lseek, (int file, off_t at, int from), (file, at, from), kLook, file, -1)
WRAP(off64_t, lseek64, (int file, off64_t at, int from), (file, at, from), kLook, file, -1)

// Closing always happens, whatever it returns, as in Linux.
#define WRAP_CLOSE(name, type, number)                                    \
  extern "C" __attribute__((visibility("default"))) int name(type file) { \
    REAL(name);                                                           \
    VERDICT(name, kOther, number);                                        \
    const int result = real(file);                                        \
    if (verdict.kill_after) die();                                        \
    if (verdict.error == 0) return result;                                \
    errno = verdict.error;                                                \
    return -1;                                                            \
  }
WRAP_CLOSE(close, int, file)
WRAP_CLOSE(fclose, FILE*, -1)

// Memory.
WRAP(void*, mmap, (void* at, size_t size, int protection, int flags, int file, off_t offset),
     (at, size, protection, flags, file, offset), kMapping, file, MAP_FAILED)
WRAP(void*, mmap64, (void* at, size_t size, int protection, int flags, int file, off64_t offset),
     (at, size, protection, flags, file, offset), kMapping, file, MAP_FAILED)
WRAP(int, munmap, (void* at, size_t size), (at, size), kOther, -1, -1)
WRAP(int, mprotect, (void* at, size_t size, int protection), (at, size, protection), kMapping, -1,
     -1)
WRAP(int, madvise, (void* at, size_t size, int advice), (at, size, advice), kOther, -1, -1)
extern "C" __attribute__((visibility("default"))) void* mremap(void* at, size_t size, size_t wanted,
                                                               int flags, ...) {
  REAL(mremap);
  VERDICT(mremap, kMapping, -1);
  va_list arguments;
  va_start(arguments, flags);
  void* to = (flags & MREMAP_FIXED) != 0 ? va_arg(arguments, void*) : nullptr;
  va_end(arguments);
  return pass<void*>(verdict, MAP_FAILED, real, at, size, wanted, flags, to);
}

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
}
extern "C" __attribute__((visibility("default"))) void* malloc(size_t size) {
  VERDICT(malloc, kHeap, -1);
  return pass<void*>(verdict, nullptr, __libc_malloc, size);
}
extern "C" __attribute__((visibility("default"))) void* calloc(size_t count, size_t size) {
  VERDICT(calloc, kHeap, -1);
  return pass<void*>(verdict, nullptr, __libc_calloc, count, size);
}
extern "C" __attribute__((visibility("default"))) void* realloc(void* at, size_t size) {
  VERDICT(realloc, kHeap, -1);
  return pass<void*>(verdict, nullptr, __libc_realloc, at, size);
}

// Names.
WRAP(int, unlink, (const char* path), (path), kName, -1, -1)
WRAP(int, unlinkat, (int folder, const char* path, int flags), (folder, path, flags), kName, -1, -1)
WRAP(int, remove, (const char* path), (path), kName, -1, -1)
WRAP(int, rename, (const char* from, const char* to), (from, to), kName, -1, -1)
WRAP(int, link, (const char* from, const char* to), (from, to), kName | kSpace, -1, -1)
WRAP(int, symlink, (const char* from, const char* to), (from, to), kName | kSpace, -1, -1)
WRAP(int, mkdir, (const char* path, mode_t mode), (path, mode), kName | kSpace, -1, -1)
WRAP(int, rmdir, (const char* path), (path), kName, -1, -1)
WRAP(int, chmod, (const char* path, mode_t mode), (path, mode), kName, -1, -1)
WRAP(int, fchmod, (int file, mode_t mode), (file, mode), kName, file, -1)
WRAP(int, fchown, (int file, uid_t user, gid_t group), (file, user, group), kName, file, -1)

// Queries.
WRAP(int, stat, (const char* path, struct stat* facts), (path, facts), kLook, -1, -1)
WRAP(int, stat64, (const char* path, struct stat64* facts), (path, facts), kLook, -1, -1)
WRAP(int, lstat, (const char* path, struct stat* facts), (path, facts), kLook, -1, -1)
WRAP(int, lstat64, (const char* path, struct stat64* facts), (path, facts), kLook, -1, -1)
WRAP(int, fstat, (int file, struct stat* facts), (file, facts), kLook, file, -1)
WRAP(int, fstat64, (int file, struct stat64* facts), (file, facts), kLook, file, -1)
WRAP(int, fstatat, (int folder, const char* path, struct stat* facts, int flags),
     (folder, path, facts, flags), kLook, -1, -1)
WRAP(int, statvfs, (const char* path, struct statvfs* facts), (path, facts), kLook, -1, -1)
WRAP(int, fstatvfs, (int file, struct statvfs* facts), (file, facts), kLook, file, -1)
WRAP(int, statfs, (const char* path, struct statfs* facts), (path, facts), kLook, -1, -1)
WRAP(int, access, (const char* path, int mode), (path, mode), kLook, -1, -1)
WRAP(ssize_t, readlink, (const char* path, char* to, size_t size), (path, to, size), kLook, -1, -1)
WRAP(char*, realpath, (const char* path, char* to), (path, to), kLook, -1, nullptr)
WRAP(char*, getcwd, (char* to, size_t size), (to, size), kLook, -1, nullptr)
WRAP(int, getrlimit, (__rlimit_resource_t what, struct rlimit* limit), (what, limit), kOther, -1,
     -1)
WRAP(int, setrlimit, (__rlimit_resource_t what, const struct rlimit* limit), (what, limit), kOther,
     -1, -1)

// Locks and waiting.
namespace {
using Fcntl = int (*)(int, int, ...);
int fcntl_as(const char* name, Fcntl real, const void* caller, int file, int command,
             void* argument) {
  const bool makes = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  return pass<int>(decide(name, makes ? kDescriptor : kOther, caller, file), -1, real, file,
                   command, argument);
}
}  // namespace
#define WRAP_FCNTL(name)                                                                   \
  extern "C" __attribute__((visibility("default"))) int name(int file, int command, ...) { \
    REAL(name);                                                                            \
    va_list arguments;                                                                     \
    va_start(arguments, command);                                                          \
    void* argument = va_arg(arguments, void*);                                             \
    va_end(arguments);                                                                     \
    return fcntl_as(#name, real, __builtin_return_address(0), file, command, argument);    \
  }
WRAP_FCNTL(fcntl)
WRAP_FCNTL(fcntl64)
WRAP(int, flock, (int file, int operation), (file, operation), kOther, file, -1)
WRAP(int, poll, (pollfd * files, nfds_t count, int limit), (files, count, limit), kOther, -1, -1)
WRAP(int, nanosleep, (const timespec* wanted, timespec* left), (wanted, left), kOther, -1, -1)
WRAP(int, usleep, (useconds_t wanted), (wanted), kOther, -1, -1)
WRAP_CODE(clock_nanosleep, (clockid_t clock, int flags, const timespec* wanted, timespec* left),
          (clock, flags, wanted, left), kOther, -1)
WRAP(int, sigtimedwait, (const sigset_t* set, siginfo_t* info, const timespec* limit),
     (set, info, limit), kOther, -1, -1)
WRAP(int, sigaction, (int signal, const struct sigaction* action, struct sigaction* before),
     (signal, action, before), kOther, -1, -1)
WRAP(pid_t, waitpid, (pid_t pid, int* status, int options), (pid, status, options), kOther, -1, -1)

// Threads and processes.
WRAP_CODE(pthread_create,
          (pthread_t * thread, const pthread_attr_t* attributes, void* (*body)(void*),
           void* argument),
          (thread, attributes, body, argument), kTask, -1)
WRAP_CODE(pthread_key_create, (pthread_key_t * key, void (*end)(void*)), (key, end), kOther, -1)
WRAP(pid_t, fork, (), (), kTask, -1, -1)
WRAP(int, execvp, (const char* file, char* const* arguments), (file, arguments), kTask, -1, -1)
WRAP(pid_t, setsid, (), (), kOther, -1, -1)
WRAP(int, kill, (pid_t pid, int signal), (pid, signal), kOther, -1, -1)
WRAP(ssize_t, process_vm_readv,
     (pid_t pid, const iovec* to, unsigned long to_count, const iovec* from,
      unsigned long from_count, unsigned long flags),
     (pid, to, to_count, from, from_count, flags), kOther, -1, -1)

#define WRAP_REGISTERS(result, name, first, type)                                   \
  extern "C" __attribute__((visibility("default"))) result name(first which, ...) { \
    REAL(name);                                                                     \
    VERDICT(name, kOther, -1);                                                      \
    va_list list;                                                                   \
    va_start(list, which);                                                          \
    type a = va_arg(list, type);                                                    \
    type b = va_arg(list, type);                                                    \
    type c = va_arg(list, type);                                                    \
    type d = va_arg(list, type);                                                    \
    va_end(list);                                                                   \
    return pass<result>(verdict, -1, real, which, a, b, c, d);                      \
  }
WRAP_REGISTERS(int, prctl, int, unsigned long)
extern "C" __attribute__((visibility("default"))) int ioctl(int file, unsigned long request, ...) {
  REAL(ioctl);
  VERDICT(ioctl, kOther, file);
  va_list list;
  va_start(list, request);
  void* argument = va_arg(list, void*);
  va_end(list);
  return pass<int>(verdict, -1, real, file, request, argument);
}
using Pointer = void*;
WRAP_REGISTERS(long, ptrace, __ptrace_request, Pointer)

// Calls without libc's wrapper; distinguished by their number.
extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) {
  REAL(syscall);
  va_list list;
  va_start(list, number);
  const long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long),
             d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
  va_end(list);
  const char* name = "syscall";
  switch (number) {
    case SYS_exit:
    case SYS_exit_group:
    case SYS_futex:  // not an interruptible wait
      return real(number, a, b, c, d, e, f);
    case SYS_rt_sigaction:
      name = "syscall:rt_sigaction";
      break;
    case SYS_rt_sigprocmask:
      name = "syscall:rt_sigprocmask";
      break;
    case SYS_setsid:
      name = "syscall:setsid";
      break;
    case SYS_openat:
      name = "syscall:openat";
      break;
    case SYS_dup3:
      name = "syscall:dup3";
      break;
    case SYS_fcntl:
      name = "syscall:fcntl";
      break;
    case SYS_close_range:
      name = "syscall:close_range";
      break;
    case SYS_close:
      name = "syscall:close";
      break;
    case SYS_execve:
      name = "syscall:execve";
      break;
    default:
      break;
  }
  const Verdict verdict = decide(name, kOther, __builtin_return_address(0), -1);
  return pass<long>(verdict, -1, real, number, a, b, c, d, e, f);
}
extern "C" int __clone(int (*)(void*), void*, int, void*, ...);
extern "C" __attribute__((visibility("default"))) int __clone(int (*body)(void*), void* stack,
                                                              int flags, void* argument, ...) {
  REAL(__clone);
  VERDICT(__clone, kTask, -1);
  return pass<int>(verdict, -1, real, body, stack, flags, argument);
}

// What runs before main belongs to the loader and the libraries.
namespace {
using Main = int (*)(int, char**, char**);
Main their_main = nullptr;
int our_main(int argc, char** argv, char** environment) {
  main_begins();
  return their_main(argc, argv, environment);
}
}  // namespace
extern "C" __attribute__((visibility("default"))) int __libc_start_main(
    Main main, int argc, char** argv, void (*begin)(), void (*end)(), void (*loader_end)(),
    void* stack) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  their_main = main;
  return reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"))(
      our_main, argc, argv, begin, end, loader_end, stack);
}
#pragma GCC diagnostic pop
