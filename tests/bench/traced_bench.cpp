// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The cost per operation of reporting to a profiler: submit_loop recorded, not recorded, and with a
// libcoord that has no observer at all, in turn.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/budget.h"

namespace {

namespace bench = streamscope::bench;
namespace fs = std::filesystem;

/// What a command prints; ends the program if it fails.
std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) std::exit(2);
  char part[4096];
  while (std::fgets(part, sizeof part, pipe) != nullptr) text += part;
  if (pclose(pipe) != 0) {
    std::fprintf(stderr, "failed: %s\n%s", command.c_str(), text.c_str());
    std::exit(2);
  }
  return text;
}

struct Costs {
  double off, on, plain;
};

Costs measure(const fs::path& folder, const std::string& dependencies, int rounds) {
  const std::string loop = (folder / "submit_loop").string();
  const std::string arguments = " " + dependencies + (bench::smoke() ? " 1 10" : " 15 2000");
  const fs::path trace = fs::temp_directory_path() / ("traced_bench_" + std::to_string(getpid()));
  std::vector<double> off, on, plain;
  for (int round = 0; round < (bench::smoke() ? 1 : rounds); ++round) {
    const double untraced = std::stod(output_of(loop + "_untraced" + arguments));
    const double reported_nobody = std::stod(output_of(loop + arguments));
    const double recorded =
        std::stod(output_of((folder / "../streamscope").string() + " record --quiet --force -o " +
                            trace.string() + " -- " + loop + arguments));
    const std::string info =
        output_of((folder / "../streamscope").string() + " info --json " + trace.string());
    if (info.find("\"dropped\": 0") == std::string::npos) {
      std::fprintf(stderr, "the recorder could not keep up: %s", info.c_str());
      std::exit(1);
    }
    off.push_back(reported_nobody - untraced);
    on.push_back(recorded - reported_nobody);
    plain.push_back(reported_nobody);
  }
  fs::remove(trace);
  return {bench::median(off), bench::median(on), bench::median(plain)};
}

}  // namespace

int main() {
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const Costs alone = measure(folder, "0", 15), dependent = measure(folder, "4", 5);
  bench::budget("traced_operation_on_ns", alone.on, "ns", 30, bench::Better::kLess);
  bench::rival("traced_operation_with_4_dependencies_on_ns", dependent.on, "ns");
  bench::rival("operation_not_traced_ns", alone.plain, "ns");
  bench::budget("traced_operation_off_ns", alone.off, "ns", 2, bench::Better::kLess);
  bench::rival("traced_operation_with_4_dependencies_off_ns", dependent.off, "ns");
}
