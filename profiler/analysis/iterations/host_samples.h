// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the host did while it held the iterations up, as samples of its threads show it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analysis/analyses.h"
#include "shares.h"

namespace streamscope::analysis {

/// The samples of each thread by time. Immutable, thread-safe; keeps a reference to the trace.
class SamplesByThread {
 public:
  explicit SamplesByThread(const Trace& trace);

  /// Rows of host_sample.
  std::span<const Id> of(Id thread) const {
    return thread < threads_.size() ? std::span(threads_[thread]) : std::span<const Id>();
  }
  /// Those in [from, to). O(log samples).
  std::span<const Id> of(Id thread, Ns from, Ns to) const;

 private:
  const Trace& trace_;
  std::vector<std::vector<Id>> threads_;
};

/// True if no one sampled the host: the samples are made of the functions and operators in a
/// profile (import/function_samples.cpp).
bool are_samples_of_profile(const Trace& trace);

/// How many operators and functions of Python such a profile recorded in a steady iteration (mean),
/// which takes the host time that a bare program does not need. 0 in other traces.
uint64_t profiled_operators(const Trace& trace, const Iterations& iterations);

/// Time of the host that was spent at one place in one way.
struct HostActivity {
  std::string place;   ///< call site, "train.py:41 step"; "" if no stack could be read, or if
                       ///< nothing was open in a profile
  std::string what;    ///< "runs", "waits in futex", ...
  std::string inside;  ///< the innermost function or range there that has most of the time; or ""
  Ns each_ns = 0;      ///< of an iteration
  Ns input_ns = 0;     ///< of that: in a library that loads batches, such as torch.utils.data
  Ns fetch_ns = 0;     ///< of that: the thread itself makes the batch, not a worker
  size_t samples = 0;
  bool known = true;  ///< whether it runs or waits
  bool runs = false;
  bool for_lock = false;  ///< waits for the lock of Python's interpreter
};

/// Longest first.
struct HostActivities {
  std::vector<HostActivity> lines;
  Ns each_ns = 0;  ///< of an iteration: what the lines sum to, but for rounding
  size_t samples = 0;
  double delayed = 0;       ///< part of the time in which a thread was ready but had no processor
  bool of_profile = false;  ///< are_samples_of_profile()
};

/// The samples on the critical path, each with the time of an iteration that it stands for.
struct WeighedSample {
  Id sample;
  double each_ns;
  TimeShare share;
};
std::vector<WeighedSample> weighed_samples(const IterationModel& model);

/// Of the samples on the critical path; with `wanted` only those of shares for which it is true.
HostActivities host_activities(Analyses& analyses, const IterationModel& model,
                               const std::function<bool(TimeShare)>& wanted = {});
/// Of intervals of a thread that together take `total_ns` in an iteration, with what is inside of
/// the lines.
HostActivities host_activities(Analyses& analyses, std::span<const Id> samples, Ns total_ns);

/// True if two fifths of the time or more go into loading batches.
bool is_input_bound(const HostActivities& activities);
/// True if most of the time goes into waiting for Python's lock.
bool is_lock_bound(const HostActivities& activities);
/// Of the function in which most time is spent the line with most of it; "" without samples.
std::string main_place(const HostActivities& activities);
/// "data.py:45 collate (runs)" if one line takes a third or more of the time; else "".
std::string main_activity(const HostActivities& activities);

/// Samples below which nothing is said about a part.
inline constexpr size_t kLeastSamples = 10;

/// What shows where the time went: "1,119 samples of its threads", "the profile's functions and
/// operators".
std::string counted_source(const HostActivities& activities);

/// "By samples of the host: 62 % at data.py:45 collate, in resize (PIL/Image.py) (runs), 21 % at
/// line 46 (runs)."; "" with too few samples.
std::string activity_sentence(const HostActivities& activities);

}  // namespace streamscope::analysis
