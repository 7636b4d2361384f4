// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "collect/process/session.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "collect/process/answers.h"
#include "collect/process/bus_errors.h"
#include "collect/process/gate.h"
#include "collect/process/thread_state.h"
#include "collect/process/writer_process.h"
#include "collect/stacks/stacks.h"
#include "ring/descriptor.h"
#include "ring/guard.h"
#include "ring/held_signals.h"
#include "ring/process.h"
#include "vocabulary/rank.h"

namespace streamscope::collect {

constinit Session session;

namespace {

constexpr size_t kMaxTextBytes =
    16 * 1024;  // of a command line or an environment; the rest is dropped

constinit std::mutex start_mutex;

struct {
  dev_t device = 0;
  ino_t file = 0;
  bool is_open = false;
} constinit standard_error;

// Nothing if there is no run in the folder, or its writer is gone; `error` is then 0. Otherwise it
// is the errno of what prevents this process from joining.
const ring::Control* map_control(const char* folder, int* error) {
  *error = 0;
  // No larger than needed: the program's stack may be small.
  const size_t bytes = std::strlen(folder) + sizeof ring::kControlFile + 1;
  char* const path = static_cast<char*>(__builtin_alloca(bytes));
  std::snprintf(path, bytes, "%s/%s", folder, ring::kControlFile);
  int file = ring::open_high(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) {
    *error = errno == ENOENT ? 0 : errno;
    return nullptr;
  }
  struct stat facts {};
  void* base = MAP_FAILED;
  if (::fstat(file, &facts) != 0) {
    *error = errno;
  } else if (facts.st_size >= static_cast<off_t>(sizeof(ring::Control))) {
    base = ::mmap(nullptr, sizeof(ring::Control), PROT_READ, MAP_SHARED, file, 0);
    if (base == MAP_FAILED) *error = errno;
  }
  ::close(file);
  if (base == MAP_FAILED) return nullptr;
  auto* control = static_cast<const ring::Control*>(base);
  rescue_from_bus_errors();
  ring::guard(control, sizeof(ring::Control), true);
  if (std::memcmp(control->magic, ring::kControlMagic, sizeof control->magic) != 0 ||
      control->layout_version != ring::kLayoutVersion ||
      control->stop.load(std::memory_order_relaxed) != 0 ||
      !ring::process_alive(control->writer_pid, control->writer_start)) {
    ring::unguard(control);
    ::munmap(base, sizeof(ring::Control));
    return nullptr;
  }
  return control;
}

size_t read_file(const char* path, char* buffer, size_t size) {
  int file = ring::open_high(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  size_t used = 0;
  while (used < size) {
    ssize_t got = ::read(file, buffer + used, size - used);
    if (got <= 0) break;
    used += static_cast<size_t>(got);
  }
  ::close(file);
  return used;
}

void write_process_record(ThreadState& thread, const char* collector) {
  auto* buffer = static_cast<char*>(std::malloc(kMaxTextBytes));
  if (buffer == nullptr) return;
  ring::ProcessRecord record{};
  record.kind = ring::RecordKind::kProcess;
  record.parent_pid = static_cast<uint32_t>(::getppid());
  record.begin = ticks();

  ssize_t length = ::readlink("/proc/self/exe", buffer, kMaxTextBytes);
  if (length > 0) record.executable = send_text(thread, {buffer, static_cast<size_t>(length)});

  size_t bytes = read_file("/proc/self/cmdline", buffer, kMaxTextBytes);
  while (bytes > 0 && buffer[bytes - 1] == '\0') --bytes;
  record.command_line = send_text(thread, {buffer, bytes});

  // Only what configures CUDA, NCCL and this recording, and the rank; the rest of the environment
  // is private.
  bytes = 0;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const char* text = *entry;
    if (std::strncmp(text, "STREAMSCOPE_CONTROL_TOKEN=", 26) == 0) continue;
    if (std::strncmp(text, "CUDA_", 5) != 0 && std::strncmp(text, "NCCL_", 5) != 0 &&
        std::strncmp(text, "STREAMSCOPE_", 12) != 0 &&
        !is_rank_variable({text, std::strcspn(text, "=")}))
      continue;
    size_t size = std::strlen(text);
    if (bytes + size + 1 > kMaxTextBytes) break;
    if (bytes != 0) buffer[bytes++] = '\0';
    std::memcpy(buffer + bytes, text, size);
    bytes += size;
  }
  record.environment = send_text(thread, {buffer, bytes});
  std::free(buffer);

  utsname host{};
  if (::uname(&host) == 0) record.host = send_text(thread, host.nodename);
  record.collector = send_text(thread, collector);
  thread.push(record);
}

// `seen_before`: changes that were announced before the session began, as a number.
void* watch_control(void* seen_before) {
  const uint32_t epoch = session.epoch.load(std::memory_order_relaxed);
  // The ring is made at the first switch: most recordings never switch, and then this thread has
  // nothing to record.
  auto seen = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(seen_before));
  while (running() && session.epoch.load(std::memory_order_relaxed) == epoch) {
    sleep_until_switch(seen, is_answering());
    seen = session.control->changes.load(std::memory_order_acquire);
    // Without its control file the writer cannot be reached any more.
    const bool stop = session.control->stop.load(std::memory_order_relaxed) != 0 ||
                      ring::is_lost(session.control);
    report_lost_files();
    if (stop) {
      session.collecting_since.store(kNever, std::memory_order_relaxed);
      session.state.store(SessionState::kEnded, std::memory_order_release);
      if (auto detach = session.detach.load()) detach();
      break;
    }
    update_gate();
    answer_questions();
  }
  return nullptr;
}

void report_unopened(int error) {
  char cause[160];
  std::snprintf(cause, sizeof cause, "the recording's control file cannot be opened: %s",
                std::strerror(error));
  report_to_user("not recording", cause, "check the limits of this process (ulimit -n, ulimit -v)");
}

RankClaim own_rank() {
  return read_rank([](std::string_view name) -> std::string_view {
    char text[64];  // longer than any of these names
    text[name.copy(text, sizeof text - 1)] = '\0';
    const char* value = ::secure_getenv(text);
    return value == nullptr ? std::string_view() : value;
  });
}

// True if the rings that this process inherits are for another rank than it is.
bool needs_own_trace(const RankClaim& rank) {
  const char* run = ::secure_getenv(ring::kRunVariable);
  if (run == nullptr || *run == '\0' || !rank.is_known()) return false;
  const char* theirs = ::secure_getenv(ring::kRankVariable);
  return theirs == nullptr || rank_number(theirs) != rank.rank;
}

const ring::Control* find_run(char* folder, size_t size) {
  const char* inherited = ::secure_getenv(ring::kRingsVariable);
  const RankClaim rank = own_rank();
  if (inherited != nullptr && *inherited != '\0' && std::strlen(inherited) < size &&
      !needs_own_trace(rank)) {
    int error = 0;
    if (const ring::Control* control = map_control(inherited, &error)) {
      std::strcpy(folder, inherited);
      return control;
    }
    if (error != 0) {
      report_unopened(error);
      return nullptr;
    }
  }
  // No run, or one whose writer is gone: this process starts its own.
  const char* cause = nullptr;
  const char* remedy = nullptr;
  if (!start_writer(folder, size, &cause, &remedy)) {
    report_to_user("not recording", cause, remedy);
    return nullptr;
  }
  set_environment(ring::kRingsVariable, folder);  // children join this run
  char number[16] = "";
  if (rank.is_known()) std::snprintf(number, sizeof number, "%d", rank.rank);
  set_environment(ring::kRankVariable, number);
  int error = 0;
  const ring::Control* control = map_control(folder, &error);
  if (control == nullptr && error == 0) {
    report_to_user("not recording", "the writer's control file cannot be used",
                   "use `streamscope` and the library of one installation");
  } else if (control == nullptr) {
    report_unopened(error);
  }
  return control;
}

}  // namespace

int64_t monotonic_ns() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

void report_collector(const char* text) {
  if (ThreadState* thread = this_thread()) write_process_record(*thread, text);
}

void note_standard_error() {
  struct stat facts {};
  if (::fstat(STDERR_FILENO, &facts) != 0) return;
  standard_error = {facts.st_dev, facts.st_ino, true};
}

bool has_standard_error() {
  struct stat facts {};
  return standard_error.is_open && ::fstat(STDERR_FILENO, &facts) == 0 &&
         facts.st_dev == standard_error.device && facts.st_ino == standard_error.file;
}

void report_to_user(const char* what, const char* cause, const char* remedy) {
  if (!has_standard_error()) return;
  char line[1024];
  int length = std::snprintf(line, sizeof line, "streamscope: %s: %s; %s\n", what, cause, remedy);
  if (length > static_cast<int>(sizeof line) - 1) {
    length = sizeof line - 1;
    line[length - 1] = '\n';
  }
  const ring::HeldSignals held;
  if (length > 0) (void)!::write(STDERR_FILENO, line, static_cast<size_t>(length));
}

bool start_session(const char* (*collector)()) {
  if (running()) return true;
  std::lock_guard lock(start_mutex);
  SessionState state = session.state.load(std::memory_order_acquire);
  if (state != SessionState::kIdle) return state == SessionState::kRunning;
  session.state.store(SessionState::kStarting, std::memory_order_relaxed);
  session.clock = ring::best_clock();
  session.control = find_run(session.rings_folder, sizeof session.rings_folder);
  if (session.control == nullptr) {
    session.state.store(SessionState::kRefused, std::memory_order_release);
    return false;
  }
  const uint32_t changes = session.control->changes.load(std::memory_order_acquire);
  const bool collect = open_gate();
  if (session.control->sample_hz != 0) prepare_stacks();  // threads say where their frames are
  session.state.store(SessionState::kRunning, std::memory_order_release);

  ThreadState* thread = this_thread();
  if (thread == nullptr) {
    session.state.store(SessionState::kRefused, std::memory_order_release);
    char cause[160];
    const int error = ring_refusal();
    std::snprintf(cause, sizeof cause, "no ring could be created in the folder of the run: %s",
                  std::strerror(error));
    report_to_user("not recording", cause,
                   error == ENOSPC || error == EDQUOT ? "free space there"
                   : error == EMFILE || error == ENFILE
                       ? "raise the limit on open files (ulimit -n)"
                       : "check that the folder is writable");
    return false;
  }
  const auto pid = static_cast<uint32_t>(::getpid());
  session.process_start = ring::process_start(pid);
  session.pid.store(pid, std::memory_order_release);
  write_process_record(*thread, collector());
  if (!collect || session.control->on_demand != 0) {
    ring::CollectingRecord record{};
    record.kind = ring::RecordKind::kCollecting;
    record.on = collect ? 1 : 0;
    if (!collect) record.begin = ticks();  // else from the beginning
    thread->push(record);
  }
  // Lets the writer read the stacks of a hung program, also where only parents may.
  ::prctl(PR_SET_PTRACER, session.control->writer_pid, 0, 0, 0);
  start_thread("streamscope", watch_control, reinterpret_cast<void*>(uintptr_t{changes}));
  return true;
}

void report_loss(ring::Loss loss, uint64_t count, const char* detail, uint64_t first,
                 uint64_t last) {
  ThreadState* thread = this_thread();
  if (thread == nullptr) return;
  ring::LossRecord record{};
  record.kind = ring::RecordKind::kLoss;
  record.loss = static_cast<uint16_t>(loss);
  record.count = count;
  record.first = first != 0 ? first : ticks();
  record.last = last != 0 ? last : ticks();
  if (detail != nullptr) record.detail = send_text(*thread, detail);
  thread->push(record);
}

void end_session(uint64_t cupti_dropped) {
  if (!running()) return;
  report_refused_threads();
  if (ThreadState* thread = this_thread()) {
    ring::EndRecord record{};
    record.kind = ring::RecordKind::kEnd;
    record.begin = ticks();
    record.callbacks = total_calls();
    record.cupti_dropped = cupti_dropped;
    thread->push(record);
  }
  report_lost_files();
}

void let_calls_pass(bool pass) {
  if (session.passing.exchange(pass) == pass) return;
  if (auto* const changed = session.passing_changed.load(std::memory_order_acquire)) changed();
}

void count_captures(int32_t change) {
  const int32_t before = session.active_captures.fetch_add(change);
  if ((before == 0) == (before + change == 0) || !session.passing.load()) return;
  if (auto* const changed = session.passing_changed.load(std::memory_order_acquire)) changed();
}

void forget_session_after_fork() {
  new (&start_mutex) std::mutex;
  session.epoch.fetch_add(1, std::memory_order_relaxed);
  forget_gate_after_fork();
  session.pid.store(0, std::memory_order_relaxed);
  session.control = nullptr;  // the mapping of the parent stays; it is read-only
  session.state.store(SessionState::kIdle, std::memory_order_release);
  forget_answers_after_fork();
  forget_threads_after_fork();
}

bool start_thread(const char* name, void* (*body)(void*), void* argument) {
  struct Start {
    const char* name;
    void* (*body)(void*);
    void* argument;
  };
  auto* start = static_cast<Start*>(std::malloc(sizeof(Start)));
  if (start == nullptr) return false;
  *start = {name, body, argument};
  auto run = [](void* pointer) -> void* {
    Start given = *static_cast<Start*>(pointer);
    std::free(pointer);
    ::pthread_setname_np(::pthread_self(), given.name);
    return given.body(given.argument);
  };
  // The program's signal handlers must never run on our threads: the mask is inherited at creation.
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigdelset(&all, SIGBUS);  // ring/guard.h
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, 512 * 1024);
  pthread_t thread;
  int error = ::pthread_create(&thread, &attributes, run, start);
  ::pthread_attr_destroy(&attributes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) std::free(start);
  return error == 0;
}

}  // namespace streamscope::collect
