// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "host_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "analysis/call_sites.h"
#include "analysis/labels.h"
#include "analysis/stack_frames.h"
#include "analysis/units.h"
#include "iteration_model.h"
#include "marked_ranges.h"
#include "sample_states.h"
#include "vocabulary/system_call.h"

namespace streamscope::analysis {
namespace {

// Whether stacks are in a library that loads batches.
struct InputStacks {
  explicit InputStacks(const Trace& trace)
      : loads(trace.stack.size()), fetches(trace.stack.size()) {
    constexpr std::string_view kLibraries[] = {"torch/utils/data/", "nvidia/dali/", "webdataset/",
                                               "tensorflow/python/data/", "ffcv/loader/"};
    constexpr std::string_view kRange = "enumerate(DataLoader)#";  // PyTorch's
    for (Id frame = 0; frame < trace.stack_frame.size(); ++frame) {
      const Id stack = trace.stack_frame.stack_id[frame];
      const std::string_view symbol = trace.text(trace.stack_frame.symbol_id[frame]);
      const bool is_loader =
          symbol.starts_with(kRange) || std::ranges::any_of(kLibraries, [&](auto library) {
            return is_in_path(symbol, library);
          });
      if (stack >= loads.size() || !is_loader) continue;
      loads[stack] = true;
      fetches[stack] = fetches[stack] || is_in_path(symbol, "torch/utils/data/_utils/fetch.py") ||
                       symbol.find("#_SingleProcess") != symbol.npos;
    }
  }

  std::vector<bool> loads, fetches;  // by stack
};

// A thread without Python code, such as that of a backward pass, works for one that waits for it,
// or waits for one that prepares its work: the line of that one says more than a function of a
// library.
class PythonThreads {
 public:
  explicit PythonThreads(const Trace& trace)
      : trace_(trace), samples_(trace), has_python_(trace.stack.size()) {
    for (Id frame = 0; frame < trace.stack_frame.size(); ++frame) {
      const Id stack = trace.stack_frame.stack_id[frame];
      if (trace.stack_frame.kind[frame] == trace::kPythonFrame && stack < has_python_.size())
        has_python_[stack] = true;
    }
    std::vector<bool> runs_python(trace.thread.size());
    for (Id sample = 0; sample < trace.host_sample.size(); ++sample) {
      const Id thread = trace.host_sample.thread_id[sample];
      if (thread < runs_python.size() && has_python(sample)) runs_python[thread] = true;
    }
    for (Id thread = 0; thread < runs_python.size(); ++thread) {
      if (runs_python[thread]) threads_.push_back(thread);
    }
  }

  // Of the Python thread that waits for another thread at the time of a sample without Python code;
  // kNoId if there is none, or more than one.
  Id caller(Id sample, const SampleStates& states) const {
    if (has_python(sample)) return kNoId;
    return only_one(sample, [&](Id other) { return waits(other, states); });
  }
  // Of the Python thread that runs while a thread without Python code waits for another; as above.
  Id awaited(Id sample, const SampleStates& states) const {
    if (has_python(sample) || !waits(sample, states)) return kNoId;
    return only_one(sample, [&](Id other) { return states.of(other) == SampleState::kRuns; });
  }

 private:
  bool has_python(Id sample) const {
    const Id stack = trace_.host_sample.stack_id[sample];
    return stack < has_python_.size() && has_python_[stack];
  }
  bool waits(Id sample, const SampleStates& states) const {
    return states.of(sample) == SampleState::kWaits &&
           trace_.host_sample.system_call[sample] == SystemCall::futex;
  }
  // The only sample of another Python thread of the process, at that time, for which it is true.
  Id only_one(Id sample, auto is_wanted) const {
    const auto& rows = trace_.host_sample;
    Id found = kNoId;
    for (const Id thread : threads_) {
      if (thread == rows.thread_id[sample] ||
          trace_.process_of_thread(thread) != trace_.process_of_thread(rows.thread_id[sample]))
        continue;
      const Id other = nearest(thread, rows.at_ns[sample]);
      if (other == kNoId || !has_python(other) || !is_wanted(other)) continue;
      if (found != kNoId) return kNoId;
      found = other;
    }
    return found;
  }
  Id nearest(Id thread, Ns at) const {
    constexpr Ns kNearNs = 3'000'000;  // between samples of the default rate lie 2 ms
    Id best = kNoId;
    Ns least = kNearNs;
    for (const Id sample : samples_.of(thread, at - kNearNs, at + kNearNs)) {
      const Ns distance = std::abs(trace_.host_sample.at_ns[sample] - at);
      if (distance >= least) continue;
      least = distance;
      best = sample;
    }
    return best;
  }

  const Trace& trace_;
  SamplesByThread samples_;
  std::vector<bool> has_python_;  // by stack
  std::vector<Id> threads_;       // ascending
};

// What runs inside of the call sites of stacks: functions of Python, and ranges of a profile.
class InnerFunctions {
 public:
  InnerFunctions(const Trace& trace, const Places& places)
      : trace_(trace), places_(places), frames_(trace) {}

  /// The outermost first.
  const std::vector<std::string>& of(Id stack) {
    const auto [known, is_new] = known_.try_emplace(stack);
    if (!is_new || stack == kNoId || places_.call_site(stack).empty()) return known->second;
    const auto frames = frames_.of(stack);
    for (const Id frame :
         frames.subspan(frames_to_site(trace_, frames, places_.call_site(stack)))) {
      const trace::Small kind = trace_.stack_frame.kind[frame];
      if (kind == trace::kPythonFrame || kind == trace::kRangeFrame)
        known->second.push_back(frame_function(trace_, frame));
    }
    return known->second;
  }

 private:
  const Trace& trace_;
  const Places& places_;
  FramesOfStacks frames_;
  std::map<Id, std::vector<std::string>> known_;
};

// Adds up samples by place and by what the thread does there.
class Summing {
 public:
  /// `looks_inside`: with HostActivity::inside.
  Summing(Analyses& analyses, bool looks_inside)
      : trace_(analyses.trace()),
        places_(analyses.places()),
        states_(analyses.trace()),
        python_(analyses.trace()),
        input_(analyses.trace()) {
    if (looks_inside) inner_.emplace(analyses.trace(), analyses.places());
  }

  void add(Id sample, double weight_ns) {
    if (const Id awaited = python_.awaited(sample, states_); awaited != kNoId) sample = awaited;
    const Id stack = trace_.host_sample.stack_id[sample], caller = python_.caller(sample, states_),
             shown = caller == kNoId ? stack : trace_.host_sample.stack_id[caller];
    const std::string& place = shown == kNoId ? nowhere_ : places_.call_site(shown);
    const SampleState state = states_.of(sample);
    std::string what = states_.text(sample);
    if (caller != kNoId) {
      const Id thread = trace_.host_sample.thread_id[sample];
      what = fmt::format("{} {}", thread_label(trace_, thread), what);
    }
    auto& [activity, sum_ns, input_ns, fetch_ns, inside] = sums_[{place, what}];
    activity = {.place = place,
                .what = what,
                .samples = activity.samples + 1,
                .known = state != SampleState::kNotKnown,
                .runs = state == SampleState::kRuns,
                .for_lock = state == SampleState::kWaitsForLock};
    sum_ns += weight_ns;
    if (inner_) add_inside(inner_->of(shown), weight_ns, inside);
    if (stack != kNoId && input_.loads[stack]) input_ns += weight_ns;
    if (stack != kNoId && input_.fetches[stack]) fetch_ns += weight_ns;
    const Ns delayed = trace_.host_sample.delayed_ns[sample];
    const Ns ran = trace_.host_sample.ran_ns[sample];
    if (delayed == trace::kNoInt || ran == trace::kNoInt) return;
    delayed_ns_ += delayed;
    ready_ns_ += delayed + ran;
  }

  HostActivities result() const {
    HostActivities result{.of_profile = are_samples_of_profile(trace_)};
    double all_ns = 0;
    for (const auto& [key, sum] : sums_) {
      HostActivity& line = result.lines.emplace_back(sum.activity);
      line.each_ns = std::llround(sum.each_ns);
      line.input_ns = std::llround(sum.input_ns);
      line.fetch_ns = std::llround(sum.fetch_ns);
      line.inside = sum.most_inside();
      result.samples += line.samples;
      all_ns += sum.each_ns;
    }
    result.each_ns = std::llround(all_ns);
    if (ready_ns_ > 0)
      result.delayed = static_cast<double>(delayed_ns_) / static_cast<double>(ready_ns_);
    std::ranges::stable_sort(result.lines, std::greater{}, &HostActivity::each_ns);
    return result;
  }

 private:
  using Inside = std::map<std::string, std::pair<double, size_t>>;  // time and depth of functions
  struct Sum {
    HostActivity activity;
    double each_ns = 0, input_ns = 0, fetch_ns = 0;
    Inside inside;

    std::string most_inside() const {
      constexpr double kMost = 0.6;
      std::string found;
      size_t deepest = 0;
      for (const auto& [function, part] : inside) {
        const auto& [time_ns, depth] = part;
        if (depth <= deepest || time_ns < kMost * each_ns) continue;
        found = function;
        deepest = depth;
      }
      return found;
    }
  };

  static void add_inside(const std::vector<std::string>& functions, double weight_ns,
                         Inside& inside) {
    for (size_t i = 0; i < functions.size(); ++i) {
      auto& [time_ns, depth] = inside[functions[i]];
      time_ns += weight_ns;
      depth = std::max(depth, i + 1);
    }
  }

  const Trace& trace_;
  const Places& places_;
  SampleStates states_;
  PythonThreads python_;
  InputStacks input_;
  std::optional<InnerFunctions> inner_;
  std::string nowhere_;
  std::map<std::pair<std::string, std::string>, Sum> sums_;
  Ns delayed_ns_ = 0, ready_ns_ = 0;
};

constexpr std::string_view kOfProfile = "the profile's functions and operators";

// "line 46" of "data.py:46 collate" after another line of the same function; else all of it.
std::string place_after(const std::string& previous, const std::string& place) {
  const auto before = source_line(previous), at = source_line(place);
  if (!before || !at || at->function.empty() || before->file != at->file ||
      before->function != at->function)
    return place;
  return fmt::format("line {}", at->line);
}

// "at data.py:45 collate (runs)"; after one of the same function "at line 46 (runs)"
std::string labeled(const HostActivity& line, const std::string& previous, bool of_profile) {
  if (of_profile && line.place.empty()) return "outside of operators";
  std::string place = line.place.empty() ? "an unknown place" : place_after(previous, line.place);
  if (!line.inside.empty()) place += ", in " + line.inside;
  return line.known ? fmt::format("at {} ({})", place, line.what) : "at " + place;
}

}  // namespace

bool are_samples_of_profile(const Trace& trace) {
  const auto from = trace.meta.find("imported_from");
  return from != trace.meta.end() && from->second.starts_with("kineto");
}

uint64_t profiled_operators(const Trace& trace, const Iterations& iterations) {
  const size_t count = iterations.steady_count();
  if (!are_samples_of_profile(trace) || count == 0) return 0;
  const Ns from = iterations.issued_from_ns(), to = iterations.issued_to_ns();
  const auto& ranges = trace.range;
  uint64_t recorded = 0;
  for (Id range = 0; range < ranges.size(); ++range) {
    recorded += ranges.start_ns[range] >= from && ranges.start_ns[range] < to &&
                trace.process_of_thread(ranges.thread_id[range]) == iterations.process_id &&
                is_operator(trace.text(ranges.domain_id[range]));
  }
  return recorded / count;
}

SamplesByThread::SamplesByThread(const Trace& trace)
    : trace_(trace), threads_(trace.thread.size()) {
  for (Id sample = 0; sample < trace.host_sample.size(); ++sample) {
    const Id thread = trace.host_sample.thread_id[sample];
    if (thread < threads_.size() && trace.host_sample.at_ns[sample] != kUnknownNs)
      threads_[thread].push_back(sample);
  }
  for (std::vector<Id>& samples : threads_) {
    std::ranges::stable_sort(samples, {}, [&](Id id) { return trace.host_sample.at_ns[id]; });
  }
}

std::span<const Id> SamplesByThread::of(Id thread, Ns from, Ns to) const {
  if (thread >= threads_.size() || from >= to) return {};
  const std::vector<Id>& samples = threads_[thread];
  const auto at = [&](Id id) { return trace_.host_sample.at_ns[id]; };
  const auto begin = std::ranges::lower_bound(samples, from, {}, at);
  const auto end = std::ranges::lower_bound(begin, samples.end(), to, {}, at);
  return {begin, end};
}

std::vector<WeighedSample> weighed_samples(const IterationModel& model) {
  const IterationShares& shares = model.shares();
  std::array<size_t, kShareCount> counts{};
  for (const SampledShare& each : shares.sampled) ++counts[static_cast<size_t>(each.share)];
  const auto iterations = static_cast<double>(model.iterations().steady_count());
  std::vector<WeighedSample> result;
  result.reserve(shares.sampled.size());
  for (const auto& [sample, share] : shares.sampled) {
    // The samples of a share stand for its time.
    const auto i = static_cast<size_t>(share);
    result.push_back(
        {sample, static_cast<double>(shares.host[i]) / iterations / static_cast<double>(counts[i]),
         share});
  }
  return result;
}

HostActivities host_activities(Analyses& analyses, const IterationModel& model,
                               const std::function<bool(TimeShare)>& wanted) {
  Summing summing(analyses, false);
  for (const WeighedSample& each : weighed_samples(model)) {
    if (!wanted || wanted(each.share)) summing.add(each.sample, each.each_ns);
  }
  return summing.result();
}

HostActivities host_activities(Analyses& analyses, std::span<const Id> samples, Ns total_ns) {
  Summing summing(analyses, true);
  for (const Id sample : samples)
    summing.add(sample, static_cast<double>(total_ns) / static_cast<double>(samples.size()));
  return summing.result();
}

bool is_input_bound(const HostActivities& activities) {
  // Parts of it, such as moving a batch to page-locked memory, also run elsewhere.
  constexpr double kLeastOfInput = 0.4;
  Ns time = 0;
  for (const HostActivity& line : activities.lines) time += line.input_ns;
  return activities.samples >= kLeastSamples &&
         static_cast<double>(time) >= kLeastOfInput * static_cast<double>(activities.each_ns);
}

bool is_lock_bound(const HostActivities& activities) {
  Ns time = 0;
  for (const HostActivity& line : activities.lines) time += line.for_lock ? line.each_ns : 0;
  return activities.samples >= kLeastSamples && time > activities.each_ns / 2;
}

std::string main_place(const HostActivities& activities) {
  struct Function {
    Ns each_ns = 0;
    std::string place;  // its most expensive line
  };
  std::map<std::string, Function> functions;
  const Function* most = nullptr;
  for (const HostActivity& line : activities.lines) {
    const auto source = source_line(line.place);
    Function& function =
        functions[source ? fmt::format("{} {}", source->file, source->function) : line.place];
    if (function.place.empty()) function.place = line.place;
    function.each_ns += line.each_ns;
    if (!most || function.each_ns > most->each_ns) most = &function;
  }
  return most ? most->place : "";
}

std::string main_activity(const HostActivities& activities) {
  constexpr Ns kLeastMain = 3;  // 1/3 of the time
  if (activities.samples < kLeastSamples) return "";
  const HostActivity& first = activities.lines.front();
  if (first.place.empty() || first.each_ns < activities.each_ns / kLeastMain) return "";
  return first.known ? fmt::format("{} ({})", first.place, first.what) : first.place;
}

std::string counted_source(const HostActivities& activities) {
  return activities.of_profile ? std::string(kOfProfile)
                               : format_count(activities.samples, "sample") + " of its threads";
}

std::string activity_sentence(const HostActivities& activities) {
  constexpr size_t kMostNamed = 3;
  constexpr double kLeastNamed = 0.1;
  if (activities.samples < kLeastSamples || activities.each_ns <= 0) return "";
  std::vector<std::string> parts;
  std::string previous;
  for (const HostActivity& line : activities.lines) {
    const double share =
        static_cast<double>(line.each_ns) / static_cast<double>(activities.each_ns);
    if (parts.size() == kMostNamed || (share < kLeastNamed && !parts.empty())) break;
    parts.push_back(fmt::format("{} {}", format_percent(line.each_ns, activities.each_ns),
                                labeled(line, previous, activities.of_profile)));
    previous = line.place;
  }
  return fmt::format("By {}: {}.", activities.of_profile ? kOfProfile : "samples of the host",
                     fmt::join(parts, ", "));
}

}  // namespace streamscope::analysis
