// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Loads a trace, or a run of many ranks, on a separate thread so that the window stays responsive:
// first a sketch of a large trace, then all of it.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "background.h"
#include "job_model.h"
#include "trace_model.h"

namespace streamscope::viewer {

/// Called with the progress, in [0, 1]; returns false to cancel.
using Progress = std::function<bool(double)>;

/// Reads a trace into a model. With more than `derive_up_to` ops, the derived tables replace the
/// analyses if the trace has them. Throws Error like trace::read().
std::shared_ptr<const TraceModel> read_model(const std::filesystem::path& file,
                                             const Progress& progress = {},
                                             size_t derive_up_to = kDeriveUpTo);

/// Reads the folder of a run; summaries that ranks have not yet are made. Throws Error.
std::shared_ptr<const JobModel> read_job(const std::filesystem::path& folder,
                                         const Progress& progress = {});

/// How much of a file is there to be read, from 0 to 1; below 0: never all of it.
using Arrival = std::function<double()>;

/// UI thread only, except `on_change`, which is called from the worker.
class Loader {
 public:
  /// `file`: a trace, or the folder of a run. Waits after the sketch until all of it has arrived;
  /// `arrival` may be called from the worker.
  Loader(std::filesystem::path file, int width_px, std::function<void()> on_change,
         Arrival arrival = {});
  ~Loader();

  /// Loads where there is no thread to do it; call it before each look at what is loaded.
  void step();
  double progress() const { return progress_; }
  /// The trace is too large to be read here: the sketch, if there is one, is all.
  bool is_only_sketched() const { return part_ == Part::kOnlySketch; }
  /// What is loaded so far: nothing, a sketch, or the model.
  std::shared_ptr<const TraceModel> model() const;
  /// The run, once it is loaded.
  std::shared_ptr<const JobModel> job() const;
  /// Why loading failed, in the reader's words; empty while loading or after success.
  std::string error() const;
  void wait() const { worker_.wait(); }

 private:
  /// True once the whole can be read.
  bool has_arrived();
  /// Does one part of the work, and keeps why it failed.
  template <class Work>
  bool run(const Work& work);
  void load_sketch(int width_px);
  void load_all();
  /// Takes note of the progress; false to cancel.
  bool report(double fraction);
  template <class Model>
  void publish(std::shared_ptr<const Model>& as, std::shared_ptr<const Model> model);

  const std::filesystem::path file_;
  const int width_px_;
  enum class Part { kSketch, kArrival, kAll, kOnlySketch };
  std::atomic<Part> part_ = Part::kSketch;  // with threads, changes only to kOnlySketch
  const Arrival arrival_;
  std::atomic<double> progress_ = 0;
  std::atomic<bool> cancelled_ = false;
  mutable std::mutex mutex_;
  std::shared_ptr<const TraceModel> model_;
  std::shared_ptr<const JobModel> job_;
  std::string error_;
  std::function<void()> on_change_;
  Background<bool> worker_;  // last: it uses the others
};

}  // namespace streamscope::viewer
