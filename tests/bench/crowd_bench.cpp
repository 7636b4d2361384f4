// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The cost of recording many threads and many processes that do little each: crowd recorded and
// bare, in turn.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/budget.h"

namespace {

namespace bench = streamscope::bench;
namespace fs = std::filesystem;

struct Run {
  double seconds;
  double kib;
};

/// Runs a command, which prints one number or none; ends the program if it fails.
Run run(const std::string& command) {
  const auto begin = std::chrono::steady_clock::now();
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) std::exit(2);
  double kib = 0;
  const int printed = std::fscanf(pipe, "%lf", &kib);
  if (pclose(pipe) != 0) {
    std::fprintf(stderr, "failed: %s\n", command.c_str());
    std::exit(2);
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  return {passed.count(), printed == 1 ? kib : 0};
}

struct Cost {
  double seconds, kib;  // above bare
  double bare_seconds;
};

Cost measure(const fs::path& folder, const std::string& what) {
  const std::string program = (folder / "crowd").string() + " " + what;
  const fs::path trace = fs::temp_directory_path() / ("crowd_bench_" + std::to_string(getpid()));
  const std::string recorder = (folder / "../streamscope").string();
  std::vector<double> seconds, kib, bare_seconds;
  for (int round = 0; round < (bench::smoke() ? 1 : 5); ++round) {
    const Run bare = run(program);
    const Run recorded =
        run(recorder + " record --quiet --force -o " + trace.string() + " -- " + program);
    // Nothing may be missing: it would reduce the cost.
    run(recorder + " info --json " + trace.string() + " | grep -q '\"dropped\": 0'");
    seconds.push_back(recorded.seconds - bare.seconds);
    kib.push_back(recorded.kib - bare.kib);
    bare_seconds.push_back(bare.seconds);
  }
  fs::remove(trace);
  return {bench::median(seconds), bench::median(kib), bench::median(bare_seconds)};
}

}  // namespace

int main() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const int threads = bench::smoke() ? 5 : 500, forks = bench::smoke() ? 2 : 200;
  const Cost of_threads = measure(folder, "threads " + std::to_string(threads));
  bench::budget("record_500_threads_s", of_threads.seconds, "s", 1.0, bench::Better::kLess);
  bench::rival("bare_500_threads_s", of_threads.bare_seconds, "s");
  bench::budget("record_thread_kib", of_threads.kib / threads, "KiB", 64, bench::Better::kLess);
  const Cost of_forks = measure(folder, "forks " + std::to_string(forks));
  bench::budget("record_200_forks_s", of_forks.seconds, "s", 2.0, bench::Better::kLess);
  bench::rival("bare_200_forks_s", of_forks.bare_seconds, "s");
}
