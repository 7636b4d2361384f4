// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The cost of the viewer on a trace of 10⁷ operations, drawn by software (llvmpipe) at 1920x1080:
// time to the first picture, frame times through every zoom level, memory; and that a frame costs
// pixels, compared with a trace of 10⁴. Then the frame times of a run of 1,000 ranks.
//
// The trace is written to TMPDIR (about 2 GB) and removed, or kept in the folder that
// STREAMSCOPE_BENCH_TRACES names and taken from there by the next run.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "analysis/derive.h"
#include "bench/big_trace.h"
#include "bench/budget.h"
#include "model/loader.h"
#include "model/sketch.h"
#include "support/trace_builder.h"
#include "trace/error.h"
#include "window/app.h"

namespace {

using namespace streamscope;
using Clock = std::chrono::steady_clock;

constexpr size_t kStreams = 16;
constexpr int kWidth = 1920, kHeight = 1080;

int repetitions(int count) { return bench::smoke() ? 1 : count; }

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double resident_gib() {
  long pages = 0;
  std::ifstream("/proc/self/statm").ignore(64, ' ') >> pages;
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 30);
}

double cpu_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

class TraceFile {
 public:
  explicit TraceFile(size_t ops) {
    const char* folder = std::getenv("STREAMSCOPE_BENCH_TRACES");
    is_kept_ = folder != nullptr;
    const std::string name =
        "viewer_bench_" + (is_kept_ ? "" : std::to_string(getpid()) + "_") + std::to_string(ops);
    path_ = (is_kept_ ? std::filesystem::path(folder) : std::filesystem::temp_directory_path()) /
            (name + ".sqlite");
    if (is_kept_ && std::filesystem::exists(path_)) return;
    trace::Trace trace = bench::big_trace(ops, ops * 3 / 10, kStreams);
    trace.strings = {"void gemm_kernel<float, 128>(float*, int)", "relu", "softmax",
                     "cudaLaunchKernel"};
    for (size_t i = 0; i < ops; ++i) {
      trace.op.name_id[i] = static_cast<trace::Id>(i % 3);
      trace.api_call.name_id[i] = 3;
    }
    trace.meta["complete"] = "1";
    test::write_trace(trace, path_);
    trace.file = path_;
    analysis::Analyses analyses(trace);
    analysis::write_derived_tables(analyses);
  }
  ~TraceFile() {
    if (!is_kept_) std::filesystem::remove(path_);
  }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool is_kept_ = false;
};

viewer::Arguments arguments_for(const std::filesystem::path& file) {
  viewer::Arguments arguments;
  arguments.trace = file;
  arguments.width = kWidth;
  arguments.height = kHeight;
  return arguments;
}

// From an open file to pixels; the surface, which a window creates once, exists.
double first_picture_ms(const std::filesystem::path& file) {
  viewer::Offscreen surface(kWidth, kHeight);
  viewer::Workspace workspace(arguments_for(file));
  surface.draw(workspace);  // fonts
  const auto begin = Clock::now();
  std::optional<trace::Trace> sketch = viewer::read_sketch(file, kWidth);
  if (!sketch) sketch = trace::read(file);  // a smoke run's trace is too small for one
  workspace.set_model(std::make_shared<const viewer::TraceModel>(std::move(*sketch), true));
  surface.draw(workspace);
  return ms_since(begin);
}

struct Journey {
  double median_ms, p99_ms;
  double cpu_ms, cpu_p99_ms;  ///< on all CPUs
};

// Zooms in from the whole trace to nanoseconds in its middle and pans at every level.
Journey travel(viewer::Offscreen& surface, viewer::Workspace& workspace,
               std::shared_ptr<const viewer::TraceModel> shown) {
  const viewer::TraceModel& model = *shown;
  workspace.set_model(std::move(shown));
  workspace.state().look.drawer = {};  // as much timeline as possible, for every trace
  surface.draw(workspace);
  fit(model, workspace.state());
  std::vector<double> frames, cpu;
  const auto frame = [&] {
    const auto begin = Clock::now();
    const double cpu_before = cpu_ms();
    surface.draw(workspace);
    frames.push_back(ms_since(begin));
    cpu.push_back(cpu_ms() - cpu_before);
  };
  const double middle = workspace.state().nav.window.width_px * 0.45;
  while (workspace.state().nav.window.ns_per_px > viewer::kMinNsPerPx) {
    zoom(model, workspace.state(), middle, bench::smoke() ? 8 : 1.25);
    frame();
    for (const double px : {40.0, 40.0, -80.0}) {
      pan(model, workspace.state(), px);
      frame();
    }
  }
  std::ranges::sort(frames);
  std::ranges::sort(cpu);
  const size_t p99 = frames.size() * 99 / 100;
  return {bench::median(frames), frames[p99], bench::median(cpu), cpu[p99]};
}

// Ranks that wait the less the higher their number is.
std::shared_ptr<const viewer::JobModel> job_of(int ranks, int collectives) {
  job::StepReader reader;
  for (int rank = 0; rank < ranks; ++rank) {
    job::RankSummary summary;
    summary.identity.rank = rank;
    summary.identity.world_size = ranks;
    summary.communicators = {{"dp", ranks, rank}};
    summary.places = {"", "train.py:1"};
    job::RankIteration& iteration = summary.iterations.emplace_back();
    job::Ns now = 0;
    for (int i = 0; i < collectives; ++i) {
      job::Segment segment{.after = i - 1, .place = 1};
      segment.shares[0] = 1000 + rank * 8000 / ranks;
      iteration.segments.push_back(segment);
      iteration.collectives.push_back({.sequence = static_cast<uint32_t>(i),
                                       .kind = CollectiveKind::kAllReduce,
                                       .issued_ns = now,
                                       .start_ns = now + segment.shares[0],
                                       .end_ns = now + 10'000});
      now += 10'000;
    }
    iteration.segments.push_back({.after = collectives - 1});
    iteration.end_ns = now;
    reader.add(summary);
  }
  return std::make_shared<const viewer::JobModel>(
      report::JobReport{job::analyze(reader.take()), {}}, "run");
}

// Zooms in from the whole run and pans.
double job_frame_ms(viewer::Offscreen& surface, std::shared_ptr<const viewer::JobModel> job) {
  viewer::Workspace workspace(arguments_for("run"));
  workspace.set_job(job);
  workspace.state().look.drawer = {};
  for (uint32_t group = 0; group < job->groups().size(); ++group)
    toggle_fold(*job, workspace.state(), group);
  surface.draw(workspace);
  fit(*job, workspace.state());
  std::vector<double> frames;
  for (int i = 0; i < repetitions(40); ++i) {
    const auto begin = Clock::now();
    surface.draw(workspace);
    frames.push_back(ms_since(begin));
    zoom(*job, workspace.state(), kWidth * 0.4, 1.25);
    pan(*job, workspace.state(), 20);
  }
  return bench::median(frames);
}

}  // namespace

int main() try {
  const size_t ops = bench::scaled(10'000'000);
  const TraceFile large(ops), small(bench::scaled(10'000));
  std::vector<double> first;
  for (int i = 0; i < repetitions(5); ++i) first.push_back(first_picture_ms(large.path()));
  bench::budget("viewer_10m_first_picture_ms", bench::median(first), "ms", 1000,
                bench::Better::kLess);

  viewer::Offscreen surface(kWidth, kHeight);
  viewer::Workspace workspace(arguments_for(large.path()));
  const auto few = viewer::read_model(small.path());
  const auto begin = Clock::now();
  const auto many = viewer::read_model(large.path());
  std::printf("# all of it read in %.1f s\n", ms_since(begin) / 1000);
  // In turn, so that a busy machine slows both.
  std::vector<double> median, p99, ratio, cpu, cpu_p99, short_median;
  for (int i = 0; i < repetitions(3); ++i) {
    const Journey short_one = travel(surface, workspace, few),
                  long_one = travel(surface, workspace, many);
    median.push_back(long_one.median_ms);
    p99.push_back(long_one.p99_ms);
    short_median.push_back(short_one.median_ms);
    ratio.push_back(long_one.median_ms / short_one.median_ms);
    cpu.push_back(long_one.cpu_ms);
    cpu_p99.push_back(long_one.cpu_p99_ms);
  }
  bench::budget("viewer_10m_frame_ms", bench::median(median), "ms", 1000.0 / 60,
                bench::Better::kLess);
  bench::rival("viewer_10k_frame_ms", bench::median(short_median), "ms");
  bench::rival("viewer_10m_frame_cpu_ms", bench::median(cpu), "ms");
  bench::budget("viewer_10m_frame_p99_ms", bench::median(p99), "ms", 33, bench::Better::kLess);
  bench::rival("viewer_10m_frame_cpu_p99_ms", bench::median(cpu_p99), "ms");
  bench::budget("viewer_frame_10m_over_10k", bench::median(ratio), "x", 1.2, bench::Better::kLess);
  bench::budget("viewer_10m_gib", resident_gib(), "GiB", 1.5, bench::Better::kLess);
  const int ranks = static_cast<int>(std::max<size_t>(bench::scaled(1'000), 8));
  bench::budget("viewer_1000_ranks_frame_ms", job_frame_ms(surface, job_of(ranks, 1'000)), "ms",
                1000.0 / 60, bench::Better::kLess);
} catch (const Error& error) {
  std::fprintf(stderr, "viewer_bench: %s\n", error.what());
  return 1;
}
