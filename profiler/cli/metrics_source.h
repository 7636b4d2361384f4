// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the recordings that `streamscope metrics` is about and analyzes those that have changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/iterations/iterations.h"
#include "report/metrics/metrics.h"

namespace streamscope::cli {

/// Thread-compatible.
class MetricsSource {
 public:
  struct Options {
    std::vector<std::filesystem::path> named;  ///< traces, their rings, and folders of traces
    size_t most_processes = 0;
    analysis::IterationRequest iteration;
    bool quiet = false;
  };
  explicit MetricsSource(Options options) : options_(std::move(options)) {}

  /// Of all recordings that are there now; those that run come first, then the newest. A trace that
  /// cannot be read is reported once on standard error, and counted. Throws Error if a path that
  /// was named leads nowhere.
  report::Metrics collect();

 private:
  struct Recording {
    std::filesystem::path file;
    std::string run;
    bool running = false;
    std::filesystem::file_time_type changed;
  };
  /// What tells that a trace has changed: time and size of the file and of its WAL.
  using Version = std::vector<int64_t>;
  struct Known {
    Version version;
    report::ProcessMetrics metrics;
    bool readable = false;
  };

  std::vector<Recording> find() const;
  static Version version_of(const std::filesystem::path& file);
  const Known& analyzed(const Recording& recording);
  /// Adds what ranks cost each other, for the folders of jobs.
  void add_caused_waits(const std::vector<Recording>& recordings, report::Metrics& metrics);

  Options options_;
  std::map<std::filesystem::path, Known> known_;
};

}  // namespace streamscope::cli
