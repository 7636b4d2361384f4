// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The cost of commands on a trace of 10⁷ operations: wall-clock time and the highest resident
// memory, each as a separate process. The trace is a recording with its derived tables: 10⁷
// operations and their calls, 3·10⁶ records and waits of events, 10⁵ synchronizations and 10⁵
// ranges on four threads and sixteen streams.
//
// The trace is written to TMPDIR (about 3 GB) and removed, or kept in the folder that
// STREAMSCOPE_BENCH_TRACES names and taken from there by the next run.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/derive.h"
#include "bench/big_trace.h"
#include "bench/budget.h"
#include "support/trace_builder.h"
#include "trace/error.h"

namespace {

using namespace streamscope;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kStreams = 16;
constexpr size_t kOpsPerStep = 100;

// What else a program does in a step: it names it, and waits for the device at its end.
void add_steps(trace::Trace& trace) {
  for (size_t i = kOpsPerStep; i < trace.op.size(); i += kOpsPerStep) {
    const trace::Ns begin = trace.api_call.start_ns[i - kOpsPerStep],
                    end = trace.api_call.end_ns[i - 1];
    const trace::Id thread = trace.api_call.thread_id[i - 1];
    trace.range.append(trace::Range{.thread_id = thread,
                                    .kind = trace::kPushPop,
                                    .name_id = 6,
                                    .start_ns = begin,
                                    .end_ns = end + 60});
    trace.host_sync.append(trace::HostSync{.thread_id = thread,
                                           .kind = trace::kStreamSynchronize,
                                           .name_id = 5,
                                           .stream_id = trace.api_call.stream_id[i - 1],
                                           .start_ns = end + 5,
                                           .end_ns = end + 50,
                                           .result = 0});
  }
}

void make_trace(const fs::path& file, size_t ops) {
  trace::Trace trace = bench::big_trace(ops, ops * 3 / 10, kStreams);
  trace.strings = {"void gemm_kernel<float, 128>(float*, int)",
                   "relu",
                   "softmax",
                   "cudaLaunchKernel",
                   "cudaMemcpyAsync",
                   "cudaStreamSynchronize",
                   "step"};
  for (size_t i = 0; i < ops; ++i) {
    trace.op.name_id[i] = static_cast<trace::Id>(i % 3);
    trace.api_call.name_id[i] = i % 8 == 0 ? 4 : 3;
    if (i % 8 != 0) trace.op.launch_shape_id[i] = static_cast<trace::Id>(i % 3);
  }
  for (const trace::Small blocks : {64, 132, 1024}) {
    trace.launch_shape.append({.grid_x = blocks,
                               .grid_y = 1,
                               .grid_z = 1,
                               .block_x = 256,
                               .block_y = 1,
                               .block_z = 1,
                               .registers = 32});
  }
  add_steps(trace);
  trace.meta["complete"] = "1";
  trace.meta["tier"] = "times";
  test::write_trace(trace, file);
  trace.file = file;
  analysis::Analyses analyses(trace);
  analysis::write_derived_tables(analyses);
}

class TraceFile {
 public:
  explicit TraceFile(size_t ops) {
    const char* folder = std::getenv("STREAMSCOPE_BENCH_TRACES");
    is_kept_ = folder != nullptr;
    const std::string name =
        "commands_bench_" + (is_kept_ ? "" : std::to_string(getpid()) + "_") + std::to_string(ops);
    path_ = (is_kept_ ? fs::path(folder) : fs::temp_directory_path()) / (name + ".sqlite");
    if (is_kept_ && fs::exists(path_)) return;
    // In a separate process: its resources must not count for the commands.
    const pid_t child = fork();
    if (child == 0) {
      try {
        make_trace(path_, ops);
        _exit(0);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "commands_bench: %s\n", error.what());
        _exit(2);
      }
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) std::exit(2);
  }
  ~TraceFile() {
    if (!is_kept_) fs::remove(path_);
  }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool is_kept_ = false;
};

struct Cost {
  double seconds, gib;
};

// Runs `streamscope ARGUMENTS`, whose output nobody reads.
Cost run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), STREAMSCOPE_PROGRAM);
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  const auto begin = Clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    execv(words[0], words.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) ||
      (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 1 && WEXITSTATUS(status) != 3)) {
    std::fprintf(stderr, "commands_bench: streamscope %s ended with status %d\n",
                 arguments[1].c_str(), status);
    std::exit(2);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::printf("# %s: processor time %.1f s\n", arguments[1].c_str(),
              static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec));
  return {seconds, static_cast<double>(usage.ru_maxrss) / (1 << 20)};
}

void measure(const std::string& name, double limit_s, double limit_gib,
             const std::vector<std::string>& arguments) {
  const Cost cost = run(arguments);
  bench::budget((name + "_10m_ops_s").c_str(), cost.seconds, "s", limit_s, bench::Better::kLess);
  if (limit_gib > 0)
    bench::budget((name + "_10m_ops_gib").c_str(), cost.gib, "GiB", limit_gib,
                  bench::Better::kLess);
}

}  // namespace

int main() {
  const TraceFile trace(bench::scaled(10'000'000));
  const std::string file = trace.path().string(), page = file + ".html";
  measure("info", 1, 0, {"info", "--quiet", file});
  measure("report", 20, 2.5, {"report", "--quiet", file});
  measure("check", 20, 2.5, {"check", "--quiet", file});
  measure("html", 25, 2.5, {"report", "--quiet", "--format", "html", "-o", page, file});
  fs::remove(page);
}
