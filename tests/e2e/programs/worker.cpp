// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program to be recorded: does a known amount of work on a simulated device and prints how much,
// as one JSON line.
//
//   worker count N      N steps, then the line
//   worker exit N CODE  the same, then exit code CODE
//   worker abort N      the same, then SIGABRT
//   worker crash HOW WHEN
//                       ends so, as endings.h has it, at that stage (`crash --list` prints all);
//                       says before how many steps were done by then
//   worker spawn N      a step, then itself with `count N` as a child, then the other steps;
//                       the line has the sum
//   worker fork N       forks after half of the steps; the child ends at once, the parent goes on
//   worker file N FILE  opens FILE before it uses the device, then N steps; writes the number of
//   its
//                       descriptor to it before and after
//   worker parts N COMMAND
//                       N steps, which are the range "part 1", one more, 2 N steps in "part 2", and
//                       one more; after each range runs COMMAND with the trace and the range, while
//                       another thread works
//   worker forever      says its process id, then steps without end; after each, unbuffered, how
//                       many are done
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <coord/coord.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "support/endings.h"

namespace {

using endings::End;

/// Kernel on one stream, event, wait of the other, kernel there; a host synchronization at every
/// eighth step.
class Work {
 public:
  void step() {
    const coord::KernelSpec kernel{.name = "step", .duration = std::chrono::microseconds(5)};
    first_.launch(kernel);
    first_.record(event_);
    second_.wait(event_);
    second_.launch(kernel);
    ++steps_;
    if (steps_ % 8 == 0) {
      second_.synchronize();
      ++synchronizations_;
    }
  }

  /// Makes the device call `function` after all steps, and waits for that.
  void call(std::function<void()> function) {
    second_.host_function(std::move(function));
    second_.synchronize();
  }

  void synchronize() { second_.synchronize(); }

  void steps(long count) {
    for (long i = 0; i < count; ++i) step();
  }

  long done() const { return steps_; }

  /// The line, as if `factor` programs had done this.
  void print(long factor = 1) const {
    std::printf(
        "{\"launches\":%ld,\"records\":%ld,\"waits\":%ld,\"edges\":%ld,\"syncs\":%"
        "ld}\n",
        2 * steps_ * factor, steps_ * factor, steps_ * factor, steps_ * factor,
        synchronizations_ * factor);
    std::fflush(stdout);
  }

 private:
  coord::Device device_ = coord::Device::open("sim");
  coord::Stream first_ = device_.create_stream({.name = "first"});
  coord::Stream second_ = device_.create_stream({.name = "second"});
  coord::Event event_ = device_.create_event();
  long steps_ = 0;
  long synchronizations_ = 0;
};

/// One line that is written when this returns, whatever happens to the process next.
void say(long number) {
  char line[32];
  int length = std::snprintf(line, sizeof line, "%ld\n", number);
  if (write(STDOUT_FILENO, line, static_cast<size_t>(length)) != length) std::_Exit(1);
}

// The number of steps of a stage is printed before the end.
void started(End end) {
  const Work work;
  say(work.done());
  end();
}
void working(End end) {
  Work work;
  work.steps(20);  // the last four are not waited for
  say(work.done());
  end();
}
void synchronized(End end) {
  Work work;
  work.steps(24);
  say(work.done());
  end();
}
void inside_a_call(End end) {
  Work work;
  work.steps(20);
  work.call([&] {
    say(work.done());
    end();
  });
}
void while_others_work(End end) {
  Work work;
  work.steps(20);
  std::atomic<long> done{0};
  std::thread([&] {
    Work others;
    for (;;) {
      others.step();
      ++done;
    }
  }).detach();
  while (done < 100) std::this_thread::yield();
  say(work.done() + done);
  end();
}

constexpr endings::Stage kStages[] = {
    {"started", started},
    {"working", working},
    {"synchronized", synchronized},
    {"inside-a-call", inside_a_call},
    {"while-others-work", while_others_work},
};

template <class Function>
Function* of_collector(const char* name) {
  auto* const function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  if (function == nullptr) std::printf("not recorded\n"), std::exit(1);
  return function;
}

/// Both parts are in the trace when COMMAND runs, whatever another thread does.
int do_parts(long steps, const std::string& command) {
  auto* const push = of_collector<void(const char*)>("streamscope_range_push");
  auto* const pop = of_collector<void()>("streamscope_range_pop");
  auto* const flush = of_collector<int(char*, size_t, unsigned)>("streamscope_flush");
  char file[4096];
  if (flush(file, sizeof file, 1000) != 1) return 90;  // no device was used yet
  Work work;
  std::jthread others([](const std::stop_token& stop) {
    for (Work own; !stop.stop_requested(); usleep(200)) own.step();
  });
  int result = 0;
  for (int part = 1; part <= 2 && result == 0; ++part) {
    const std::string name = "part " + std::to_string(part);
    push(name.c_str());
    work.steps(part * steps);
    pop();
    work.step();
    work.synchronize();
    if (flush(file, 3, 1000) != 3) return 91;  // no room for the name
    result = flush(file, sizeof file, 10'000);
    if (result == 0) result = std::system((command + " '" + file + "' '" + name + "'").c_str());
  }
  return result == 0 ? 0 : 92;
}

int wait_for(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) return 99;
  return WEXITSTATUS(status);
}

int run_child(const char* program, const char* steps) {
  pid_t child = fork();
  if (child == 0) {
    std::freopen("/dev/null", "w", stdout);
    execl(program, program, "count", steps, static_cast<char*>(nullptr));
    _exit(98);
  }
  return wait_for(child);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const long steps = argc > 2 ? std::atol(argv[2]) : 0;
  if (mode == "crash") return endings::run({argv + 2, argv + argc}, {}, kStages);

  if (mode == "parts") return do_parts(steps, argc > 3 ? argv[3] : "true");

  const int file =
      mode == "file" && argc > 3 ? open(argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
  if (file >= 0) dprintf(file, "%d\n", file);
  Work work;
  if (mode == "forever") {
    say(getpid());
    while (true) {
      work.step();
      say(work.done());
      usleep(200);  // slow enough that no ring is ever full
    }
  }
  if (mode == "spawn") {
    work.step();  // from here on there is a run for the child to join
    if (int code = run_child("/proc/self/exe", argv[2]); code != 0) return code;
    work.steps(steps - 1);
    work.print(2);
    return 0;
  }
  if (mode == "fork") {
    work.steps(steps / 2);
    pid_t child = fork();
    if (child == 0) _exit(0);
    if (int code = wait_for(child); code != 0) return code;
    work.steps(steps - steps / 2);
  } else {
    work.steps(steps);
  }
  work.print();
  if (file >= 0) dprintf(file, "%d\n", file);
  if (mode == "exit") return argc > 3 ? std::atoi(argv[3]) : 0;
  if (mode == "abort") std::abort();
  return 0;
}
