// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The analysis of a job of 100,000 ranks: summaries of five iterations with ten collectives each,
// one program replicated with noise, taken one by one, aligned and analyzed. Making them is not
// measured.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>

#include "bench/budget.h"
#include "job/job.h"

namespace {

namespace bench = streamscope::bench;
namespace job = streamscope::job;
using job::Ns;
using streamscope::CollectiveKind;
using streamscope::analysis::TimeShare;

constexpr int kIterations = 5, kCollectives = 10, kTensor = 8;
constexpr Ns kWork = 2'000'000, kNoise = 60'000, kOwn = 300'000, kExtra = 1'500'000;

/// Even collectives are of eight neighbors, odd ones of all ranks at the same place among eight.
/// One rank in the middle holds everybody up before the fourth.
class Ranks {
 public:
  explicit Ranks(int count) : count_(count) {}

  int slow() const { return count_ / 2; }

  job::RankSummary summary(int rank) {
    job::RankSummary result;
    result.identity.rank = rank;
    result.identity.world_size = count_;
    result.identity.host = "node" + std::to_string(rank / 8);
    result.identity.trace = "rank-" + std::to_string(rank) + ".sqlite";
    result.clock_start_ns = 1;
    result.communicators = {
        {"tp" + std::to_string(rank / kTensor), kTensor, rank % kTensor},
        {"dp" + std::to_string(rank % kTensor), count_ / kTensor, rank / kTensor}};
    result.places = {"", "forward", "backward", "train.py:41"};
    const Ns offset = (rank / 8) * Ns{7'919'000};
    Ns now = offset;
    for (int i = 0; i < kIterations; ++i) {
      job::RankIteration iteration;
      iteration.start_ns = now;
      for (int k = 0; k < kCollectives; ++k) add(iteration, now, rank, i, k);
      iteration.segments.push_back(work(500'000, 0, kCollectives - 1, 2));
      now += 500'000;
      iteration.end_ns = now;
      result.iterations.push_back(std::move(iteration));
    }
    return result;
  }

 private:
  static job::Segment work(Ns kernels, Ns outside, int after, uint32_t place) {
    job::Segment segment;
    segment.after = after;
    segment.shares[static_cast<size_t>(TimeShare::kKernels)] = kernels;
    segment.shares[static_cast<size_t>(TimeShare::kOutside)] = outside;
    segment.place = place;
    segment.host_place = outside > 0 ? 3 : 0;
    segment.host_ns = kWork / 2 + outside;
    return segment;
  }

  void add(job::RankIteration& iteration, Ns& now, int rank, int i, int k) {
    const Ns noise = noise_(random_);
    // The slow rank holds up its data-parallel group, each of which then holds up its neighbors.
    const bool held_up = rank % kTensor == slow() % kTensor ? k == 3 : k == 4;
    const Ns outside = k == 3 && rank == slow() ? kExtra : 0;
    iteration.segments.push_back(work(kWork + noise, outside, k - 1, k < 5 ? 1 : 2));
    job::Collective collective;
    collective.communicator = static_cast<uint32_t>(k % 2);
    collective.sequence = static_cast<uint32_t>(i * kCollectives / 2 + k / 2);
    collective.kind = k % 2 == 0 ? CollectiveKind::kAllReduce : CollectiveKind::kReduceScatter;
    collective.bytes = 1 << 20;
    collective.stream = 1 + collective.communicator;
    collective.start_ns = collective.issued_ns = now + kWork + noise + outside;
    // All end together, when the slowest has arrived.
    now += kWork + kNoise + (held_up ? kExtra : 0) + kOwn;
    collective.end_ns = now;
    iteration.collectives.push_back(collective);
  }

  const int count_;
  std::mt19937_64 random_{1};
  std::uniform_int_distribution<Ns> noise_{-kNoise, kNoise};
};

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Cost {
  double wall_s = 0, processor_s = 0;
};

/// Ends the program if the answer is wrong.
Cost analyze(int count) {
  using Clock = std::chrono::steady_clock;
  Ranks ranks(count);
  job::StepReader reader;
  Cost cost;
  const auto measure = [&](const auto& act) {
    const auto begin = Clock::now();
    const double processor = processor_seconds();
    act();
    cost.wall_s += std::chrono::duration<double>(Clock::now() - begin).count();
    cost.processor_s += processor_seconds() - processor;
  };
  for (int rank = 0; rank < count; ++rank) {
    const job::RankSummary summary = ranks.summary(rank);
    measure([&] { reader.add(summary); });
  }
  measure([&] {
    const job::Job result = job::analyze(reader.take());
    const bool right = !result.delays.empty() && result.delays[0].ranks.size() == 1 &&
                       result.delays[0].ranks[0] == ranks.slow();
    const bool aligned = std::ranges::all_of(
        result.clocks, [](const job::RankClock& clock) { return clock.known(); });
    if (right && aligned) return;
    std::fprintf(stderr, "job_bench: wrong answer for %d ranks\n", count);
    std::exit(1);
  });
  return cost;
}

/// In a process of its own, as a user's analysis is: no memory is left from the one before.
Cost analyze_apart(int count) {
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  const pid_t child = fork();
  if (child == 0) {
    const Cost cost = analyze(count);
    _exit(write(ends[1], &cost, sizeof cost) == sizeof cost ? 0 : 1);
  }
  Cost cost;
  close(ends[1]);
  const bool complete = read(ends[0], &cost, sizeof cost) == sizeof cost;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  if (!complete) std::exit(1);
  return cost;
}

Cost median_cost(int count, int rounds) {
  std::vector<double> wall, processor;
  for (int round = 0; round < rounds; ++round) {
    const Cost cost = analyze_apart(count);
    wall.push_back(cost.wall_s);
    processor.push_back(cost.processor_s);
  }
  return {bench::median(wall), bench::median(processor)};
}

}  // namespace

int main() {
  const int many = static_cast<int>(std::max<size_t>(bench::scaled(100'000), 64));
  const int few = static_cast<int>(std::max<size_t>(bench::scaled(1'000), 16));
  const Cost small = median_cost(few, 9), large = median_cost(many, 3);
  bench::budget("job_100000_ranks_s", large.wall_s, "s", 60, bench::Better::kLess);
  bench::rival("by_processor_time", large.processor_s, "s");
  const double growth = large.processor_s / many / (small.processor_s / few);
  bench::budget("job_growth_from_1000_ranks", growth, "x", 1.2, bench::Better::kLess);
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);  // of the largest
  bench::budget("job_100000_ranks_memory_mb", static_cast<double>(usage.ru_maxrss) / 1024, "MB",
                2048, bench::Better::kLess);
}
