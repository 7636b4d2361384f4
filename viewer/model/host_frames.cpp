// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "host_frames.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/call_sites.h"
#include "analysis/iterations/host_samples.h"
#include "analysis/stack_frames.h"

namespace streamscope::viewer {
namespace {

constexpr double kNearlyAll = 0.95;  // of the stacks fit into the rows

Ns middle_of(Ns from, Ns to) {
  return add_ns(from, static_cast<double>(distance_ns(from, to)) / 2);
}

// The time between two samples of a thread, as it usually is.
Ns usual_period(const trace::Trace& trace, const analysis::SamplesByThread& samples) {
  std::vector<Ns> distances;
  for (Id thread = 0; thread < trace.thread.size(); ++thread) {
    const std::span<const Id> all = samples.of(thread);
    for (size_t i = 1; i < all.size(); ++i)
      distances.push_back(
          distance_ns(trace.host_sample.at_ns[all[i - 1]], trace.host_sample.at_ns[all[i]]));
  }
  if (distances.empty()) return 1'000'000;
  const auto median = distances.begin() + static_cast<ptrdiff_t>(distances.size() / 2);
  std::ranges::nth_element(distances, median);
  return std::max<Ns>(*median, 1);
}

// A run that may go on.
struct Run {
  Ns start_ns, end_ns;
  Id frame;
  uint32_t first, count;
};

// Of a stack's frames, outermost first, the one in a row of `rows`.
Id frame_in_row(std::span<const Id> chain, size_t row, size_t rows) {
  return row + 1 == rows ? chain.back() : chain[row];
}

using Counted = std::pair<std::string, size_t>;
std::vector<Counted> most_frequent_first(const std::map<std::string, size_t>& counts) {
  std::vector<Counted> result(counts.begin(), counts.end());
  std::ranges::stable_sort(result, std::greater{}, &Counted::second);
  return result;
}

}  // namespace

class HostFrames::Builder {
 public:
  Builder(HostFrames& to, TimeRange usual) : to_(to), trace_(to.trace_), usual_(usual) {}

  void build() {
    name_functions();
    find_chains();
    const analysis::SamplesByThread samples(trace_);
    period_ns_ = usual_period(trace_, samples);
    for (Id thread = 0; thread < trace_.thread.size(); ++thread) {
      if (const std::span<const Id> of_thread = samples.of(thread); !of_thread.empty())
        add_thread(thread, of_thread);
    }
    for (auto* column : {&to_.start_ns_, &to_.end_ns_}) column->finish();
    to_.frame_.finish();
    for (auto* column : {&to_.first_, &to_.count_}) column->finish();
  }

 private:
  void name_functions() {
    const auto& frames = trace_.stack_frame;
    to_.function_of_frame_.resize(frames.size());
    std::map<std::tuple<trace::Small, Id, Id>, uint32_t> by_symbol;
    std::map<std::string, uint32_t> by_name;
    for (Id frame = 0; frame < frames.size(); ++frame) {
      const auto [known, is_new] = by_symbol.try_emplace(
          {frames.kind[frame], frames.symbol_id[frame], frames.module_id[frame]}, 0);
      if (is_new) {
        std::string name = analysis::frame_function(trace_, frame);
        const auto [function, is_first] =
            by_name.try_emplace(name, static_cast<uint32_t>(to_.functions_.size()));
        if (is_first) to_.functions_.push_back(std::move(name));
        known->second = function->second;
      }
      to_.function_of_frame_[frame] = known->second;
    }
  }

  // Frames in a library without symbols that follow each other are one.
  void find_chains() {
    const analysis::FramesOfStacks frames(trace_);
    to_.chains_.resize(frames.size());
    for (Id stack = 0; stack < frames.size(); ++stack) {
      for (const Id frame : frames.of(stack)) {
        std::vector<Id>& chain = to_.chains_[stack];
        const bool nameless = trace_.text(trace_.stack_frame.symbol_id[frame]).empty();
        if (!chain.empty() && nameless && function(chain.back()) == function(frame)) continue;
        chain.push_back(frame);
      }
    }
  }

  uint32_t function(Id frame) const { return to_.function_of_frame_[frame]; }
  Ns at(Id sample) const { return trace_.host_sample.at_ns[sample]; }
  std::span<const Id> chain(Id sample) const { return to_.chain(sample); }

  bool is_usual(Id sample) const {
    return at(sample) >= usual_.begin_ns && at(sample) < usual_.end_ns;
  }

  size_t rows_for(std::span<const Id> samples) const {
    std::vector<size_t> depths;
    for (const bool usual_only : {true, false}) {
      for (const Id sample : samples) {
        if (usual_only && !is_usual(sample)) continue;
        if (const size_t depth = chain(sample).size(); depth > 0) depths.push_back(depth);
      }
      if (!depths.empty()) break;
    }
    if (depths.empty()) return 0;
    const auto most =
        static_cast<size_t>(std::ceil(kNearlyAll * static_cast<double>(depths.size() - 1)));
    std::ranges::nth_element(depths, depths.begin() + static_cast<ptrdiff_t>(most));
    return std::min(depths[most], kMostFrameRows);
  }

  void count_usual(Id thread, std::span<const Id> samples) {
    std::map<Id, size_t> by_stack;
    for (const Id sample : samples) {
      if (is_usual(sample)) ++by_stack[trace_.host_sample.stack_id[sample]];
    }
    std::vector<uint32_t> functions;
    for (const auto& [stack, count] : by_stack) {
      to_.usual_samples_[thread] += count;
      functions.clear();
      if (stack < to_.chains_.size())
        std::ranges::transform(to_.chains_[stack], std::back_inserter(functions),
                               [&](Id frame) { return function(frame); });
      std::ranges::sort(functions);  // a function that calls itself counts once
      const auto repeated = std::ranges::unique(functions);
      functions.erase(repeated.begin(), repeated.end());
      for (const uint32_t each : functions) to_.usual_samples_with_[{thread, each}] += count;
    }
  }

  // The time that the sample `i` stands for, of samples in order of time.
  TimeRange time_of(std::span<const Id> samples, size_t i) const {
    const Ns own = at(samples[i]);
    const auto half = static_cast<double>(period_ns_) / 2;
    return {follows(samples, i) ? middle_of(at(samples[i - 1]), own) : add_ns(own, -half),
            follows(samples, i + 1) ? middle_of(own, at(samples[i + 1])) : add_ns(own, half)};
  }
  // Whether no sample is missing between the sample `i` and the one before it.
  bool follows(std::span<const Id> samples, size_t i) const {
    return i > 0 && i < samples.size() &&
           distance_ns(at(samples[i - 1]), at(samples[i])) / 2 <= period_ns_;
  }

  bool is_same_state(Id a, Id b) const {
    return to_.states_.of(a) == to_.states_.of(b) &&
           trace_.host_sample.system_call[a] == trace_.host_sample.system_call[b];
  }

  void add_thread(Id thread, std::span<const Id> samples) {
    count_usual(thread, samples);
    const size_t depth = rows_for(samples);
    std::vector<std::vector<Run>> rows(1 + depth);  // the state, then functions
    std::vector<Run> open;                          // of functions, outermost first
    const auto base = static_cast<uint32_t>(to_.samples_.size());
    to_.samples_.insert(to_.samples_.end(), samples.begin(), samples.end());
    const auto close_from = [&](size_t row) {
      for (size_t i = row; i < open.size(); ++i) rows[1 + i].push_back(open[i]);
      open.resize(std::min(row, open.size()));
    };
    for (size_t i = 0; i < samples.size(); ++i) {
      const TimeRange time = time_of(samples, i);
      const auto own = static_cast<uint32_t>(base + i);
      const bool goes_on = follows(samples, i);
      if (goes_on && is_same_state(samples[i - 1], samples[i])) {
        rows[0].back().end_ns = time.end_ns;
        ++rows[0].back().count;
      } else {
        rows[0].push_back({time.begin_ns, time.end_ns, kNoId, own, 1});
      }
      const std::span<const Id> all = chain(samples[i]);
      const size_t shown = std::min(all.size(), depth);
      const auto frame_in = [&](size_t row) { return frame_in_row(all, row, depth); };
      size_t same = 0;
      while (goes_on && same < shown && same < open.size() &&
             function(open[same].frame) == function(frame_in(same)))
        ++same;
      close_from(same);
      for (size_t row = 0; row < shown; ++row) {
        if (row == open.size()) open.push_back({time.begin_ns, 0, frame_in(row), own, 0});
        open[row].end_ns = time.end_ns;
        ++open[row].count;
      }
    }
    close_from(0);
    for (const std::vector<Run>& row : rows) {
      for (const Run& run : row) add(run);
      const uint32_t begin = to_.rows_.empty() ? 0 : to_.rows_.back().end;
      to_.rows_.push_back({.thread = thread,
                           .is_state = &row == &rows.front(),
                           .begin = begin,
                           .end = static_cast<uint32_t>(begin + row.size())});
    }
  }

  void add(const Run& run) {
    to_.start_ns_.push(run.start_ns);
    to_.end_ns_.push(run.end_ns);
    to_.frame_.push(run.frame);
    to_.first_.push(run.first);
    to_.count_.push(run.count);
  }

  HostFrames& to_;
  const trace::Trace& trace_;
  TimeRange usual_;
  Ns period_ns_ = 0;
};

HostFrames::HostFrames(const trace::Trace& trace, TimeRange usual) : trace_(trace), states_(trace) {
  // The ranges that samples of a profile are made of are in lanes of their own.
  if (trace.host_sample.size() > 0 && !analysis::are_samples_of_profile(trace))
    Builder(*this, usual).build();
}

std::span<const HostFrames::RunRow> HostFrames::rows_of(Id thread) const {
  const auto found = std::ranges::equal_range(rows_, thread, {}, &RunRow::thread);
  return {found.begin(), found.end()};
}

const HostFrames::RunRow& HostFrames::row_of(Id run) const {
  return *std::ranges::upper_bound(rows_, run, {}, &RunRow::end);
}

std::span<const Id> HostFrames::samples(Id run) const {
  return std::span(samples_).subspan(first_[run], count_[run]);
}

// Enough of them for a summary that is made in each frame.
std::span<const Id> HostFrames::some_samples(Id run) const {
  constexpr size_t kMostSummed = 1000;
  return samples(run).first(std::min<size_t>(count_[run], kMostSummed));
}

std::string HostFrames::label(Id run) const {
  const Id frame = frame_[run];
  return frame == kNoId ? states_.text(samples(run).front())
                        : functions_[function_of_frame_[frame]];
}

std::span<const Id> HostFrames::chain(Id sample) const {
  const Id stack = trace_.host_sample.stack_id[sample];
  return stack < chains_.size() ? std::span<const Id>(chains_[stack]) : std::span<const Id>();
}

std::vector<std::string> HostFrames::lines(Id run) const {
  const RunRow& row = row_of(run);
  if (row.is_state) return {};
  const std::span<const RunRow> rows = rows_of(row.thread).subspan(1);
  const auto index = static_cast<size_t>(&row - rows.data());
  std::map<Id, size_t> by_frame;
  for (const Id sample : some_samples(run))
    ++by_frame[frame_in_row(chain(sample), index, rows.size())];
  std::map<std::string, size_t> by_line;
  for (const auto& [frame, count] : by_frame) {
    const std::string label = analysis::frame_label(trace_, frame);
    if (const auto line = analysis::source_line(label))
      by_line[std::string(line->file) + ":" + std::to_string(line->line)] += count;
  }
  std::vector<std::string> result;
  for (auto& [line, count] : most_frequent_first(by_line)) result.push_back(line);
  return result;
}

std::vector<std::pair<std::string, size_t>> HostFrames::states(Id run) const {
  std::map<std::string, size_t> counts;
  for (const Id sample : some_samples(run)) ++counts[states_.text(sample)];
  return most_frequent_first(counts);
}

HostFrames::Share HostFrames::share(Id run) const {
  const Id thread = thread_of(run);
  const auto all = usual_samples_.find(thread);
  if (frame_[run] == kNoId || all == usual_samples_.end()) return {};
  const auto with = usual_samples_with_.find({thread, function_of_frame_[frame_[run]]});
  return {all->second, with == usual_samples_with_.end() ? 0 : with->second};
}

}  // namespace streamscope::viewer
