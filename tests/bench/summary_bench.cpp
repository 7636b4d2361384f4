// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Summaries of ranks: how large they are and how fast they are read.
#include <chrono>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench/budget.h"
#include "job/files/summary_file.h"

namespace streamscope::job {
namespace {

constexpr size_t kIterations = 5, kCollectives = 10;

// A rank of a job: times with the digits of a real clock, four causes in each segment.
RankSummary rank_of_job(int32_t rank) {
  std::mt19937_64 random(static_cast<uint64_t>(rank));
  const auto up_to = [&](Ns most) {
    return static_cast<Ns>(random() % static_cast<uint64_t>(most));
  };
  RankSummary summary;
  summary.identity = {.rank = rank,
                      .world_size = 100'000,
                      .local_rank = rank % 8,
                      .host = "node" + std::to_string(rank / 8),
                      .gpu = "GPU-d2a7f6c1-4ab6-9a0c-9a3c-0d7c2f6f1e55",
                      .told_by = "RANK",
                      .trace = "rank" + std::to_string(rank) + ".sqlite"};
  summary.communicators = {{"dp 0", 12'500, rank / 8},
                           {"tp " + std::to_string(rank / 8), 8, rank % 8}};
  summary.places = {"", "train.py:41 step", "model.py:312 forward", "gemm<…>", "data.py:88 load"};
  Ns now = 5'000'000'000 + up_to(1'000'000'000);
  for (size_t i = 0; i < kIterations; ++i) {
    RankIteration iteration{.start_ns = now};
    const auto add_segment = [&] {
      Segment segment{.after = static_cast<int32_t>(iteration.collectives.size()) - 1,
                      .place = static_cast<uint32_t>(random() % 5)};
      for (const size_t share : {0, 4, 5, 7}) segment.shares[share] = up_to(500'000);
      now += std::accumulate(segment.shares.begin(), segment.shares.end(), Ns{0});
      iteration.segments.push_back(segment);
    };
    for (size_t c = 0; c < kCollectives; ++c) {
      add_segment();
      const Ns start = now;
      now += up_to(3'000'000);
      iteration.collectives.push_back({.communicator = static_cast<uint32_t>(c % 2),
                                       .sequence = static_cast<uint32_t>(i * kCollectives + c) / 2,
                                       .kind = CollectiveKind::kAllReduce,
                                       .bytes = uint64_t{25} << 20,
                                       .stream = 2,
                                       .issued_ns = start - up_to(2'000'000),
                                       .start_ns = start,
                                       .end_ns = now});
    }
    add_segment();
    iteration.end_ns = now;
    summary.iterations.push_back(std::move(iteration));
  }
  return summary;
}

void measure() {
  const size_t count = bench::scaled(100'000);
  std::vector<std::string> files;
  size_t bytes = 0;
  for (size_t rank = 0; rank < count; ++rank) {
    files.push_back(pack(rank_of_job(static_cast<int32_t>(rank))));
    bytes += files.back().size();
  }
  bench::budget("summary_bytes_per_iteration",
                static_cast<double>(bytes) / static_cast<double>(count * kIterations), "bytes",
                3000, bench::Better::kLess);
  size_t collectives = 0;
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& file : files) {
    for (const RankIteration& iteration : unpack(file, "rank").iterations)
      collectives += iteration.collectives.size();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (collectives != count * kIterations * kCollectives) std::abort();
  // 100,000 in 10 s on one core: a sixth of the time that all of the analysis has.
  bench::budget("summary_parse_per_s", static_cast<double>(count) / took.count(), "1/s", 10'000,
                bench::Better::kMore);
}

}  // namespace
}  // namespace streamscope::job

int main() { streamscope::job::measure(); }
