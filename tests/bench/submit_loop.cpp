// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Submits operations that do nothing and cause no call of the driver, and prints the time of its
// thread per operation, in ns: the median of several bursts. Between bursts a recorder has time to
// catch up.
//   submit_loop DEPENDENCIES BURSTS OPERATIONS
// traced_bench runs it with and without being recorded.

#include <coord/coord.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <span>
#include <thread>
#include <vector>

namespace {

double thread_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  const std::size_t dependencies = number(1), bursts = number(2), operations = number(3);
  const char* which = std::getenv("STREAMSCOPE_BENCH_DEVICE");
  const coord::Device device = coord::Device::open(which != nullptr ? which : "auto");
  const coord::Stream stream = device.create_stream(), other = device.create_stream();
  coord::Coordinator coordinator(device, {.polled = true});
  const auto nothing = [](coord::StreamRef) {};
  std::array<coord::OperationHandle, 4> before;
  for (auto& operation : before) operation = coordinator.submit({.stream = other}, nothing);
  const coord::OperationOptions options{
      .stream = stream,
      .after = std::span<const coord::OperationHandle>(before).first(
          std::min<std::size_t>(dependencies, 4)),
      .description = "step"};
  std::vector<double> all;
  for (std::size_t burst = 0; burst < bursts + 2; ++burst) {
    const double begin = thread_nanoseconds();
    for (std::size_t i = 0; i < operations; ++i) coordinator.post(options, nothing);
    if (burst >= 2)  // the first ones touch memory for the first time
      all.push_back((thread_nanoseconds() - begin) / static_cast<double>(operations));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  device.synchronize();
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                   all.end());
  std::printf("%.3f\n", all[all.size() / 2]);
}
