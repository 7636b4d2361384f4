// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Is the time-stamp counter usable as a clock here? One JSON line: whether the CPU calls it
// invariant, how far it ever ran backwards between two CPUs (ticks), and how its rate against
// CLOCK_MONOTONIC varies (ppm).
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <x86intrin.h>

#include <cpuid.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

bool is_invariant() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx & (1u << 8));
}

void pin(int cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  pthread_setaffinity_np(pthread_self(), sizeof only, &only);
}

/// Two CPUs take turns in reading the counter; every reading must be later than the other's
/// previous one.
int64_t worst_step_back(int first, int second) {
  std::atomic<uint64_t> last{0};
  std::atomic<int> turn{0};
  int64_t worst = 0;  // read by main after the join; written by the thread that has the turn
  auto player = [&](int me, int cpu) {
    pin(cpu);
    for (int i = 0; i < 2000; ++i) {
      while (turn.load(std::memory_order_acquire) != me) _mm_pause();
      unsigned aux;
      const uint64_t now = __rdtscp(&aux);
      const uint64_t before = last.load(std::memory_order_relaxed);
      if (before > now) worst = std::max(worst, static_cast<int64_t>(before - now));
      last.store(now, std::memory_order_relaxed);
      turn.store(1 - me, std::memory_order_release);
    }
  };
  std::thread one(player, 0, first), two(player, 1, second);
  one.join();
  two.join();
  return worst;
}

struct Anchor {
  uint64_t ticks;
  int64_t ns;
};

Anchor anchor() {
  Anchor best{};
  uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < 50; ++i) {
    timespec now;
    const uint64_t before = __rdtsc();
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t after = __rdtsc();
    if (after - before < narrowest) {
      narrowest = after - before;
      best = {before + (after - before) / 2, now.tv_sec * 1'000'000'000LL + now.tv_nsec};
    }
  }
  return best;
}

}  // namespace

int main() {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  int64_t worst = 0;
  for (size_t i = 1; i < cpus.size(); ++i)
    worst = std::max(worst, worst_step_back(cpus[0], cpus[i]));

  std::vector<double> rates;  // ticks per ns over 50 ms
  Anchor from = anchor();
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const Anchor to = anchor();
    rates.push_back(static_cast<double>(to.ticks - from.ticks) /
                    static_cast<double>(to.ns - from.ns));
    from = to;
  }
  const auto [low, high] = std::minmax_element(rates.begin(), rates.end());
  std::printf(
      "{\"app\": \"clock_probe\", \"invariant\": %s, \"cpus\": %zu, \"worst_step_back_ticks\": "
      "%lld, "
      "\"ticks_per_ns\": %.6f, \"rate_spread_ppm\": %.3f}\n",
      is_invariant() ? "true" : "false", cpus.size(), static_cast<long long>(worst), rates.back(),
      (*high - *low) / *low * 1e6);
}
