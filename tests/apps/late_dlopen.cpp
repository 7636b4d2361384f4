// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A plain program with its own threads and work that loads CUDA late, from a second thread.
#include <thread>
#include <vector>

#include "driver.h"

int main() {
  std::vector<int> values(100'000, 1);
  long long sum = 0;
  std::thread worker([&] {
    for (int value : values) sum += value;
  });
  worker.join();
  counted::expect("sum before CUDA", 100'000, sum);

  std::thread gpu([] { driver::take_turns(driver::load(), 30); });
  gpu.join();
  counted::report("late_dlopen");
}
