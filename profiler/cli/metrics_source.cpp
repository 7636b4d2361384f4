// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "metrics_source.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "job/files/run_folder.h"
#include "jobs.h"
#include "record/run/rings_folder.h"
#include "terminal.h"
#include "trace/error.h"
#include "trace/loss.h"
#include "trace/sqlite/open.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

namespace fs = std::filesystem;

double seconds_of(auto duration) { return std::chrono::duration<double>(duration).count(); }

std::string folder_of_run(const fs::path& folder) {
  return fs::absolute(folder / "").lexically_normal().parent_path().filename().string();
}

// The trace of a folder of rings.
fs::path trace_of(const fs::path& named) {
  const fs::path path = named.has_filename() ? named : named.parent_path();
  return path.extension() == ".rings" ? fs::path(path).replace_extension() : path;
}

}  // namespace

std::vector<MetricsSource::Recording> MetricsSource::find() const {
  std::vector<Recording> found;
  std::error_code error;
  const auto add = [&](const fs::path& file, std::string run) {
    if (trace::is_unwritten(file)) return;  // its recorder has seen no CUDA call
    found.push_back({file, std::move(run), fs::exists(record::rings_path(file), error),
                     fs::last_write_time(file, error)});
  };
  for (const fs::path& named : options_.named) {
    const fs::path path = trace_of(named);
    if (is_run(path)) {
      for (const std::string& name : job::traces_in(path)) add(path / name, folder_of_run(path));
    } else if (fs::exists(path, error)) {
      add(path, path.stem().string());
    } else {
      throw Error(named, "is neither a trace nor a folder of traces", "check the path");
    }
  }
  // Running ones by name, so that the choice does not change each time that they are written.
  std::ranges::stable_sort(found, [](const Recording& a, const Recording& b) {
    if (a.running != b.running) return a.running;
    if (!a.running && a.changed != b.changed) return a.changed > b.changed;
    return a.file < b.file;
  });
  return found;
}

MetricsSource::Version MetricsSource::version_of(const fs::path& file) {
  Version version;
  for (const char* suffix : {"", "-wal"}) {
    const fs::path part = file.string() + suffix;
    std::error_code error;
    const auto changed = fs::last_write_time(part, error);
    const auto bytes = fs::file_size(part, error);
    version.push_back(error ? 0 : changed.time_since_epoch().count());
    version.push_back(error ? 0 : static_cast<int64_t>(bytes));
  }
  return version;
}

const MetricsSource::Known& MetricsSource::analyzed(const Recording& recording) {
  Known& known = known_[recording.file];
  Version version = version_of(recording.file);
  if (known.version == version) return known;
  try {
    known.metrics = report::metrics_of(load_to_analyze(recording.file, options_.quiet),
                                       recording.run, options_.iteration);
    known.readable = true;
    version = recording.running ? version : version_of(recording.file);  // reading may complete it
  } catch (const Error& error) {
    known.readable = false;
    message("{}", explain(error));
  }
  known.version = std::move(version);
  return known;
}

report::Metrics MetricsSource::collect() {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Recording> recordings = find();
  report::Metrics metrics{.version = STREAMSCOPE_VERSION};
  if (recordings.size() > options_.most_processes) {
    metrics.left_out = recordings.size() - options_.most_processes;
    recordings.resize(options_.most_processes);
  }
  std::set<fs::path> there;
  for (const Recording& recording : recordings) {
    there.insert(recording.file);
    const Known& known = analyzed(recording);
    if (known.readable)
      metrics.processes.push_back(known.metrics);
    else
      ++metrics.unreadable;
  }
  std::erase_if(known_, [&](const auto& entry) { return !there.contains(entry.first); });
  if (metrics.left_out == 0) add_caused_waits(recordings, metrics);
  metrics.took_s = seconds_of(std::chrono::steady_clock::now() - begin);
  metrics.analyzed_at_s = seconds_of(std::chrono::system_clock::now().time_since_epoch());
  return metrics;
}

void MetricsSource::add_caused_waits(const std::vector<Recording>& recordings,
                                     report::Metrics& metrics) {
  std::set<fs::path> folders;
  for (const Recording& recording : recordings) folders.insert(recording.file.parent_path());
  for (const fs::path& folder : folders) {
    const bool named = std::ranges::any_of(
        options_.named, [&](const fs::path& path) { return (path / "").parent_path() == folder; });
    if (!named) continue;
    try {
      const job::RunFolder run = read_run(folder);
      if (run.ranks.size() < 2) continue;
      const job::Job job = load_job(folder, run, "auto", options_.quiet).job;
      for (report::ProcessMetrics& process : metrics.processes) {
        if (process.run != folder_of_run(folder)) continue;
        for (const job::RankRow& rank : job.steps.ranks)
          if (rank.identity.rank == process.rank) process.caused_ns = 0;
        for (const job::Straggler& straggler : job.stragglers)
          if (job.steps.ranks[straggler.rank_row].identity.rank == process.rank)
            process.caused_ns = straggler.caused_ns;
      }
    } catch (const Error&) {
      continue;  // not the folder of a job, or its ranks have no iterations yet
    }
  }
}

}  // namespace streamscope::cli
