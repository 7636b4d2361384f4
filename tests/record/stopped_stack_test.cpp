// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Threads of other processes whose stacks are copied: what is copied, and that they notice nothing.
#include "record/samples/stopped_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "record/samples/sampler.h"
#include "record/symbols/symbolize.h"
#include "support/sanitized.h"

namespace streamscope::record {
namespace {

using namespace std::chrono_literals;

// What a process and its test share.
struct Shared {
  std::atomic<uint64_t> turns, signals, sum, interrupted, calls;
  std::atomic<int> ready;
};

class Copies : public testing::Test {
 protected:
  void SetUp() override {
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    shared_ = new (memory) Shared{};
  }
  void TearDown() override {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    munmap(shared_, sizeof(Shared));
  }

  /// Runs in a process of its own.
  void start(const std::function<void(Shared&)>& body) {
    shared_->ready = 0;
    child_ = fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      body(*shared_);
      _exit(0);
    }
  }
  static bool wait_until(const std::function<bool()>& done) {
    for (const auto end = std::chrono::steady_clock::now() + 20s;
         std::chrono::steady_clock::now() < end;) {
      if (done()) return true;
      std::this_thread::sleep_for(50us);
    }
    return false;
  }
  bool turns_on() {
    const uint64_t before = shared_->turns;
    return wait_until([&] { return shared_->turns > before + 1; });
  }
  /// Until the process stops in time.
  bool copies() {
    return wait_until([&] {
      stopper_.release();
      return stopper_.copy(child_, child_, copy_);
    });
  }
  /// As the launcher waits: reports of stops are not the end.
  std::optional<int> end_status() {
    int status = 0;
    const bool ended = wait_until([&] {
      const pid_t got = waitpid(child_, &status, WNOHANG);
      return got < 0 || (got == child_ && !WIFSTOPPED(status));
    });
    if (!ended) return std::nullopt;
    const bool known = waitpid(child_, nullptr, WNOHANG) < 0 && errno == ECHILD;
    child_ = -1;
    return known ? std::optional(status) : std::nullopt;
  }
  /// A field of the process's /proc/PID/status.
  std::string status_of(const std::string& field) const {
    std::ifstream file("/proc/" + std::to_string(child_) + "/status");
    for (std::string line; std::getline(file, line);)
      if (line.rfind(field + ":\t", 0) == 0) return line.substr(field.size() + 2);
    return "";
  }
  std::string innermost_function(const StackCopy& copy) const {
    Unwinder unwinder(child_);
    std::vector<SampledFrame> frames;
    unwinder.unwind(copy, frames);
    Symbolizer symbols;
    std::string names;
    for (const SampledFrame& frame : frames)
      names += symbols.name({frame.module, frame.address}) + '\n';
    return names;
  }

  Shared* shared_ = nullptr;
  pid_t child_ = -1;
  Stopper stopper_;
  StackCopy copy_;
};

constexpr uint64_t kMark = 0x5eed'ca11'ab1e'0001;

[[gnu::noinline]] void turn(Shared& shared) { shared.turns.fetch_add(1); }
[[gnu::noinline]] void spin_here(Shared& shared) {
  volatile uint64_t mark = kMark;
  while (mark == kMark) turn(shared);
}
[[gnu::noinline]] void sleep_here(Shared& shared) {
  volatile uint64_t mark = kMark;
  shared.ready = 1;
  while (mark == kMark) pause();
}

bool has_mark(const StackCopy& copy) {
  for (size_t i = 0; i + 8 <= copy.memory.size(); i += 8)
    if (std::memcmp(copy.memory.data() + i, &kMark, 8) == 0) return true;
  return false;
}

TEST_F(Copies, OfARunningThreadHaveItsRegistersAndItsStack) {
  start(spin_here);
  ASSERT_TRUE(turns_on());
  // A busy machine may stop it too late.
  ASSERT_TRUE(copies());
  EXPECT_TRUE(has_mark(copy_));
  EXPECT_NE(copy_.pc, 0u);
  EXPECT_NE(copy_.sp, 0u);
  EXPECT_NE(copy_.known, 0u);
  EXPECT_GT(stopper_.stopped_ns(), 0);
#if STREAMSCOPE_HAVE_LIBDW
  EXPECT_THAT(innermost_function(copy_), testing::HasSubstr("spin_here"));
#endif
}

TEST_F(Copies, OfAWaitingThreadNeedNotStopIt) {
  start(sleep_here);
  ASSERT_TRUE(wait_until([&] { return shared_->ready == 1 && status_of("State")[0] == 'S'; }));
  std::string text;
  std::getline(std::ifstream("/proc/" + std::to_string(child_) + "/syscall"), text);
  const size_t last = text.rfind(' '), before = text.rfind(' ', last - 1);
  ASSERT_NE(before, std::string::npos) << text;
  ASSERT_TRUE(copy_waiting(child_, std::stoull(text.substr(last), nullptr, 16),
                           std::stoull(text.substr(before), nullptr, 16), copy_));
  EXPECT_TRUE(has_mark(copy_));
#if STREAMSCOPE_HAVE_LIBDW && defined(__x86_64__)
  EXPECT_THAT(innermost_function(copy_), testing::HasSubstr("sleep_here"));
#endif
  EXPECT_FALSE(copy_waiting(child_, 0, 8, copy_));
}

TEST_F(Copies, LeaveTheThreadRunningAndUntraced) {
  start(spin_here);
  ASSERT_TRUE(turns_on());
  for (int i = 0; i < 1000; ++i) stopper_.copy(child_, child_, copy_), stopper_.release();
  EXPECT_TRUE(wait_until([&] {
    stopper_.release();
    return status_of("TracerPid") == "0";
  }));
  EXPECT_EQ(status_of("State")[0], 'R');
  EXPECT_TRUE(turns_on());
}

Shared* counted_by_handler = nullptr;

void count_signal(int, siginfo_t* info, void*) {
  counted_by_handler->sum += static_cast<uint64_t>(info->si_value.sival_int);
  ++counted_by_handler->signals;
}

TEST_F(Copies, LoseNoSignalAndNothingThatItCarries) {
  start([](Shared& shared) {
    counted_by_handler = &shared;
    struct sigaction action {};
    action.sa_sigaction = count_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGRTMIN, &action, nullptr);
    sigaction(SIGUSR1, &action, nullptr);
    spin_here(shared);
  });
  ASSERT_TRUE(turns_on());
  constexpr uint64_t kSignals = 2000;
  uint64_t sum = 0;
  int copied = 0;
  for (uint64_t i = 1; i <= kSignals; ++i) {
    sum += i;
    sigval value{};
    value.sival_int = static_cast<int>(i);
    ASSERT_EQ(sigqueue(child_, i % 2 == 0 ? SIGRTMIN : SIGUSR1, value), 0);
    copied += stopper_.copy(child_, child_, copy_);
    ASSERT_TRUE(wait_until([&] {
      stopper_.release();
      return shared_->signals >= i;
    })) << "signal "
        << i;
  }
  EXPECT_EQ(shared_->signals, kSignals);
  EXPECT_EQ(shared_->sum, sum);
  EXPECT_GT(copied, 100);
}

// Calls that a stop may end with EINTR even where no signal has a handler: see signal(7).
void wait_in_many_ways(Shared& shared) {
  const auto count = [&](long result) {
    shared.interrupted += result < 0 && errno == EINTR;
    ++shared.calls;
    for (int i = 0; i < 200; ++i) shared.turns.fetch_add(1);  // it runs for a while
  };
  const int epoll = epoll_create1(0);
  const int semaphores = semget(IPC_PRIVATE, 1, 0600);
  int pair[2];
  (void)!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
  const timeval receive_timeout{0, 200};
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &receive_timeout, sizeof receive_timeout);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const timespec moment{0, 200'000};
  while (shared.ready == 0) {
    epoll_event event;
    count(epoll_wait(epoll, &event, 1, 1));
    count(nanosleep(&moment, nullptr));
    count(poll(nullptr, 0, 1));
    count(sigtimedwait(&set, nullptr, &moment));
    sembuf down{0, -1, 0};
    count(semtimedop(semaphores, &down, 1, &moment));
    char byte;
    count(recv(pair[0], &byte, 1, 0));
  }
  semctl(semaphores, 0, IPC_RMID);
}

TEST_F(Copies, InterruptNoCall) {
  start(wait_in_many_ways);
  const std::string state = "/proc/" + std::to_string(child_) + "/syscall";
  int copied = 0;
  const auto end = std::chrono::steady_clock::now() + 20s;
  while ((copied < 1000 || shared_->calls < 300) && std::chrono::steady_clock::now() < end) {
    std::string text;
    std::getline(std::ifstream(state), text);
    if (text == "running") copied += stopper_.copy(child_, child_, copy_);
    stopper_.release();
  }
  shared_->ready = 1;
  EXPECT_EQ(end_status(), 0);
  EXPECT_GE(copied, 1000);
  EXPECT_GE(shared_->calls, 300u);
  EXPECT_EQ(shared_->interrupted, 0u) << "of " << shared_->calls;
}

TEST_F(Copies, OfAProcessThatEndsLeaveItsExitCodeToItsParent) {
  const int rounds = test::sample_of(300);
  for (int i = 0; i < rounds; ++i) {
    start([](Shared& shared) {
      shared.ready = 1;
      for (int turn = 0; turn < 20'000; ++turn) ++shared.turns;
      _exit(7);
    });
    ASSERT_TRUE(wait_until([&] { return shared_->ready == 1; }));
    std::jthread copying([this, child = child_](const std::stop_token& stop) {
      Stopper stopper;
      StackCopy copy;
      while (!stop.stop_requested()) {
        stopper.copy(child, child, copy);
        stopper.release();
      }
    });
    std::this_thread::sleep_for(5ms);  // the other would be first
    const std::optional<int> status = end_status();
    ASSERT_TRUE(status) << "its end was not reported, in round " << i;
    ASSERT_TRUE(WIFEXITED(*status)) << *status;
    ASSERT_EQ(WEXITSTATUS(*status), 7);
  }
}

TEST_F(Copies, OfAProcessOfAnotherLeaveItsExitCodeToItsParent) {
  start([](Shared& shared) {
    for (int i = 0; i < 100; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        shared.ready = getpid();
        for (int turn = 0; turn < 20'000; ++turn) ++shared.turns;
        _exit(7);
      }
      int status = 0;
      if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) _exit(1);
      ++shared.calls;
    }
  });
  std::jthread copying([this](const std::stop_token& stop) {
    Stopper stopper;
    StackCopy copy;
    while (!stop.stop_requested()) {
      if (const int child = shared_->ready; child != 0) stopper.copy(child, child, copy);
      stopper.release();
      std::this_thread::sleep_for(50us);
    }
  });
  EXPECT_EQ(end_status(), 0);
  EXPECT_EQ(shared_->calls, 100u);
}

TEST_F(Copies, OfThreadsThatEndDoNotKeepTheProcessAlive) {
  start([](Shared& shared) {
    for (int i = 0; i < 200; ++i) {
      std::thread([&] {
        shared.ready = gettid();
        for (int turn = 0; turn < 5'000; ++turn) ++shared.turns;
      }).join();
    }
    _exit(7);
  });
  std::jthread copying([this, child = child_](const std::stop_token& stop) {
    Stopper stopper;
    StackCopy copy;
    while (!stop.stop_requested()) {
      if (shared_->ready != 0) stopper.copy(child, shared_->ready, copy);
      stopper.release();
      std::this_thread::sleep_for(50us);  // lets the thread do something
    }
  });
  const std::optional<int> status = end_status();
  ASSERT_TRUE(status);
  ASSERT_TRUE(WIFEXITED(*status)) << *status;
  EXPECT_EQ(WEXITSTATUS(*status), 7);
}

TEST_F(Copies, OfAThreadThatStopsTooLateAreGivenUpAndItContinues) {
  start([](Shared& shared) {
    shared.ready = 1;
    // As vfork() does: the thread cannot stop before its child ends.
    static unsigned char stack[1 << 16];
    clone(
        [](void*) {
          const timespec moment{0, 300'000'000};
          syscall(SYS_nanosleep, &moment, nullptr);
          syscall(SYS_exit, 0);
          return 0;
        },
        stack + sizeof stack, CLONE_VFORK | CLONE_VM | SIGCHLD, nullptr);
    spin_here(shared);
  });
  ASSERT_TRUE(wait_until([&] { return shared_->ready == 1 && status_of("State")[0] == 'D'; }));
  EXPECT_FALSE(stopper_.copy(child_, child_, copy_));
  EXPECT_TRUE(wait_until([&] {
    stopper_.release();
    return shared_->turns > 1000 && status_of("TracerPid") == "0";
  })) << status_of("State");
}

TEST_F(Copies, OfAThreadThatIsTracedByAnotherAreRefused) {
  start(spin_here);
  ASSERT_TRUE(turns_on());
  const pid_t tracer = fork();
  ASSERT_GE(tracer, 0);
  if (tracer == 0) {
    if (ptrace(PTRACE_SEIZE, child_, nullptr, nullptr) != 0) _exit(1);
    shared_->ready = 2;
    pause();
    _exit(0);
  }
  EXPECT_TRUE(wait_until([&] { return shared_->ready == 2; }));
  EXPECT_FALSE(stopper_.copy(child_, child_, copy_));
  EXPECT_EQ(status_of("TracerPid"), std::to_string(tracer));
  EXPECT_TRUE(turns_on());
  kill(tracer, SIGKILL);
  waitpid(tracer, nullptr, 0);
  EXPECT_TRUE(copies());
}

TEST_F(Copies, OfAProcessThatIsNotThereAreRefused) {
  EXPECT_FALSE(stopper_.copy(0x3fffffff, 0x3fffffff, copy_));
  EXPECT_FALSE(copy_waiting(0x3fffffff, 0, 0x1000, copy_));
  stopper_.release();
}

TEST_F(Copies, ByASamplerAreMadeWhileTheThreadIsWatched) {
  start(spin_here);
  ASSERT_TRUE(turns_on());
  Sampler sampler(1000);
  const WatchedThread watched{.process = 3, .pid = child_, .tid = static_cast<uint32_t>(child_)};
  sampler.watch({watched});
  std::vector<HostSample> samples;
  ASSERT_TRUE(wait_until([&] {
    for (HostSample& sample : sampler.take()) samples.push_back(std::move(sample));
    return samples.size() >= 50;
  }));
  size_t running = 0, after = 0;
  for (const HostSample& sample : samples) {
    EXPECT_EQ(sample.process, 3);
    EXPECT_EQ(sample.tid, watched.tid);
    EXPECT_NE(sample.runs, sample.system_call.has_value());
    running += sample.runs;
    after += sample.at > samples[0].at;
    EXPECT_EQ(sample.ran_ns.has_value(), &sample != &samples[0]);
  }
  EXPECT_GT(running, 25u);
  EXPECT_EQ(after, samples.size() - 1);
  EXPECT_EQ(sampler.dropped(), 0u);
#if STREAMSCOPE_HAVE_LIBDW
  EXPECT_GT(sampler.stopped_ns(), 0);
  EXPECT_TRUE(std::any_of(samples.begin(), samples.end(),
                          [](const HostSample& sample) { return sample.stack != nullptr; }));
#endif
  sampler.watch({});
  std::this_thread::sleep_for(20ms);
  sampler.take();
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(sampler.take().empty());
  EXPECT_TRUE(turns_on());
}

// The calling thread runs on the first processor only.
void stay_on_one_processor() {
  cpu_set_t first;
  sched_getaffinity(0, sizeof first, &first);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &first)) ++cpu;
  CPU_ZERO(&first);
  CPU_SET(cpu, &first);
  sched_setaffinity(0, sizeof first, &first);
}

TEST_F(Copies, ByASamplerLetAThreadContinueThatIsNotWatchedAnyMore) {
  for (int i = 0; i < 5; ++i) {
    // It is ready to run but does not get to, so it stops late.
    const pid_t other = fork();
    ASSERT_GE(other, 0);
    if (other == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      stay_on_one_processor();
      for (;;) shared_->calls.fetch_add(1);
    }
    start([](Shared& shared) {
      stay_on_one_processor();
      shared.ready = 1;
      const sched_param none{};
      sched_setscheduler(0, SCHED_IDLE, &none);
      spin_here(shared);
    });
    ASSERT_TRUE(wait_until([&] { return shared_->ready == 1; }));
    std::this_thread::sleep_for(10ms);
    Sampler sampler(1000);
    sampler.watch(
        {{.process = 0, .pid = child_, .tid = static_cast<uint32_t>(child_), .python = {}}});
    wait_until([&] { return status_of("TracerPid") != "0"; });
    sampler.watch({});
    std::this_thread::sleep_for(20ms);
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
    EXPECT_TRUE(wait_until([&] { return status_of("TracerPid") == "0"; }));
    EXPECT_TRUE(turns_on());
    kill(child_, SIGKILL);
    EXPECT_TRUE(end_status());
  }
}

}  // namespace
}  // namespace streamscope::record
