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

// Nanoseconds per call of `rounds` rounds of the mix.
double time_mix(const Functions& driver, size_t rounds) {
  auto* const stream = reinterpret_cast<CUstream>(uintptr_t{0xa00a});
  auto* const event = reinterpret_cast<CUevent>(uintptr_t{0xe00e});
  auto* const kernel = reinterpret_cast<CUfunction>(uintptr_t{0xf001});
  const double begin = thread_ns();
  for (size_t round = 0; round < rounds; ++round) {
    driver.launch(kernel, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
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
    time_mix(wrapped, rounds);
    drain(folder);
  }
  std::vector<double> plain, interposed;
  for (size_t i = 0; i < bench::scaled(300); ++i) {
    plain.push_back(time_mix(direct, rounds));
    interposed.push_back(time_mix(wrapped, rounds));
    drain(folder);
  }
  bench::budget("interposed_call_ns", bench::median(interposed) - bench::median(plain), "ns",
                kInterposedLimitNs, bench::Better::kLess);
  bench::rival("driver_call_ns", bench::median(plain), "ns");
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}
