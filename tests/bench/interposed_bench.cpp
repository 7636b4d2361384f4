// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What interposition adds to a call of the driver: the functions of the record mix (launch, record,
// wait) of the stand-in driver, called directly and through their wrappers, recorded and while
// recording is off.
#include <cuda.h>
#include <cudaProfiler.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "bench/budget.h"
#include "bench/collect_run.h"
#include "bench/used_caches.h"

using namespace streamscope;
using namespace streamscope::bench;

extern "C" void* fake_function(const char* name);

namespace {

constexpr double kInterposedLimitNs = 45;
constexpr double kOffLimitNs = 5;

struct Functions {
  decltype(&::cuLaunchKernel) launch;
  decltype(&::cuEventRecord) record;
  decltype(&::cuStreamWaitEvent) wait;
};

auto* const a_stream = reinterpret_cast<CUstream>(uintptr_t{0xa00a});
auto* const an_event = reinterpret_cast<CUevent>(uintptr_t{0xe00e});

CUresult launch(const Functions& driver, size_t kernel) {
  // As far apart as a driver's objects on the heap.
  auto* const function = reinterpret_cast<CUfunction>(0x5581'2340'f010 + kernel * 0x2a50);
  return driver.launch(function, 1, 1, 1, 1, 1, 1, 0, a_stream, nullptr, nullptr);
}

// Nanoseconds per call of `rounds` rounds of the mix, with this many kernels in turn.
double time_mix(const Functions& driver, size_t rounds, size_t kernels) {
  const double begin = thread_ns();
  for (size_t round = 0; round < rounds; ++round) {
    launch(driver, round % kernels);
    driver.record(an_event, a_stream);
    driver.wait(a_stream, an_event, 0);
  }
  return (thread_ns() - begin) / static_cast<double>(3 * rounds);
}

// The same for calls of a driver that executes some code, of its own for each of the three.
template <size_t kPieces>
double time_used_mix(const Functions& driver, size_t rounds) {
  const double begin = thread_ns();
  for (size_t round = 0; round < rounds; ++round) {
    launch(driver, 0);
    use_like_a_driver<1, kPieces>();
    driver.record(an_event, a_stream);
    use_like_a_driver<2, kPieces>();
    driver.wait(a_stream, an_event, 0);
    use_like_a_driver<3, kPieces>();
  }
  return (thread_ns() - begin) / static_cast<double>(3 * rounds);
}

// What wrappers add to such a call: the mean of 20 amounts of code from 8 to 40 KiB, as which lines
// meet in the caches depends on where the code is.
double added_to_used_mix(const Functions& direct, const Functions& wrapped,
                         const std::filesystem::path& folder) {
  constexpr size_t kAmounts = 20;
  double sum = 0;
  const auto add = [&]<size_t kPieces>(std::integral_constant<size_t, kPieces>) {
    const size_t rounds = bench::scaled(500);
    std::vector<double> plain, recorded;
    for (size_t i = 0; i < bench::scaled(60); ++i) {
      plain.push_back(time_used_mix<kPieces>(direct, rounds));
      recorded.push_back(time_used_mix<kPieces>(wrapped, rounds));
      drain(folder);
    }
    sum += bench::median(recorded) - bench::median(plain);
  };
  [&]<size_t... kAmount>(std::index_sequence<kAmount...>) {
    (add(std::integral_constant<size_t, 200 + 41 * kAmount>{}), ...);
  }
  (std::make_index_sequence<kAmounts>());
  return sum / kAmounts;
}

// What wrappers add to a launch after the program has used the caches for something else.
double time_cold_launch(const Functions& direct, const Functions& wrapped, size_t launches) {
  std::vector<double> spent[2];
  for (size_t i = 0; i < 2 * launches; ++i) {
    use_caches();
    const uint64_t begin = ring::read_monotonic();
    launch(i % 2 == 0 ? direct : wrapped, i / 2 % 100);
    spent[i % 2].push_back(static_cast<double>(ring::read_monotonic() - begin));
  }
  return bench::median(spent[1]) - bench::median(spent[0]);
}

// What wrappers add to a call while recording is off, in pairs of windows, one of them direct.
std::vector<double> off_windows(const Functions& direct, const Functions& wrapped) {
  constexpr size_t kPairs = 201, kRoundsPerWindow = 20'000;  // 0.1 ms
  std::vector<double> added(bench::scaled(kPairs));
  for (size_t i = 0; i < added.size(); ++i) {
    const bool direct_first = i % 2 == 0;
    const double first =
        time_mix(direct_first ? direct : wrapped, bench::scaled(kRoundsPerWindow), 1);
    const double second =
        time_mix(direct_first ? wrapped : direct, bench::scaled(kRoundsPerWindow), 1);
    added[i] = direct_first ? second - first : first - second;
  }
  return added;
}

// Reports the median of the windows, and its 95 % interval by their ranks.
void report_off(std::vector<double> added) {
  std::ranges::sort(added);
  const double count = static_cast<double>(added.size());
  const double reach = 0.98 * std::sqrt(count);  // 1.96 standard deviations of a rank
  const double last = count - 1;
  const auto at = [&](double rank) {
    return added[static_cast<size_t>(std::clamp(rank, 0.0, last))];
  };
  bench::budget("interposed_off_ns", at(last / 2), "ns", kOffLimitNs, bench::Better::kLess);
  bench::rival("interposed_off_95_low_ns", at(std::floor(last / 2 - reach)), "ns");
  bench::rival("interposed_off_95_high_ns", at(std::ceil(last / 2 + reach)), "ns");
}

Functions find(void* (*look_up)(const char*)) {
  return {reinterpret_cast<decltype(&::cuLaunchKernel)>(look_up("cuLaunchKernel")),
          reinterpret_cast<decltype(&::cuEventRecord)>(look_up("cuEventRecord")),
          reinterpret_cast<decltype(&::cuStreamWaitEvent)>(look_up("cuStreamWaitEvent"))};
}

}  // namespace

int main() {
  const std::filesystem::path folder =
      make_run(Tier::kStructure, ring::CaptureRange::kCudaProfilerApi);
  ::setenv(ring::kRingsVariable, folder.c_str(), 1);
  cuInit(0);
  const Functions direct = find(fake_function);
  const Functions wrapped = find([](const char* name) { return ::dlsym(RTLD_DEFAULT, name); });
  if (direct.launch == nullptr || direct.launch == wrapped.launch) return 2;
  cuProfilerStart();

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
  const double cold = time_cold_launch(direct, wrapped, bench::scaled(4000));
  const double driver = bench::median(plain);
  bench::budget("interposed_call_ns", bench::median(one_kernel) - driver, "ns", kInterposedLimitNs,
                bench::Better::kLess);
  bench::budget("interposed_call_100_kernels_ns", bench::median(many_kernels) - driver, "ns",
                kInterposedLimitNs, bench::Better::kLess);
  bench::budget("interposed_call_used_ns", added_to_used_mix(direct, wrapped, folder), "ns",
                kInterposedLimitNs, bench::Better::kLess);
  bench::rival("interposed_call_cold_ns", cold, "ns");
  bench::rival("driver_call_ns", driver, "ns");

  drain(folder);
  time_mix(wrapped, 1, 1);
  const size_t recorded = drain(folder);
  cuProfilerStop();
  drain(folder);
  const std::vector<double> off = off_windows(direct, wrapped);
  if (recorded != 3 || drain(folder) != 0) return 2;  // it was not on, or is not off
  report_off(off);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}
