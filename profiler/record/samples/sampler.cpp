// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "sampler.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <string>

#include "record/run/files.h"
#include "ring/ring.h"
#include "stopped_stack.h"
#include "vocabulary/fnv1a.h"
#include "vocabulary/system_call.h"

namespace streamscope::record {
namespace {

constexpr size_t kMostWaiting = 1 << 16;  // samples that nobody has taken
constexpr std::chrono::milliseconds kLatePoll{1};

// The number in a trace of a system call of this machine.
int number_in_trace(int number) {
#if defined(__x86_64__)
  return number;
#else
  switch (number) {
    case SystemCall::kNone:
      return SystemCall::kNone;
#define STREAMSCOPE_CASE(name, in_trace) \
  case SYS_##name:                       \
    return SystemCall::name;
      STREAMSCOPE_SYSTEM_CALLS(STREAMSCOPE_CASE)
#undef STREAMSCOPE_CASE
    default:
      return SystemCall::kOther;
  }
#endif
}

// A file of /proc that is read again and again.
class ProcFile {
 public:
  explicit ProcFile(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

  /// nullptr if it cannot be read.
  const char* read() {
    if (!file_) return nullptr;
    const ssize_t bytes = ::pread(file_.get(), text_, sizeof text_ - 1, 0);
    if (bytes <= 0) return nullptr;
    text_[bytes] = '\0';
    return text_;
  }

 private:
  Descriptor file_;
  char text_[256];
};

// What the kernel says of a thread.
class ThreadFiles {
 public:
  explicit ThreadFiles(const WatchedThread& thread)
      : ThreadFiles("/proc/" + std::to_string(thread.pid) + "/task/" + std::to_string(thread.tid)) {
  }

  struct Waiting {
    uint64_t pc = 0, sp = 0;
  };
  /// Where it waits, if it does. False if it has ended or may not be looked at.
  bool read(HostSample& sample, Waiting& waiting) {
    const char* text = system_call_.read();
    if (text == nullptr) return false;
    sample.runs = std::strncmp(text, "running", 7) == 0;
    if (!sample.runs) {
      sample.system_call = number_in_trace(std::atoi(text));
      // "NUMBER ARGUMENT... SP PC", or "-1 SP PC".
      const char* last = std::strrchr(text, ' ');
      if (last == nullptr) return false;
      const char* before = last;
      while (before > text && before[-1] != ' ') --before;
      waiting = {std::strtoull(last, nullptr, 16), std::strtoull(before, nullptr, 16)};
    }
    read_times(sample);
    return true;
  }

 private:
  explicit ThreadFiles(const std::string& folder)
      : system_call_(folder + "/syscall"), times_(folder + "/schedstat") {}

  void read_times(HostSample& sample) {
    const char* text = times_.read();
    int64_t ran = 0, delayed = 0;
    if (text == nullptr || std::sscanf(text, "%" SCNd64 " %" SCNd64, &ran, &delayed) != 2) return;
    if (has_before_) {
      sample.ran_ns = ran - ran_;
      sample.delayed_ns = delayed - delayed_;
    }
    ran_ = ran;
    delayed_ = delayed;
    has_before_ = true;
  }

  ProcFile system_call_, times_;
  bool has_before_ = false;
  int64_t ran_ = 0, delayed_ = 0;
};

bool is_of_interpreter(const SampledFrame& frame) {
  const std::string_view file = std::string_view(frame.module).substr(frame.module.rfind('/') + 1);
  return file.starts_with("python") || file.starts_with("libpython");
}

uint64_t hash_of(const std::vector<SampledFrame>& frames) {
  uint64_t hash = kFnv1aStart;
  for (const SampledFrame& frame : frames) {
    hash = fnv1a(frame.text, hash);
    hash = fnv1a(frame.module, hash);
    hash = fnv1a_step(frame.address, hash);
  }
  return hash;
}

// Asks for a processor soon after each sleep rather than for long, where the kernel has that choice
// (Linux 6.12). A sampler that came late would see what follows instead.
void ask_for_short_turns() {
  if (::sched_getscheduler(0) != SCHED_OTHER) return;
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
  } wanted{.size = sizeof wanted,
           .policy = SCHED_OTHER,
           .flags = 0,
           .nice = 0,
           .priority = 0,
           .runtime_ns = 100'000,
           .deadline_ns = 0,
           .period_ns = 0};
  wanted.nice = ::getpriority(PRIO_PROCESS, 0);
  ::syscall(SYS_sched_setattr, 0, &wanted, 0);
}

}  // namespace

struct Sampler::Work {
  struct Process {
    explicit Process(pid_t pid) : python(pid), unwinder(pid) {}
    PythonStacks python;
    Unwinder unwinder;
    std::map<uint64_t, std::shared_ptr<const SampledStack>> stacks;  // by hash
  };

  // Forgets what is not watched any more.
  void watch(const std::vector<WatchedThread>& watched) {
    std::map<std::pair<pid_t, uint32_t>, std::unique_ptr<ThreadFiles>> kept_files;
    std::map<pid_t, std::unique_ptr<Process>> kept;
    for (const WatchedThread& thread : watched) {
      auto& own = kept_files[{thread.pid, thread.tid}] = std::move(files[{thread.pid, thread.tid}]);
      if (!own) own = std::make_unique<ThreadFiles>(thread);
      if (kept[thread.pid]) continue;
      auto& process = kept[thread.pid] = std::move(processes[thread.pid]);
      if (!process) process = std::make_unique<Process>(thread.pid);
    }
    files = std::move(kept_files);
    processes = std::move(kept);
    threads = watched;
  }

  std::optional<HostSample> sample(const WatchedThread& thread) {
    HostSample result;
    result.process = thread.process;
    result.tid = thread.tid;
    result.at = ring::read_clock(clock);
    ThreadFiles::Waiting waiting;
    if (!files[{thread.pid, thread.tid}]->read(result, waiting)) return std::nullopt;
    Process& process = *processes[thread.pid];
    process.python.read(thread.python, frames);
    if (frames.empty()) {
      const bool copied = result.runs
                              ? stopper.copy(thread.pid, static_cast<pid_t>(thread.tid), copy)
                              : copy_waiting(thread.pid, waiting.pc, waiting.sp, copy);
      if (copied) process.unwinder.unwind(copy, frames);
    } else if (!result.runs && copy_waiting(thread.pid, waiting.pc, waiting.sp, copy)) {
      process.unwinder.unwind(copy, native);
      const auto of_interpreter = std::ranges::find_if(native, is_of_interpreter);
      // Up to the interpreter's own function: it may wait for the interpreter's lock.
      if (of_interpreter != native.end())
        frames.insert(frames.begin(), native.begin(), of_interpreter + 1);
    }
    if (frames.empty()) return result;
    const uint64_t hash = hash_of(frames);
    auto& stack = process.stacks[hash];
    if (!stack) stack = std::make_shared<const SampledStack>(SampledStack{hash, frames});
    result.stack = stack;
    return result;
  }

  ring::ClockKind clock = ring::best_clock();
  std::vector<WatchedThread> threads;
  std::map<std::pair<pid_t, uint32_t>, std::unique_ptr<ThreadFiles>> files;
  std::map<pid_t, std::unique_ptr<Process>> processes;
  Stopper stopper;
  StackCopy copy;
  std::vector<SampledFrame> frames, native;
};

Sampler::Sampler(uint32_t hz)
    : hz_(hz), thread_([this](const std::stop_token& stop) { run(stop); }) {}

Sampler::~Sampler() = default;

void Sampler::watch(std::vector<WatchedThread> threads) {
  const std::lock_guard lock(mutex_);
  if (watched_ == threads) return;
  watched_ = std::move(threads);
  changed_ = true;
  stopping_.notify_all();
}

std::vector<HostSample> Sampler::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(samples_, {});
}

uint64_t Sampler::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

int64_t Sampler::stopped_ns() const {
  const std::lock_guard lock(mutex_);
  return stopped_ns_;
}

void Sampler::run(const std::stop_token& stop) {
  ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);  // ns: a stopped thread waits for us
  ask_for_short_turns();
  Work work;
  std::minstd_rand random(1);
  const double period_s = 1.0 / hz_;
  std::uniform_real_distribution<double> interval_s(0.5 * period_s, 1.5 * period_s);
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (watched_.empty() && !work.stopper.has_late()) {
      stopping_.wait(lock, stop, [&] { return !watched_.empty(); });
      next = std::chrono::steady_clock::now();
    }
    // What could not be done in time is not made up for.
    next = std::max(next + std::chrono::duration_cast<std::chrono::nanoseconds>(
                               std::chrono::duration<double>(interval_s(random))),
                    std::chrono::steady_clock::now());
    while (work.stopper.has_late() && !stop.stop_requested()) {
      const auto soon = std::chrono::steady_clock::now() + kLatePoll;
      if (soon >= next) break;
      stopping_.wait_until(lock, stop, soon, [] { return false; });
      work.stopper.release();
    }
    stopping_.wait_until(lock, stop, next, [] { return false; });
    if (stop.stop_requested()) break;
    if (std::exchange(changed_, false)) work.watch(watched_);
    lock.unlock();
    work.stopper.release();
    std::vector<HostSample> made;
    for (const WatchedThread& thread : work.threads) {
      if (auto sample = work.sample(thread)) made.push_back(std::move(*sample));
    }
    lock.lock();
    stopped_ns_ = work.stopper.stopped_ns();
    if (samples_.size() + made.size() > kMostWaiting) {
      dropped_ += made.size();
    } else {
      samples_.insert(samples_.end(), std::make_move_iterator(made.begin()),
                      std::make_move_iterator(made.end()));
    }
  }
}

}  // namespace streamscope::record
