// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Many threads or processes that do little: each makes ten calls on a simulated device. Prints the
// KiB of memory of the program when all threads are done.
//
//   crowd threads N    at the same time
//   crowd forks N      children, one after the other
#include <sys/wait.h>
#include <unistd.h>

#include <coord/coord.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

void ten_calls(coord::Device& device) {
  coord::Stream stream = device.create_stream({.name = "few"});
  for (int i = 0; i < 8; ++i)
    stream.launch({.name = "work", .duration = std::chrono::microseconds(5)});
  stream.synchronize();
}

long resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmRSS:") continue;
    long kib = 0;
    status >> kib;
    return kib;
  }
  return 0;
}

void run_threads(int count) {
  coord::Device device = coord::Device::open("sim");
  ten_calls(device);
  std::atomic<int> done{0};
  std::atomic<bool> measured{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      ten_calls(device);
      ++done;
      done.notify_one();
      measured.wait(false);
    });
  }
  for (int seen = 0; (seen = done) < count;) done.wait(seen);
  std::printf("%ld\n", resident_kib());
  measured = true;
  measured.notify_all();
  for (std::thread& thread : threads) thread.join();
}

void run_forks(int count) {
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      {
        coord::Device device = coord::Device::open("sim");
        ten_calls(device);
      }
      std::exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int count = std::atoi(argv[2]);
  if (argv[1] == std::string_view("threads")) run_threads(count);
  if (argv[1] == std::string_view("forks")) run_forks(count);
}
