// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program that never uses CUDA: recording must leave no trace of itself. It prints its number of
// threads.
#include <dirent.h>

#include <cstdio>
#include <thread>

int main() {
  long long sum = 0;
  std::thread worker([&] {
    for (int i = 1; i <= 1000; ++i) sum += i;
  });
  worker.join();
  int threads = 0;
  if (DIR* tasks = opendir("/proc/self/task")) {
    while (dirent* entry = readdir(tasks)) threads += entry->d_name[0] != '.';
    closedir(tasks);
  }
  std::printf("{\"app\": \"no_cuda\", \"ok\": true, \"sum\": %lld, \"threads\": %d}\n", sum,
              threads);
  return sum == 500500 ? 0 : 1;
}
