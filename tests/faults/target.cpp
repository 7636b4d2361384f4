// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The program that is recorded under faults: a known amount of work on the simulated device, the
// same in every run, then a line on each of its outputs and its exit code.
//
//   faults_target [--code N] [--threads N] [--children N] [--still MILLISECONDS]
//     --threads    so many more threads that work
//     --children   so many children that execute this program
//     --still      pauses for that long in the middle of its work
#include <sys/wait.h>
#include <unistd.h>

#include <coord/coord.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kSteps = 12;

long option(int argc, char** argv, const char* name) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], name) == 0) return std::atol(argv[i + 1]);
  }
  return 0;
}

long work(const coord::Device& device, const std::string& name) {
  const coord::Stream first = device.create_stream({.name = name + " copies"});
  const coord::Stream second = device.create_stream({.name = name + " math"});
  const coord::Event event = device.create_event();
  const coord::KernelSpec kernel{.name = "step", .duration = std::chrono::microseconds(5)};
  long done = 0;
  for (int i = 0; i < kSteps; ++i) {
    first.launch(kernel);
    first.record(event);
    second.wait(event);
    second.launch(kernel);
    if (i % 4 == 3) second.synchronize();
    ++done;
  }
  coord::Coordinator coordinator(device);
  const auto load = coordinator.submit({.stream = first, .description = "load"},
                                       [&](coord::StreamRef stream) { stream.launch(kernel); });
  const auto sum = coordinator.submit({.stream = second, .after = {load}, .description = "sum"},
                                      [&](coord::StreamRef stream) { stream.launch(kernel); });
  coordinator.wait(sum);
  second.synchronize();
  return done;
}

bool run_children(const char* program, long count) {
  bool well = true;
  for (long i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", program, "--code", "5", static_cast<char*>(nullptr));
      _exit(98);
    }
    int status = 0;
    well = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 5 && well;
  }
  return well;
}

}  // namespace

int main(int argc, char** argv) {
  const coord::Device device = coord::Device::open("sim");
  long done = work(device, "main");
  std::vector<std::thread> threads;
  std::vector<long> others(static_cast<size_t>(option(argc, argv, "--threads")), 0);
  for (size_t i = 0; i < others.size(); ++i)
    threads.emplace_back([&, i] { others[i] = work(device, "other " + std::to_string(i)); });
  for (std::thread& thread : threads) thread.join();
  for (const long count : others) done += count;
  if (!run_children(argv[0], option(argc, argv, "--children"))) return 97;
  if (const long still = option(argc, argv, "--still")) {
    const coord::Stream stream = device.create_stream({.name = "still"});
    stream.host_function(
        [still] { std::this_thread::sleep_for(std::chrono::milliseconds(still)); });
    stream.synchronize();
  }
  std::printf("target: %ld steps\n", done);
  std::fprintf(stderr, "target: says so\n");
  std::fflush(stdout);
  return static_cast<int>(option(argc, argv, "--code"));
}
