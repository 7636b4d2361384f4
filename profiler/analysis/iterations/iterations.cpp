// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "iterations.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "alike_work.h"
#include "analysis/labels.h"
#include "analysis/units.h"
#include "equal_rounds.h"
#include "iteration_series.h"
#include "layers.h"
#include "marked_ranges.h"
#include "periods.h"
#include "steady_range.h"
#include "trace/checks.h"
#include "trace/ns_math.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kAnchorOps = 16;  // of an iteration's beginning, by which it is found again

// Of a sequence; more of them are launches that repeat, not iterations.
constexpr size_t kMostIterations = 1'000'000;

// Where iterations begin, as indexes of IssuedWork; the last element is where the last one ends.
using Bounds = std::vector<size_t>;

// ---- Sequences ----

using Run = std::span<const size_t>;

// The parts of an ascending list in which each number follows the one before.
std::vector<Run> runs_of(const std::vector<size_t>& numbers) {
  std::vector<Run> runs;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    runs.push_back(Run(numbers).subspan(i, end - i));
    i = end;
  }
  return runs;
}

// A period says how long an iteration is, not where it begins. After a long pause, as between
// epochs, a program begins one; it usually ends with a whole one. If it went on with other work, or
// the recording was cut short, the repetition ends or begins with a whole one, or the host pauses
// longest between two: the longest of these pauses decides.
class Phase {
 public:
  Phase(const IssuedWork& work, const Period& period)
      : work_(work), period_(period), runs_(runs_of(period.matched)) {
    run_ = *std::ranges::max_element(runs_, {}, [](Run run) { return run.size(); });
  }

  // The index of an op that begins an iteration. An extra op moves all later ones by one, so only
  // the longest run without one counts.
  size_t first() const {
    if (const auto op = after_long_pause()) return *op;
    const auto [begin, end] = std::pair(run_.front(), run_.back() + 1);
    const size_t length = period_.length;
    size_t best = end % length;
    const bool until_the_end = end + length == work_.size();
    if (!until_the_end || pause_before(best) < 2 * typical_pause()) {
      Ns longest = -1;
      for (const size_t phase : {begin % length, end % length, widest()}) {
        const Ns pause = pause_before(phase);
        if (pause <= longest) continue;
        longest = pause;
        best = phase;
      }
    }
    return begin + (best + length - begin % length) % length;
  }

 private:
  // In what begins the last long run. Code is loaded in the first one, anywhere.
  std::optional<size_t> after_long_pause() const {
    const auto is_long = [&](Run run) { return run.size() >= kFewestIterations * period_.length; };
    const auto first = std::ranges::find_if(runs_, is_long);
    const auto last = std::ranges::find_if(runs_.rbegin(), runs_.rend(), is_long);
    if (first == runs_.end() || first->data() == last->data()) return std::nullopt;
    const auto begin = last->first(period_.length);
    const size_t op = *std::ranges::max_element(begin, {}, [&](size_t i) { return pause(i); });
    return pause(op) >= 2 * period_.usual_ns ? std::optional(op) : std::nullopt;
  }
  Ns pause(size_t op) const { return op == 0 ? 0 : work_.issued_ns(op) - work_.issued_ns(op - 1); }
  Ns pause_before(size_t phase) const {
    std::vector<Ns> pauses;
    for (const size_t op : run_) {
      if (op % period_.length == phase) pauses.push_back(pause(op));
    }
    return median(std::move(pauses));
  }
  Ns typical_pause() const {
    std::vector<Ns> pauses;
    for (const size_t op : run_) pauses.push_back(pause(op));
    return median(std::move(pauses));
  }
  // The phase with the longest pause before it, by its median. Only the newest repetitions count.
  size_t widest() const {
    constexpr size_t kMost = 32;
    const size_t length = period_.length;
    const size_t from = run_.size() - std::min(run_.size(), kMost * length);
    std::vector<std::vector<Ns>> pauses(length);
    for (size_t i = from; i < run_.size(); ++i) pauses[run_[i] % length].push_back(pause(run_[i]));
    size_t best = 0;
    Ns longest = -1;
    for (size_t phase = 0; phase < length; ++phase) {
      const Ns typical = median(std::move(pauses[phase]));
      if (typical <= longest) continue;
      longest = typical;
      best = phase;
    }
    return best;
  }

  const IssuedWork& work_;
  const Period& period_;
  std::vector<Run> runs_;  // matched ops, one after the other
  Run run_;                // the longest
};

// Follows a sequence through all ops. An iteration with more or fewer ops than usual is found by
// how it begins.
class SequenceWalk {
 public:
  SequenceWalk(const IssuedWork& work, const Period& period, size_t first)
      : work_(work), length_(period.length), most_pauses_(period.most_pauses()) {
    const size_t count = std::clamp<size_t>(length_ / 3, 1, kAnchorOps);
    for (size_t i = first; i < first + count; ++i) anchor_.push_back(work.symbol(i));
  }

  Bounds bounds(size_t first) const {
    size_t pauses = 0;
    const auto whole_after = [&](size_t at) -> std::optional<size_t> {
      for (size_t next = at + length_ + 1; next + length_ <= work_.size(); ++next) {
        if (is_whole(next, first)) return next;
      }
      return std::nullopt;
    };
    const auto whole_before = [&](size_t at) -> std::optional<size_t> {
      for (size_t next = at; next-- > 0;) {
        if (next + length_ < at && is_whole(next, first)) return next;
      }
      return std::nullopt;
    };
    const auto follow = [&](auto next, auto resume) {
      Bounds bounds{first};
      while (true) {
        std::optional<size_t> at = next(bounds.back());
        if (!at && pauses < most_pauses_) {
          at = resume(bounds.back());
          ++pauses;
        }
        if (!at) return bounds;
        bounds.push_back(*at);
      }
    };
    Bounds bounds = follow([&](size_t at) { return before(at); }, whole_before);
    std::ranges::reverse(bounds);
    const Bounds later = follow([&](size_t at) { return after(at); }, whole_after);
    bounds.insert(bounds.end(), later.begin() + 1, later.end());
    // The last one may have been cut short.
    const size_t last = bounds.back();
    if (bounds.size() > 1 && is_whole(last, bounds[bounds.size() - 2]))
      bounds.push_back(last + length_);
    return bounds;
  }

 private:
  bool begins(size_t at) const {
    if (at + anchor_.size() > work_.size()) return false;
    size_t different = 0;
    for (size_t i = 0; i < anchor_.size(); ++i) different += work_.symbol(at + i) != anchor_[i];
    return different * 8 <= anchor_.size();
  }
  // True if an iteration begins there that has nearly the same ops as another, position by
  // position.
  bool is_whole(size_t at, size_t other) const {
    if (!begins(at) || at + length_ > work_.size() || other + length_ > work_.size()) return false;
    size_t same = 0;
    for (size_t i = 0; i < length_; ++i) same += work_.symbol(other + i) == work_.symbol(at + i);
    return same * 10 >= length_ * 9;
  }
  // The nearest beginning to `expected` within half a period.
  std::optional<size_t> near(size_t expected, size_t least, size_t most) const {
    for (size_t off = 0; off <= length_ / 2; ++off) {
      if (expected + off <= most && begins(expected + off)) return expected + off;
      if (off > 0 && expected >= least + off && begins(expected - off)) return expected - off;
    }
    return std::nullopt;
  }
  std::optional<size_t> after(size_t at) const {
    if (at + length_ / 2 >= work_.size()) return std::nullopt;
    return near(at + length_, at + 1, work_.size() - 1);
  }
  std::optional<size_t> before(size_t at) const {
    if (at < length_) return std::nullopt;
    return near(at - length_, 0, at - 1);
  }

  const IssuedWork& work_;
  size_t length_, most_pauses_;
  std::vector<uint32_t> anchor_;
};

// ---- Iterations from bounds ----

// The ops [first, last) of IssuedWork as the next iteration.
void add_iteration(const IssuedWork& work, size_t first, size_t last, Iteration iteration,
                   std::vector<Iteration>& all) {
  Ns done = kUnknownNs;
  if (!all.empty()) {
    iteration.start_ns = done = all.back().end_ns;
    iteration.last_op = all.back().last_op;
  }
  for (size_t i = first; i < last; ++i) {
    const Ns end = work.end_ns(i);
    if (end <= done) continue;
    done = end;
    iteration.last_op = work.id(i);
  }
  iteration.op_count = last - first;
  if (iteration.end_ns == kUnknownNs) iteration.end_ns = done;
  all.push_back(iteration);
}

std::vector<Iteration> iterations_of(const IssuedWork& work, const Bounds& bounds) {
  std::vector<Iteration> all;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    const Ns issued = work.issued_ns(bounds[i]);
    add_iteration(work, bounds[i], bounds[i + 1], {.start_ns = issued, .issued_ns = issued}, all);
  }
  return all;
}

std::vector<Iteration> iterations_of(const IssuedWork& work, const MarkedRanges& ranges) {
  std::vector<Iteration> all;
  const auto& spans = ranges.spans;
  for (size_t i = 0; i < spans.size(); ++i) {
    const Ns issued = spans[i].first,
             until = i + 1 < spans.size() ? spans[i + 1].first : spans[i].second;
    add_iteration(work, work.first_issued(issued), work.first_issued(until),
                  {.start_ns = issued, .end_ns = ranges.done_ns[i], .issued_ns = issued}, all);
  }
  return all;
}

// Operators and functions that a framework's profiler marks: not what the program's author marked.
bool is_of_framework(std::string_view name) {
  static constexpr std::string_view kPrefixes[] = {
      "aten::", "c10d::", "nccl", "gloo:", "<", "nn.Module: ", "record_param_comms"};
  return std::ranges::any_of(kPrefixes,
                             [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         name.find(".py(") != name.npos;
}

// The best of the ranges that may be iterations: those that name a step, then outer ones, which are
// fewer than nested ones, then those with most work. PyTorch's profiler usually records three
// steps.
const NamedMarks* best_ranges(const MarkedByName& found, bool wanted, auto may_be) {
  const auto rank = [](const NamedMarks& named) {
    const MarkedRanges& ranges = named.second;
    return std::tuple(names_a_step(named.first), -static_cast<int64_t>(ranges.spans.size()),
                      ranges.inside_ns);
  };
  const NamedMarks* best = nullptr;
  for (const NamedMarks& named : found) {
    const size_t fewest = wanted                      ? 1
                          : names_a_step(named.first) ? kFewestMarked
                                                      : kFewestIterations;
    if (named.second.spans.size() < fewest || !may_be(named)) continue;
    if (!best || rank(named) > rank(*best)) best = &named;
  }
  return best;
}

void take(const IssuedWork& work, const NamedMarks& marks, Iterations& result) {
  result.name = marks.first;
  result.source = IterationSource::kRange;
  result.thread_id = marks.second.thread_id;
  result.all = iterations_of(work, marks.second);
}

void from_ranges(const IssuedWork& work, const MarkedByName& found, bool wanted,
                 Iterations& result) {
  const NamedMarks* best = best_ranges(found, wanted, [&](const NamedMarks& named) {
    return wanted || (!is_of_framework(named.first) && is_steady(work, named.second, HeldOf::kRun));
  });
  if (!best) {
    best = best_ranges(found, wanted, [&](const NamedMarks& named) {
      return names_a_step(named.first) && !is_of_framework(named.first) &&
             is_steady(work, named.second, HeldOf::kAfterStartUp);
    });
  }
  if (best) take(work, *best, result);
}

// PyTorch's profiler may have recorded a single step, whose name has a number.
void from_single_step(const IssuedWork& work, const MarkedByName& found, Iterations& result) {
  for (const NamedMarks& named : found) {
    if (named.second.spans.size() == 1 && named.second.numbered && names_a_step(named.first) &&
        !is_of_framework(named.first) && is_steady(work, named.second, HeldOf::kAfterStartUp))
      return take(work, named, result);
  }
}

// `held_ns` of device time is the work of the program, which has iterations between the bounds.
bool is_enough(const IssuedWork& work, Ns held_ns, const Bounds& bounds) {
  const Ns around = work.device_ns_around(0, bounds.front(), bounds.back());
  return static_cast<double>(held_ns) >= kLeastCovered * static_cast<double>(around);
}

// A sequence may recur everywhere, and follow itself only in start-up.
bool hold_the_work(const IssuedWork& work, const Bounds& bounds) {
  Ns held = 0;
  for (size_t i = bounds.front(); i < bounds.back(); ++i) trace::add_to(held, work.duration_ns(i));
  return is_enough(work, held, bounds);
}

// Ops that are all alike show no beginning.
bool are_alike(const IssuedWork& work, size_t first, size_t length) {
  for (size_t i = first + 1; i < first + length; ++i) {
    if (work.symbol(i) != work.symbol(first)) return false;
  }
  return true;
}

// Of the work that a period matches.
Bounds every_op(const Period& period) {
  const size_t first = period.matched.front(), last = period.matched.back() + period.length;
  Bounds bounds(last + 2 - first);
  std::iota(bounds.begin(), bounds.end(), first);
  return bounds;
}

void from_sequence(Analyses& analyses, const IssuedWork& work, Iterations& result) {
  const auto may_be = [&](const Bounds& bounds) {
    return bounds.size() > kFewestIterations && hold_the_work(work, bounds);
  };
  const auto take = [&](const Bounds& bounds, double repeated) {
    if (bounds.size() > kMostIterations) return;
    result.source = IterationSource::kSequence;
    result.repeated = repeated;
    result.all = iterations_of(work, bounds);
  };
  const auto take_steps = [&](const Bounds& rounds, double repeated) {
    const auto steps = steps_of_rounds(analyses, work, rounds);
    if (!steps || !may_be(steps->bounds)) return false;
    result.rounds = steps->rounds;
    take(steps->bounds, repeated);
    return true;
  };
  for (const Period& period : find_periods(work)) {
    const size_t first = Phase(work, period).first();
    if (are_alike(work, first, period.length)) {
      const AlikeParts parts = parts_between_syncs(analyses, work, period);
      if (may_be(parts.bounds)) return take(parts.bounds, parts.repeated);
      take_steps(every_op(period), period.score);
      return;
    }
    const Bounds bounds = SequenceWalk(work, period, first).bounds(first);
    if (!may_be(bounds) || are_layers(work, bounds)) continue;
    if (!take_steps(bounds, period.score)) take(bounds, period.score);
    return;
  }
}

void from_graph(const IssuedWork& work, Iterations& result) {
  const Trace& trace = work.trace();
  // Device time and launches of each executable graph.
  struct Graph {
    Ns device_ns = 0;
    Bounds bounds;
    Id last_call = kNoId;
  };
  std::map<trace::Int, Graph> graphs;
  for (size_t i = 0; i < work.size(); ++i) {
    const Id call = trace.op.api_call_id[work.id(i)];
    if (call >= trace.api_call.size() || trace.api_call.kind[call] != CallKind::kGraphLaunch)
      continue;
    Graph& graph = graphs[trace.api_call.object[call]];
    trace::add_to(graph.device_ns, work.duration_ns(i));
    if (graph.last_call == call) continue;
    graph.last_call = call;
    graph.bounds.push_back(i);
  }
  const Graph* best = nullptr;
  for (const auto& [object, graph] : graphs) {
    if (graph.bounds.size() >= kFewestIterations && (!best || graph.device_ns > best->device_ns))
      best = &graph;
  }
  if (!best || !is_enough(work, best->device_ns, best->bounds)) return;
  Bounds bounds = best->bounds;
  bounds.push_back(work.size());
  result.source = IterationSource::kGraph;
  result.all = iterations_of(work, bounds);
}

// ---- The steady part ----

// A part of iterations, as [first, last).
using Part = std::pair<size_t, size_t>;

// The part without those at both ends for which `lacks` is true of their time.
Part without_ends(const Iterations& iterations, Part part, auto lacks) {
  const auto is_bad = [&](size_t i) {
    return lacks(iterations.all[i].issued_ns, iterations.issued_until_ns(i + 1));
  };
  while (part.first < part.second && is_bad(part.first)) ++part.first;
  while (part.second > part.first && is_bad(part.second - 1)) --part.second;
  return part;
}

// Without device times, the device would seem to be idle: a program that hangs or ends by _exit()
// leaves such iterations. Without calls, nothing is known of the host: a recording may begin with
// those, and all iterations of some profiles are like that.
Part known_part(const IssuedWork& work, const Iterations& iterations, size_t fewest) {
  const Part timed = without_ends(iterations, {0, iterations.all.size()}, [&](Ns from, Ns to) {
    return work.untimed_between(from, to) > 0;
  });
  const Part called =
      without_ends(iterations, timed, [&](Ns from, Ns to) { return work.has_uncalled(from, to); });
  return called.second - called.first >= fewest ? called : timed;
}

// False where most of the work that was issued has no times, but what came before it has.
bool are_most_of_the_work(const IssuedWork& work, const Iterations& iterations) {
  size_t timed = 0;
  for (size_t i = 0; i < iterations.all.size(); ++i) timed += iterations.all[i].op_count;
  constexpr Ns kEver = std::numeric_limits<Ns>::max();
  const size_t others = work.untimed_between(0, iterations.all.front().issued_ns) +
                        work.untimed_between(iterations.all.back().end_ns, kEver);
  return timed >= others;
}

// Outliers at its beginning are no part of the steady part.
void trim_warm_up(const std::vector<Ns>& durations, Iterations& iterations) {
  const auto at = [&](size_t index) { return durations.begin() + static_cast<ptrdiff_t>(index); };
  const Ns typical = median(std::vector<Ns>(at(iterations.steady_from), at(iterations.steady_to)));
  while (iterations.steady_count() > 1 && static_cast<double>(durations[iterations.steady_from]) >=
                                              kOutlierFactor * static_cast<double>(typical))
    ++iterations.steady_from;
}

}  // namespace

bool parse(std::string_view text, IterationRequest& request) {
  request = {.off = text == "none"};
  const size_t colon = text.find(':');
  const auto source = number_named(kIterationSources, text.substr(0, colon));
  if (!source) return request.off || text == "auto";
  request.source = static_cast<IterationSource>(*source);
  if (colon != text.npos) request.range = text.substr(colon + 1);
  return request.source == IterationSource::kRange ? !request.range.empty() : colon == text.npos;
}

Iterations find_iterations(Analyses& analyses, const IterationRequest& request) {
  Iterations result;
  if (request.off) return result;
  const auto wants = [&](IterationSource source) {
    return !result.found() &&
           (request.source == IterationSource::kNone || request.source == source);
  };
  const IssuedWork work(analyses, IssuedWork::With::kTimes);
  if (work.empty()) return result;
  result.process_id = work.process();
  MarkedByName marked;
  if (wants(IterationSource::kRange)) {
    marked = marked_ranges(work, request.range);
    from_ranges(work, marked, !request.range.empty(), result);
  }
  if (wants(IterationSource::kSequence)) from_sequence(analyses, IssuedWork(analyses), result);
  if (wants(IterationSource::kGraph)) from_graph(work, result);
  if (wants(IterationSource::kRange)) from_single_step(work, marked, result);
  if (!result.found()) return result;

  const size_t fewest = result.source == IterationSource::kRange
                            ? std::min(kFewestMarked, result.all.size())
                            : kFewestIterations;
  const auto [from, to] = known_part(work, result, fewest);
  const auto with_work =
      std::ranges::count_if(std::span(result.all).subspan(from, to - from),
                            [](const Iteration& iteration) { return iteration.op_count > 0; });
  if (static_cast<size_t>(with_work) < fewest || !are_most_of_the_work(work, result)) return {};
  std::vector<Ns> durations;
  for (size_t i = from; i < to; ++i) durations.push_back(result.all[i].duration_ns());
  std::tie(result.steady_from, result.steady_to) = steady_range(durations);
  trim_warm_up(durations, result);
  result.steady_from += from;
  result.steady_to += from;
  result.known_to = to;
  measure_steady(result);
  return result;
}

Ns Iterations::usual_ns(std::vector<Ns> of_each, std::vector<Ns> durations) const {
  constexpr auto kMost = static_cast<double>(2 * trace::kMostNs);  // as long as any duration
  const double usual = interquartile_mean(std::move(durations));
  if (usual <= 0) return 0;
  const double share = interquartile_mean(std::move(of_each)) / usual;
  return std::llround(std::min(kMost, static_cast<double>(median_ns) * share));
}

std::vector<Ns> Iterations::steady_durations() const {
  std::vector<Ns> durations;
  for (size_t i = steady_from; i < steady_to; ++i) durations.push_back(all[i].duration_ns());
  return durations;
}

void measure_steady(Iterations& iterations) {
  const std::vector<Ns> steady = iterations.steady_durations();
  std::vector<uint64_t> counts;
  for (size_t i = iterations.steady_from; i < iterations.steady_to; ++i)
    counts.push_back(iterations.all[i].op_count);
  const Quartiles usual = quartiles_of(steady);
  iterations.low_ns = usual.low_ns;
  iterations.median_ns = usual.median_ns;
  iterations.high_ns = usual.high_ns;
  iterations.op_count = median(std::move(counts));
  iterations.outlier_count = 0;
  for (const Ns duration : steady)
    iterations.outlier_count +=
        static_cast<double>(duration) >= kOutlierFactor * static_cast<double>(iterations.median_ns);
}

std::string how_found(const Iterations& iterations) {
  switch (iterations.source) {
    case IterationSource::kRange:
      return fmt::format("NVTX range \"{}\"", printable(iterations.name));
    case IterationSource::kSequence:
      return fmt::format(
          "{}{} that {}, {} alike", format_count(iterations.op_count, "op"),
          iterations.rounds > 1 ? fmt::format(" in {} equal rounds", iterations.rounds)
                                : std::string(),
          iterations.op_count == 1 ? "repeats" : "repeat", format_percent(iterations.repeated));
    case IterationSource::kGraph:
      return "launches of one graph";
    case IterationSource::kNone:
      break;
  }
  return "";
}

}  // namespace streamscope::analysis
