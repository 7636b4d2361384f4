// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What interposition adds to a call of the driver: the functions of the record mix (launch, record,
// wait) of the stand-in driver, called directly and through their wrappers.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "bench/budget.h"
#include "bench/collect_run.h"

using namespace streamscope;
using namespace streamscope::bench;

extern "C" void* fake_function(const char* name);

namespace {

constexpr double kInterposedLimitNs = 45;

struct Functions {
  decltype(&::cuLaunchKernel) launch;
  decltype(&::cuEventRecord) record;
  decltype(&::cuStreamWaitEvent) wait;
};

// Nanoseconds per call of `rounds` rounds of the mix, with this many kernels in turn.
double time_mix(const Functions& driver, size_t rounds, size_t kernels) {
  auto* const stream = reinterpret_cast<CUstream>(uintptr_t{0xa00a});
  auto* const event = reinterpret_cast<CUevent>(uintptr_t{0xe00e});
  const auto kernel = [&](size_t round) {
    // As far apart as a driver's objects on the heap.
    return reinterpret_cast<CUfunction>(0x5581'2340'f010 + round % kernels * 0x2a50);
  };
  const double begin = thread_ns();
  for (size_t round = 0; round < rounds; ++round) {
    driver.launch(kernel(round), 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
    driver.record(event, stream);
    driver.wait(stream, event, 0);
  }
  return (thread_ns() - begin) / static_cast<double>(3 * rounds);
}

Functions find(void* (*look_up)(const char*)) {
  return {reinterpret_cast<decltype(&::cuLaunchKernel)>(look_up("cuLaunchKernel")),
          reinterpret_cast<decltype(&::cuEventRecord)>(look_up("cuEventRecord")),
          reinterpret_cast<decltype(&::cuStreamWaitEvent)>(look_up("cuStreamWaitEvent"))};
}

}  // namespace

int main() {
  const std::filesystem::path folder = make_run(Tier::kStructure);
  ::setenv(ring::kRingsVariable, folder.c_str(), 1);
  cuInit(0);
  const Functions direct = find(fake_function);
  const Functions wrapped = find([](const char* name) { return ::dlsym(RTLD_DEFAULT, name); });
  if (direct.launch == nullptr || direct.launch == wrapped.launch) return 2;

  const size_t rounds = bench::scaled(4000);
  for (size_t i = 0; i < bench::scaled(kRingRecords / (3 * rounds) + 1); ++i) {
    time_mix(wrapped, rounds, 1);
    drain(folder);
  }
  // A deep-learning framework launches a hundred kernels in turn.
  std::vector<double> plain, one_kernel, many_kernels;
  for (size_t i = 0; i < bench::scaled(300); ++i) {
    plain.push_back(time_mix(direct, rounds, 1));
    one_kernel.push_back(time_mix(wrapped, rounds, 1));
    drain(folder);
    many_kernels.push_back(time_mix(wrapped, rounds, 100));
    drain(folder);
  }
  const double driver = bench::median(plain);
  bench::budget("interposed_call_ns", bench::median(one_kernel) - driver, "ns", kInterposedLimitNs,
                bench::Better::kLess);
  bench::budget("interposed_call_100_kernels_ns", bench::median(many_kernels) - driver, "ns",
                kInterposedLimitNs, bench::Better::kLess);
  bench::rival("driver_call_ns", driver, "ns");
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}
