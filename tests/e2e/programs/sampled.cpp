// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that a sampler may disturb: `sampled SCENARIO`. They load the driver at run time.
//
//   work        prints where its time went, as JSON: run_here() computes, rest_here() sleeps
//   signals N   receives N signals that carry a number, and a timer's; prints what it received
//   waits       waits in calls that a stop would interrupt; prints how many were interrupted
//   churn       starts and ends threads and children, then becomes `sampled steady 50`; ends with 5
//   steady MS   prints its process id, works so long while signals arrive, prints how many came
//   calls N     makes N calls, half a microsecond apart; prints how many
//   paced N     makes N calls, 2 ms apart, or 5 ms where all call stacks are recorded
//   flush N     makes N calls, waits until they are in the trace, prints what that returned
//   private     cannot be read by others, works, ends with 6
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "sampled: %s\n", what);
  std::exit(1);
}

class Driver {
 public:
  Driver() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    check(library != nullptr, "libcuda.so.1 is not here");
    using Lookup = int (*)(const char*, void**, int, uint64_t, void*);
    const auto look_up = reinterpret_cast<Lookup>(dlsym(library, "cuGetProcAddress_v2"));
    check(look_up != nullptr, "cuGetProcAddress_v2");
    const auto function = [&](const char* name, auto& pointer) {
      void* found = nullptr;
      check(look_up(name, &found, 12000, 0, nullptr) == 0 && found != nullptr, name);
      pointer = reinterpret_cast<std::decay_t<decltype(pointer)>>(found);
    };
    int (*init)(unsigned) = nullptr;
    int (*create_stream)(void**, unsigned) = nullptr;
    int (*create_event)(void**, unsigned) = nullptr;
    function("cuInit", init);
    function("cuStreamCreate", create_stream);
    function("cuEventCreate", create_event);
    function("cuEventRecord", record_);
    check(init(0) == 0 && create_stream(&stream_, 0) == 0 && create_event(&event_, 0) == 0,
          "start");
  }
  /// A call, so that the calling thread is one that issues work.
  void record() const { check(record_(event_, stream_) == 0, "cuEventRecord"); }

 private:
  void* stream_ = nullptr;
  void* event_ = nullptr;
  int (*record_)(void* event, void* stream) = nullptr;
};

[[gnu::noinline]] uint64_t run_here(uint64_t value) {
  for (int i = 0; i < 4'000'000; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
  return value;
}
[[gnu::noinline]] int rest_here() {
  const timespec time{0, 15'000'000};
  const int result = nanosleep(&time, nullptr);
  asm volatile("");  // a call at the end would be a jump
  return result;
}
volatile uint64_t kept;

int make_calls(const Driver& driver, int count) {
  uint64_t value = kept;
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < 500; ++j) value = value * 6364136223846793005u + 1442695040888963407u;
    kept = value;
    driver.record();
  }
  std::printf("%d calls\n", count);
  return 0;
}

int flush_calls(const Driver& driver, int count) {
  const auto flush = reinterpret_cast<int (*)(char* trace, size_t bytes, unsigned timeout_ms)>(
      dlsym(RTLD_DEFAULT, "streamscope_flush"));
  check(flush != nullptr, "streamscope_flush");
  for (int i = 0; i < count; ++i) driver.record();
  char trace[4096];
  std::printf("%d\n", flush(trace, sizeof trace, 10'000));
  return 0;
}

// A cost of recording that is the same on every machine, however busy.
int make_paced_calls(const Driver& driver, int count) {
  const char* stacks = std::getenv("STREAMSCOPE_STACKS");
  const auto pause = stacks != nullptr && std::string_view(stacks) == "all" ? 5ms : 2ms;
  for (int i = 0; i < count; ++i) {
    std::this_thread::sleep_for(pause);
    driver.record();
  }
  return 0;
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

int work(const Driver& driver) {
  double run = 0, rest = 0;
  const auto begin = Clock::now();
  while (seconds_since(begin) < 1.5) {
    auto before = Clock::now();
    kept = run_here(kept);
    run += seconds_since(before);
    driver.record();
    before = Clock::now();
    rest_here();
    rest += seconds_since(before);
    driver.record();
  }
  std::printf("{\"run\": %f, \"rest\": %f, \"all\": %f}\n", run, rest, seconds_since(begin));
  return 0;
}

std::atomic<uint64_t> received{0}, sum{0}, alarms{0};
void on_signal(int, siginfo_t* info, void*) {
  ++received;
  sum += static_cast<uint64_t>(info->si_value.sival_int);
}
void on_alarm(int) { ++alarms; }

void handle_signals() {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGRTMIN, &action, nullptr);
  action.sa_flags = SA_RESTART;
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval interval{{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &interval, nullptr);
}
void block_signals() {
  sigset_t set;
  sigfillset(&set);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

// Sends signals, five a millisecond, each of which is queued; then says so through the pipe.
void send(pthread_t to, int count, int pipe) {
  block_signals();
  for (int i = 1; i <= count; ++i) {
    sigval value{};
    value.sival_int = i;
    while (pthread_sigqueue(to, SIGRTMIN, value) == EAGAIN) std::this_thread::sleep_for(1ms);
    if (i % 5 != 0) continue;
    check(write(pipe, "x", 1) == 1, "write");
    std::this_thread::sleep_for(1ms);
  }
  close(pipe);
}

int signals(const Driver& driver, int count) {
  handle_signals();
  int pipes[2];
  check(pipe(pipes) == 0, "pipe");
  std::thread sender(send, pthread_self(), count, pipes[1]);
  int bytes = 0, interrupted = 0;
  for (char byte;;) {
    const ssize_t got = read(pipes[0], &byte, 1);
    if (got == 0) break;
    interrupted += got < 0;
    bytes += got == 1;
    if (bytes % 8 == 0) kept = run_here(kept + 1) / 2;  // now and then it has to catch up
    driver.record();
  }
  sender.join();
  std::printf("received %lu, sum %lu, read %d, interrupted %d, timer %s\n", received.load(),
              sum.load(), bytes, interrupted, alarms > 200 ? "works" : "does not work");
  return 0;
}

int waits(const Driver& driver) {
  block_signals();
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  const int epoll = epoll_create1(0);
  const timespec moment{0, 300'000};
  int interrupted = 0, calls = 0;
  for (const auto begin = Clock::now(); seconds_since(begin) < 3;) {
    for (int i = 0; i < 20; ++i) driver.record();
    epoll_event event;
    interrupted += epoll_wait(epoll, &event, 1, 1) < 0 && errno == EINTR;
    interrupted += nanosleep(&moment, nullptr) < 0 && errno == EINTR;
    interrupted += sigtimedwait(&set, nullptr, &moment) < 0 && errno == EINTR;
    calls += 3;
  }
  std::printf("interrupted %d, waited %s\n", interrupted, calls > 300 ? "often" : "rarely");
  return 0;
}

int steady(const Driver& driver, int milliseconds) {
  handle_signals();
  std::printf("%d\n", getpid());
  std::fflush(stdout);
  const int count = 2 * milliseconds;
  int pipes[2];
  check(pipe(pipes) == 0, "pipe");
  std::thread sender(send, pthread_self(), count, pipes[1]);
  for (const auto begin = Clock::now(); seconds_since(begin) * 1000 < milliseconds;) {
    driver.record();
    kept = run_here(kept) / 3;
    driver.record();
  }
  sender.join();
  while (received < static_cast<uint64_t>(count)) std::this_thread::sleep_for(1ms);
  std::printf("received %lu\n", received.load());
  return 0;
}

int churn(const Driver& driver) {
  for (int i = 0; i < 150; ++i) {
    std::thread([&] {
      for (int call = 0; call < 50; ++call) driver.record();
    }).join();
    std::thread detached([&] { driver.record(); });
    detached.detach();
    if (i % 5 != 0) continue;
    const pid_t child = fork();
    if (child == 0) {
      if (i % 10 == 0) execlp("true", "true", static_cast<char*>(nullptr));
      for (int call = 0; call < 50; ++call) driver.record();
      _exit(3);
    }
    int status = 0;
    check(waitpid(child, &status, 0) == child, "waitpid");
    check(WIFEXITED(status) && WEXITSTATUS(status) == (i % 10 == 0 ? 0 : 3),
          "exit code of a child");
  }
  std::this_thread::sleep_for(100ms);
  execl("/proc/self/exe", "sampled", "after-exec", static_cast<char*>(nullptr));
  std::abort();
}

int after_exec(const Driver& driver) {
  for (const auto begin = Clock::now(); seconds_since(begin) < 0.2;) driver.record();
  return 5;
}

int kept_private(const Driver& driver) {
  prctl(PR_SET_DUMPABLE, 0);
  for (int i = 0; i < 20; ++i) {
    driver.record();
    kept = run_here(kept);
    rest_here();
  }
  return 6;
}

int run(std::string_view scenario, int number) {
  const Driver driver;
  if (scenario == "work") return work(driver);
  if (scenario == "signals") return signals(driver, number);
  if (scenario == "waits") return waits(driver);
  if (scenario == "churn") return churn(driver);
  if (scenario == "after-exec") return after_exec(driver);
  if (scenario == "steady") return steady(driver, number);
  if (scenario == "calls") return make_calls(driver, number);
  if (scenario == "paced") return make_paced_calls(driver, number);
  if (scenario == "flush") return flush_calls(driver, number);
  if (scenario == "private") return kept_private(driver);
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  return run(count > 1 ? arguments[1] : "", count > 2 ? std::atoi(arguments[2]) : 0);
}
