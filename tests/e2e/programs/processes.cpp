// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that become several processes, or end without exit handlers. Each process that works
// does ten steps on a simulated device: an event recorded on one stream, a wait on the other.
//
//   processes steps [CODE]  ten steps, then exit()
//   processes _exit         ten steps, then _exit(7); so with _Exit and quick_exit
//   processes handler       steps until a signal handler calls _exit(7)
//   processes exec          ten steps, then exec of `processes steps`
//   processes exec-three    the same through a third program
//   processes exec-true     ten steps, then exec of true(1), which records nothing
//   processes child HOW     a child does ten steps and ends so (_exit, kill), then the parent ten
//   processes vfork         five steps, a child of vfork() that ends by _exit, five steps
//   processes after-use     ten steps, then a child with a device of its own that does ten
//   processes daemon FILE   becomes a daemon, does ten steps and then makes FILE
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <coord/coord.h>

#include <cstdlib>
#include <string>

namespace {

constexpr int kCode = 7;

class Work {
 public:
  void steps(int count) {
    for (int i = 0; i < count; ++i) {
      first_.launch({.name = "step", .duration = std::chrono::microseconds(5)});
      first_.record(event_);
      second_.wait(event_);
    }
    second_.synchronize();
  }

  // Stops short of what a ring holds: a writer that does not run for long must not cost records.
  [[noreturn]] void steps_until_signal() {
    for (int i = 0; i < 10'000; ++i) steps(1);
    for (;;) pause();
  }

 private:
  coord::Device device_ = coord::Device::open("sim");
  coord::Stream first_ = device_.create_stream({.name = "first"});
  coord::Stream second_ = device_.create_stream({.name = "second"});
  coord::Event event_ = device_.create_event();
};

int wait_for(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child ? status : -1;
}

[[noreturn]] void become(const char* how) {
  execl("/proc/self/exe", "processes", how, static_cast<char*>(nullptr));
  std::abort();
}

void daemonize() {
  if (fork() > 0) _exit(0);
  setsid();
  if (fork() > 0) _exit(0);
  if (chdir("/") != 0) std::abort();
  for (int file = 0; file < 1024; ++file) close(file);
  for (int file = 0; file < 3; ++file) {
    if (open("/dev/null", O_RDWR) != file) std::abort();
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string how = count > 1 ? arguments[1] : "";
  const std::string end = count > 2 ? arguments[2] : "";
  if (how == "daemon") daemonize();
  if (how == "child") {
    const pid_t child = fork();
    if (child == 0) {
      Work().steps(10);
      if (end == "kill") raise(SIGKILL);
      _exit(3);
    }
    wait_for(child);
  }
  Work work;
  work.steps(how == "vfork" ? 5 : 10);
  if (how == "_exit") _exit(kCode);
  if (how == "_Exit") std::_Exit(kCode);
  if (how == "quick_exit") std::quick_exit(kCode);
  if (how == "handler") {
    signal(SIGALRM, [](int) { _exit(kCode); });
    ualarm(2'000, 0);
    work.steps_until_signal();
  }
  if (how == "exec") become("steps");
  if (how == "exec-three") become("exec");
  if (how == "exec-true") execlp("true", "true", static_cast<char*>(nullptr));
  if (how == "vfork") {
    const pid_t child = vfork();
    if (child == 0) _exit(3);
    wait_for(child);
    work.steps(5);
  }
  if (how == "after-use") {
    const pid_t child = fork();
    if (child == 0) {
      Work().steps(10);
      std::exit(0);
    }
    if (wait_for(child) != 0) return 1;
  }
  if (how == "daemon") close(open(end.c_str(), O_CREAT | O_WRONLY, 0600));
  return how == "steps" && !end.empty() ? std::atoi(end.c_str()) : 0;
}
