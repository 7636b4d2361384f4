// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program that records itself into the rings of its run, as the collector would. The first
// argument selects its work.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "fake_program.h"
#include "ring/control.h"

namespace {

using streamscope::test::FakeThread;
namespace ring = streamscope::ring;

uint64_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

FakeThread make_thread(uint32_t index, uint64_t capacity = 4096) {
  const char* rings = std::getenv(ring::kRingsVariable);
  if (rings == nullptr) std::exit(99);
  FakeThread thread(rings, index, capacity, ring::best_clock());
  thread.thread(static_cast<uint32_t>(gettid()));
  return thread;
}

// Waits for space, so that nothing is dropped.
void push(FakeThread& thread, const ring::CallRecord& call) {
  while (thread.ring.room() < 8) usleep(100);
  thread.ring.push(call);
}

ring::CallRecord call_now(FakeThread& thread, const char* name, uint64_t stream, uint64_t object,
                          uint32_t correlation) {
  ring::CallRecord call = thread.make_call(name, stream, object);
  call.call_number = correlation;
  call.begin = thread.now();
  call.end = thread.now();
  return call;
}

// `count` times launch, record, wait on an event of its own.
void work(FakeThread& thread, uint64_t count, uint64_t stream) {
  const uint64_t event = 0x1000 + stream;
  push(thread, call_now(thread, "cudaEventCreate", 0, event, 0));
  for (uint64_t i = 0; i < count; ++i) {
    push(thread, call_now(thread, "cudaLaunchKernel", stream, 0, static_cast<uint32_t>(3 * i + 1)));
    push(thread,
         call_now(thread, "cudaEventRecord", stream, event, static_cast<uint32_t>(3 * i + 2)));
    push(thread, call_now(thread, "cudaStreamWaitEvent", stream + 1, event,
                          static_cast<uint32_t>(3 * i + 3)));
  }
}

int calls(uint64_t count, uint64_t threads, int exit_code) {
  FakeThread main = make_thread(0);
  main.process("/bin/recorded");
  std::vector<std::thread> others;
  for (uint64_t i = 1; i < threads; ++i) {
    others.emplace_back([=] {
      FakeThread thread = make_thread(static_cast<uint32_t>(i));
      work(thread, count, 100 * (i + 1));
      thread.ring.close();
    });
  }
  work(main, count, 100);
  for (auto& other : others) other.join();
  main.end();
  return exit_code;
}

// Launches `count` kernels at `rate` a second, even if the ring is full; the device reports them
// every tenth of a second.
void launch(uint32_t index, uint32_t count, uint32_t rate) {
  constexpr uint64_t kCapacity = 1 << 16;
  FakeThread thread = make_thread(2 * index, kCapacity);
  FakeThread device = make_thread(2 * index + 1, kCapacity);
  if (index == 0) thread.process("/bin/load");
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  std::vector<int64_t> begun;
  const uint32_t first = index * count + 1;
  uint32_t made = 0, reported = 0;
  double report_at = 0;
  while (reported < count) {
    // A thread that got no CPU for a while does not catch up all at once.
    const auto due = std::min(static_cast<uint32_t>(std::min<double>(count, seconds() * rate)),
                              made + rate / 500);
    for (; made < due; ++made) {
      thread.ring.push(call_now(thread, "cudaLaunchKernel", 100 + index, 0, first + made));
      begun.push_back(static_cast<int64_t>(ring::read_monotonic()) + 5'000);
    }
    if (seconds() > report_at || made == count) {
      report_at = seconds() + 0.1;
      for (; reported < made; ++reported) {
        auto op = device.make<ring::OpRecord>(ring::RecordKind::kKernel);
        op.correlation_id = first + reported;
        op.context = 1;
        op.stream = 13 + index;
        op.begin_ns = begun[reported];
        op.end_ns = op.begin_ns + 5'000;
        op.shape = ring::kNone32;
        op.channel = 0xffff;
        device.ring.push(op);
      }
    }
    usleep(500);
  }
  if (index == 0) thread.end();
}

int load(uint32_t threads, uint32_t count, uint32_t rate) {
  std::vector<std::thread> others;
  for (uint32_t i = 1; i < threads; ++i) others.emplace_back(launch, i, count, rate);
  launch(0, count, rate);
  for (auto& other : others) other.join();
  return 0;
}

int spawn(const char* self, uint64_t children, const char* count) {
  std::vector<pid_t> pids;
  for (uint64_t i = 0; i < children; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      execl(self, self, "calls", count, "1", "0", nullptr);
      _exit(98);
    }
    pids.push_back(pid);
  }
  for (pid_t pid : pids) waitpid(pid, nullptr, 0);
  return 0;
}

// Leaves a child behind that continues after this program has ended.
int leave_behind() {
  int ready[2];
  if (pipe(ready) != 0) return 97;
  if (fork() == 0) {
    FakeThread thread = make_thread(0);
    thread.process("/bin/left-behind");
    (void)!write(ready[1], "x", 1);
    usleep(300'000);
    work(thread, 10, 100);
    thread.end();
    _exit(0);
  }
  char byte;
  return read(ready[0], &byte, 1) == 1 ? 0 : 96;
}

// Makes calls forever and prints how many were made.
int forever() {
  FakeThread thread = make_thread(0, 1 << 14);
  thread.process("/bin/forever");
  for (uint32_t i = 1;; ++i) {
    push(thread, call_now(thread, "cudaLaunchKernel", 100, 0, i));
    if (i % 100 == 0) {
      if (write(STDOUT_FILENO, &i, sizeof i) != sizeof i) return 95;
    }
    if (i % 20 == 0) usleep(50);
  }
}

int killed(uint64_t count, uint64_t after_ms) {
  FakeThread thread = make_thread(0);
  thread.process("/bin/killed");
  work(thread, count, 100);
  thread.enter("cudaDeviceSynchronize", 0, 0);
  usleep(static_cast<useconds_t>(after_ms * 1000));
  raise(SIGKILL);
  return 0;
}

int wait_for_signal(int expected) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, expected);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  (void)!write(STDOUT_FILENO, "x", 1);
  int signal = 0;
  sigwait(&set, &signal);
  return 7;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "calls" && argc == 5)
    return calls(number(argv[2]), number(argv[3]), static_cast<int>(number(argv[4])));
  if (what == "load" && argc == 5) {
    return load(static_cast<uint32_t>(number(argv[2])), static_cast<uint32_t>(number(argv[3])),
                static_cast<uint32_t>(number(argv[4])));
  }
  if (what == "spawn" && argc == 4) return spawn(argv[0], number(argv[2]), argv[3]);
  if (what == "leave-behind") return leave_behind();
  if (what == "forever") return forever();
  if (what == "killed" && argc == 3) return killed(number(argv[2]), 0);
  if (what == "killed" && argc == 4) return killed(number(argv[2]), number(argv[3]));
  if (what == "signal") return wait_for_signal(SIGTERM);
  if (what == "exit" && argc == 3) return static_cast<int>(number(argv[2]));
  std::fprintf(stderr, "recorded_program: wrong arguments\n");
  return 94;
}
