// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "loader.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "analysis/derive.h"
#include "job/run_summaries.h"
#include "sketch.h"
#include "trace/error.h"
#include "trace/loss.h"

namespace streamscope::viewer {
namespace {

constexpr int kOverviewZoom = 16;  // what is only sketched is as fine as this zoom needs
constexpr std::chrono::milliseconds kArrivalPoll{20};

// All tables except the pyramid, from which a sketch is made.
std::vector<std::string_view> tables_to_read() {
  std::vector<std::string_view> names;
#define STREAMSCOPE_NAME(sql_name, Row, COLUMNS) names.push_back(#sql_name);
  STREAMSCOPE_TABLES(STREAMSCOPE_NAME)
#undef STREAMSCOPE_NAME
  std::erase(names, "lod");
  return names;
}

bool has_log(const RunProgress& progress, const std::string& trace) {
  const auto file = progress.files.find(trace);
  return file != progress.files.end() && is_written(file->second);
}

// `progress` has the state of the files.
void note_progress(const job::RunFolder& run, size_t ranks, RunProgress& progress) {
  progress.world_size = run.world_size;
  progress.is_recorded = std::ranges::any_of(
      run.unfinished, [&](const std::string& trace) { return has_log(progress, trace); });
  const bool lacks_ranks = run.world_size > static_cast<int64_t>(ranks);
  progress.is_running =
      progress.is_recorded || (lacks_ranks && quiet_for(progress.files) <= kQuietRun);
}

// What is being recorded is unfinished, as expected.
void leave_out_recorded(const RunProgress& progress, report::JobReport& report) {
  std::erase_if(report.unfinished,
                [&](const std::string& trace) { return has_log(progress, trace); });
  for (job::RankRow& rank : report.job.steps.ranks) {
    if (rank.incomplete == trace::kUnfinished && has_log(progress, rank.identity.trace))
      rank.incomplete.clear();
  }
}

}  // namespace

std::shared_ptr<const TraceModel> read_model(const std::filesystem::path& file,
                                             const Progress& progress, size_t derive_up_to) {
  trace::ReadOptions options;
  options.only = tables_to_read();
  options.progress = progress;
  return std::make_shared<const TraceModel>(trace::read(file, options), false, derive_up_to);
}

std::shared_ptr<const JobModel> read_job(const std::filesystem::path& folder,
                                         const Progress& progress) {
  RunProgress now{.files = state_of_folder(folder), .read_at = std::chrono::steady_clock::now()};
  const job::RunFolder run = job::read_run_folder(folder);
  const std::vector<job::RankIdentity> ranks = job::first_traces(run, folder);
  note_progress(run, ranks.size(), now);
  double read = 0;  // share of the ranks
  const auto report = [&](double fraction) {
    read = fraction;
    return !progress || progress(fraction);
  };
  trace::ReadOptions options = analysis::options_to_analyze();
  options.progress = [&](double) { return report(read); };
  job::Steps steps = job::read_steps(
      folder, ranks, {},
      [&](const std::filesystem::path& file) { return trace::read(file, options); }, report);
  report::JobReport found{.job = job::analyze(std::move(steps)),
                          .problems = run.problems,
                          .unfinished = run.unfinished};
  leave_out_recorded(now, found);
  return std::make_shared<const JobModel>(
      std::move(found), (std::filesystem::absolute(folder) / "").lexically_normal().parent_path(),
      std::move(now));
}

Loader::Loader(std::filesystem::path file, int width_px, std::function<void()> on_change,
               Arrival arrival)
    : file_(std::move(file)),
      width_px_(width_px),
      arrival_(std::move(arrival)),
      on_change_(std::move(on_change)) {
  worker_.start([this] {
    return run([this] {
      load_sketch(width_px_);
      if (!kHasThreads) return;
      while (!has_arrived()) {
        if (cancelled_ || is_only_sketched()) return;
        std::this_thread::sleep_for(kArrivalPoll);
      }
      load_all();
    });
  });
}

Loader::~Loader() { cancelled_ = true; }

void Loader::step() {
  const std::optional<bool> is_done = worker_.take();
  if (kHasThreads) return;
  if (part_ == Part::kSketch && is_done && *is_done) part_ = Part::kArrival;
  if (part_ != Part::kArrival) return;
  run([this] {
    if (!has_arrived()) return;
    part_ = Part::kAll;
    worker_.start([this] { return run([this] { load_all(); }); });
  });
}

bool Loader::has_arrived() {
  const double arrived = arrival_ ? arrival_() : 1;
  if (arrived < 0) {
    if (!model())
      throw Error(file_, "is too large to be read here, and has no overview",
                  "run streamscope analyze on it, which adds one");
    load_sketch(kOverviewZoom * width_px_);
    part_ = Part::kOnlySketch;
  } else if (arrived < 1) {
    report(arrived);
  } else {
    progress_ = 0;
  }
  return arrived >= 1;
}

template <class Work>
bool Loader::run(const Work& work) {
  bool is_done = true;
  try {
    work();
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    error_ = explain(error);
    progress_ = 1;
    is_done = false;
  }
  on_change_();
  return is_done;
}

void Loader::load_sketch(int width_px) {
  if (std::filesystem::is_directory(file_)) return;
  if (std::optional<trace::Trace> sketch = read_sketch(file_, width_px))
    publish(model_, std::make_shared<const TraceModel>(std::move(*sketch), true));
}

void Loader::load_all() {
  const auto report = [this](double fraction) { return this->report(fraction); };
  if (std::filesystem::is_directory(file_)) {
    publish(job_, read_job(file_, report));
  } else {
    publish(model_, read_model(file_, report));
  }
  progress_ = 1;
}

bool Loader::report(double fraction) {
  if (fraction - progress_ >= 0.01) {
    progress_ = fraction;
    on_change_();
  }
  return !cancelled_;
}

template <class Model>
void Loader::publish(std::shared_ptr<const Model>& as, std::shared_ptr<const Model> model) {
  {
    const std::lock_guard lock(mutex_);
    as = std::move(model);
  }
  on_change_();
}

std::shared_ptr<const TraceModel> Loader::model() const {
  const std::lock_guard lock(mutex_);
  return model_;
}

std::shared_ptr<const JobModel> Loader::job() const {
  const std::lock_guard lock(mutex_);
  return job_;
}

std::string Loader::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

}  // namespace streamscope::viewer
