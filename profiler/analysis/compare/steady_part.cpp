// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "steady_part.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "compared_work.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

constexpr size_t kFewest = 4;          // repetitions needed
constexpr size_t kMostOps = 1 << 18;   // newest ops of a process that are searched for a period
constexpr double kLeastCovered = 0.5;  // share of device time and time in the repetitions
constexpr double kNearlyBest = 0.97;   // of the best score: an equally good period
constexpr double kSameCount = 0.25;    // maximum difference of counts for the same step
constexpr double kSameWork = 0.9;      // common share of the ops of one repetition

template <class Value>
Value median(std::vector<Value> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// False for a part of a step, such as a layer: it repeats quickly, then pauses for a while. Only
// the newer half is used, because compilation may delay the older one.
bool fills_the_time(double repetitions, Ns median_ns, Ns time_ns) {
  return repetitions * static_cast<double>(median_ns) >=
         kLeastCovered * static_cast<double>(time_ns);
}

// A timed op with its issue time; if the trace does not contain its call, its start time.
struct IssuedOp {
  Ns issued_ns = 0, start_ns = 0, duration_ns = 0;
  uint32_t work = 0;  // group of WorkGroups
};

// One of the two runs.
struct Run {
  explicit Run(Analyses& analyses) : trace(analyses.trace()), groups(trace) {
    std::vector<std::vector<IssuedOp>> processes(trace.process.size());
    for (Id op = 0; op < trace.op.size(); ++op) {
      const Id process = trace.process_of_stream(trace.op.stream_id[op]);
      if (!is_timed(trace, op) || process >= processes.size()) continue;
      const Ns start = trace.op.start_ns[op], issued = analyses.order().issue(op).start_ns;
      processes[process].push_back({issued == kUnknownNs ? start : issued, start,
                                    trace.op.end_ns[op] - start, groups.of(op)});
    }
    Ns most = -1;
    for (Id process = 0; process < processes.size(); ++process) {
      Ns sum = 0;
      for (const IssuedOp& op : processes[process]) trace::add_to(sum, op.duration_ns);
      if (sum <= most) continue;
      most = sum;
      main_process = process;
    }
    if (main_process >= processes.size()) return;
    ops = std::move(processes[main_process]);
    device_ns = most;
    // Ops of one call, such as the nodes of a graph, share one issue time and are unordered.
    std::ranges::stable_sort(ops, {},
                             [](const IssuedOp& op) { return std::pair(op.issued_ns, op.work); });
  }

  const Trace& trace;
  WorkGroups groups;
  Id main_process = kNoId;    // the one with the most work
  std::vector<IssuedOp> ops;  // of that process, as issued
  Ns device_ns = 0;           // of these
};

using Labels = std::map<std::pair<std::string_view, std::string_view>, double>;

// The share of work that two repetitions have in common.
double common_share(const Labels& a, const Labels& b) {
  double common = 0, all = 0;
  for_both(a, b, [&](const auto&, double count, double twin) {
    common += std::min(count, twin);
    all += std::max(count, twin);
  });
  return all == 0 ? 0 : common / all;
}

// ---- NVTX ranges ----

// "ProfilerStep#12" of the PyTorch profiler is "ProfilerStep" number 12.
std::string_view without_number(std::string_view name) {
  const size_t digits = name.find_last_not_of("0123456789");
  return digits != name.npos && digits > 0 && name[digits] == '#' ? name.substr(0, digits) : name;
}

struct Ranges {
  std::vector<std::pair<Ns, Ns>> spans;  // by start; of the thread that has most of them
  std::vector<Ns> done_ns;  // when each range and the work issued since its start had ended
  Ns device_ns = 0;         // of ops issued between the first start and the last end
};

// The host may be far ahead of the device, so the ranges themselves do not show the pace.
std::vector<Ns> done_of(const Run& run, const std::vector<std::pair<Ns, Ns>>& spans) {
  std::vector<Ns> done;
  for (size_t i = 0; i < spans.size(); ++i) {
    const Ns until = i + 1 < spans.size() ? spans[i + 1].first : spans[i].second;
    done.push_back(std::max(spans[i].second, i > 0 ? done[i - 1] : spans[i].second));
    auto op = std::ranges::lower_bound(run.ops, spans[i].first, {}, &IssuedOp::issued_ns);
    for (; op != run.ops.end() && op->issued_ns < until; ++op)
      done.back() = std::max(done.back(), op->start_ns + op->duration_ns);
  }
  return done;
}

std::map<std::string, Ranges, std::less<>> ranges_of(const Run& run, const std::string& wanted) {
  std::map<std::pair<std::string_view, Id>, std::vector<std::pair<Ns, Ns>>> by_thread;
  const auto& range = run.trace.range;
  for (Id id = 0; id < range.size(); ++id) {
    const std::string_view name = without_number(run.trace.text(range.name_id[id]));
    if (name.empty() || (!wanted.empty() && name != without_number(wanted)) ||
        range.start_ns[id] == kUnknownNs || range.end_ns[id] == kUnknownNs ||
        run.trace.process_of_thread(range.thread_id[id]) != run.main_process)
      continue;
    by_thread[{name, range.thread_id[id]}].emplace_back(range.start_ns[id], range.end_ns[id]);
  }
  std::vector<Ns> until{0};  // device time of the ops before each
  for (const IssuedOp& op : run.ops) until.push_back(trace::sum_of(until.back(), op.duration_ns));
  const auto issued_before = [&](Ns at) {
    const auto op = std::ranges::lower_bound(run.ops, at, {}, &IssuedOp::issued_ns);
    return until[static_cast<size_t>(op - run.ops.begin())];
  };
  std::map<std::string, Ranges, std::less<>> found;
  for (auto& [key, spans] : by_thread) {
    std::sort(spans.begin(), spans.end());
    // A range inside one of the same name is part of it.
    std::vector<std::pair<Ns, Ns>> outer;
    for (const auto& span : spans) {
      if (outer.empty() || span.first >= outer.back().second) outer.push_back(span);
    }
    Ranges& ranges = found[std::string(key.first)];
    if (outer.size() <= ranges.spans.size()) continue;
    ranges.spans = std::move(outer);
    ranges.done_ns = done_of(run, ranges.spans);
    ranges.device_ns =
        issued_before(ranges.spans.back().second) - issued_before(ranges.spans.front().first);
  }
  return found;
}

std::vector<Ns> times_of(const Ranges& ranges) {
  std::vector<Ns> times;
  for (size_t i = 1; i < ranges.done_ns.size(); ++i)
    times.push_back(ranges.done_ns[i] - ranges.done_ns[i - 1]);
  return times;
}

Repetitions repetitions_of(const Run& run, const Ranges& ranges, size_t compared) {
  const auto& spans = ranges.spans;
  Repetitions result{.count = spans.size(),
                     .median_ns = median(times_of(ranges)),
                     .from_ns = spans[spans.size() - compared].first,
                     .to_ns = spans.back().second};
  uint64_t ops = 0;
  for (const IssuedOp& op : run.ops)
    ops += op.issued_ns >= result.from_ns && op.issued_ns < result.to_ns;
  result.op_count = ops / compared;
  return result;
}

std::optional<SteadyPart> by_range(const Run& base, const Run& now, const std::string& wanted) {
  const auto before = ranges_of(base, wanted), after = ranges_of(now, wanted);
  const size_t fewest = wanted.empty() ? kFewest : 2;
  const auto is_steady = [](const Run& run, const Ranges& ranges) {
    const size_t last = ranges.spans.size() - 1, middle = last / 2;
    return static_cast<double>(ranges.device_ns) >=
               kLeastCovered * static_cast<double>(run.device_ns) &&
           fills_the_time(static_cast<double>(last - middle), median(times_of(ranges)),
                          ranges.done_ns[last] - ranges.done_ns[middle]);
  };
  const Ranges *best_before = nullptr, *best_after = nullptr;
  std::string best;
  for (const auto& [name, ranges] : before) {
    const auto other = after.find(name);
    if (other == after.end() || ranges.spans.size() < fewest || other->second.spans.size() < fewest)
      continue;
    if (wanted.empty() && (!is_steady(base, ranges) || !is_steady(now, other->second))) continue;
    // Outer ranges are fewer than nested ones.
    if (best_before != nullptr && ranges.spans.size() >= best_before->spans.size()) continue;
    best_before = &ranges;
    best_after = &other->second;
    best = name;
  }
  if (best_before == nullptr) return std::nullopt;
  const size_t compared = std::min(best_before->spans.size(), best_after->spans.size());
  return SteadyPart{.range = best,
                    .compared = compared,
                    .base = repetitions_of(base, *best_before, compared),
                    .now = repetitions_of(now, *best_after, compared)};
}

// ---- Periods of the sequence of ops ----

struct Period {
  size_t length = 0;            // ops
  double score = 0;             // 0 to 1
  double device_share = 0;      // of the device time of the process
  std::vector<size_t> matched;  // indexes of ops that recur one period later
  Ns median_ns = 0;             // from an op to its recurrence
  double count() const {
    return static_cast<double>(matched.size()) / static_cast<double>(length) + 1;
  }
};

class Periods {
 public:
  explicit Periods(const Run& run) : run_(run) {
    first_ = run.ops.size() > kMostOps ? run.ops.size() - kMostOps : 0;
    // Work that only runs during start-up is ignored.
    std::vector<uint32_t> counts(run.groups.all().size()), late(counts.size());
    const size_t middle = first_ + (run.ops.size() - first_) / 2;
    for (size_t i = first_; i < run.ops.size(); ++i) {
      ++counts[work(i)];
      late[work(i)] += i >= middle;
    }
    for (size_t group = 0; group < counts.size(); ++group)
      repeated_.push_back(counts[group] >= kFewest && late[group] > 0 ? counts[group] : 0);
  }

  // Most likely first.
  std::vector<Period> find() {
    std::vector<Period> periods;
    double best = 0;
    for (const size_t length : candidates()) {
      periods.push_back({.length = length, .score = score(length)});
      best = std::max(best, periods.back().score);
    }
    // The longest repeated unit is a whole step, the shortest of equally good ones a single step.
    std::sort(periods.begin(), periods.end(), [&](const Period& a, const Period& b) {
      const bool good = a.score >= kNearlyBest * best, other_good = b.score >= kNearlyBest * best;
      if (good != other_good) return good;
      return good ? a.length < b.length : a.score > b.score;
    });
    constexpr size_t kMostTried = 8;
    if (periods.size() > kMostTried) periods.resize(kMostTried);
    for (Period& period : periods) match(period);
    std::erase_if(periods, [&](const Period& period) { return !is_steady(period); });
    return periods;
  }

 private:
  uint32_t work(size_t op) const { return run_.ops[op].work; }

  // Distances at which the same sequences of ops recur, for several sequence lengths: short ones
  // tolerate variations of a step, long ones skip parts that repeat within a step.
  std::set<size_t> candidates() const {
    constexpr uint64_t kBase = 0x9e3779b97f4a7c15;  // odd; hashes are modulo 2^64
    constexpr size_t kPerRun = 4;
    const size_t n = run_.ops.size() - first_;
    std::vector<uint64_t> prefix(n + 1);
    for (size_t i = 0; i < n; ++i) prefix[i + 1] = prefix[i] * kBase + work(first_ + i) + 1;
    std::set<size_t> lengths;
    for (size_t run = 1; run <= n / kFewest; run *= 4) {
      uint64_t power = 1;
      for (size_t i = 0; i < run; ++i) power *= kBase;
      std::unordered_map<uint64_t, size_t> last;
      std::unordered_map<size_t, size_t> votes;
      for (size_t i = 0; i + run <= n; ++i) {
        const auto [seen, is_new] = last.try_emplace(prefix[i + run] - prefix[i] * power, i);
        if (is_new) continue;
        ++votes[i - seen->second];
        seen->second = i;
      }
      std::vector<std::pair<size_t, size_t>> by_votes;
      for (const auto& [length, count] : votes) {
        if (length <= n / kFewest) by_votes.emplace_back(count, length);
      }
      std::sort(by_votes.rbegin(), by_votes.rend());
      for (size_t i = 0; i < std::min(kPerRun, by_votes.size()); ++i)
        lengths.insert(by_votes[i].second);
    }
    return lengths;
  }

  bool comes_again(size_t op, size_t length) const {
    return op + length < run_.ops.size() && work(op) == work(op + length);
  }

  // How well a period explains every kind of work that repeats, rare and frequent with equal
  // weight: a frequent kernel that mostly follows itself is not a period of one op.
  double score(size_t length) const {
    std::vector<uint32_t> explained(repeated_.size());
    for (size_t i = first_; i < run_.ops.size(); ++i) {
      if (comes_again(i, length) || (i >= first_ + length && work(i) == work(i - length)))
        ++explained[work(i)];
    }
    double sum = 0, sorts = 0;
    for (size_t group = 0; group < repeated_.size(); ++group) {
      if (repeated_[group] == 0) continue;
      sum += static_cast<double>(explained[group]) / repeated_[group];
      ++sorts;
    }
    return sorts == 0 ? 0 : sum / sorts;
  }

  bool is_steady(const Period& period) const {
    if (period.count() < static_cast<double>(kFewest) || period.device_share < kLeastCovered)
      return false;
    const size_t middle = period.matched[period.matched.size() / 2],
                 last = period.matched.back() + period.length;
    return fills_the_time(static_cast<double>(last - middle) / static_cast<double>(period.length),
                          period.median_ns, run_.ops[last].start_ns - run_.ops[middle].start_ns);
  }

  // An isolated match is a coincidence.
  void match(Period& period) const {
    const size_t least = std::max<size_t>(1, period.length / 4);
    Ns held = 0;
    size_t seen = first_;  // ops before it are counted in `held`
    for (size_t i = first_; i < run_.ops.size();) {
      size_t end = i;
      while (comes_again(end, period.length)) ++end;
      if (end - i >= least) {
        for (size_t op = i; op < end; ++op) period.matched.push_back(op);
        for (seen = std::max(seen, i); seen < end + period.length; ++seen)
          trace::add_to(held, run_.ops[seen].duration_ns);
      }
      i = end + 1;
    }
    std::vector<Ns> times;
    times.reserve(period.matched.size());
    for (const size_t op : period.matched)
      times.push_back(run_.ops[op + period.length].start_ns - run_.ops[op].start_ns);
    period.median_ns = median(times);
    Ns all = 0;
    for (size_t i = first_; i < run_.ops.size(); ++i) trace::add_to(all, run_.ops[i].duration_ns);
    period.device_share = all == 0 ? 0 : static_cast<double>(held) / static_cast<double>(all);
  }

  const Run& run_;
  size_t first_ = 0;
  std::vector<uint32_t> repeated_;  // by group: how often; 0 if ignored
};

// The work of one repetition.
Labels labels_of(const Run& run, const Period& period) {
  std::vector<uint64_t> counts(run.groups.all().size());
  for (size_t i = period.matched.front(); i <= period.matched.back(); ++i)
    ++counts[run.ops[i].work];
  const double repetitions =
      static_cast<double>(period.matched.size()) / static_cast<double>(period.length);
  Labels labels;
  for (size_t group = 0; group < counts.size(); ++group) {
    if (counts[group] == 0) continue;
    const WorkGroup& work = run.groups.all()[group];
    labels[{work.label, work.stream}] += static_cast<double>(counts[group]) / repetitions;
  }
  return labels;
}

Repetitions repetitions_of(const Run& run, const Period& period, size_t compared) {
  const size_t last = period.matched.back() + period.length;
  const size_t first = last + 1 - std::min(last + 1, compared * period.length);
  return {.count = static_cast<uint64_t>(period.count()),
          .median_ns = period.median_ns,
          .op_count = period.length,
          .from_ns = run.ops[first].issued_ns,
          .to_ns = run.ops[last].issued_ns + 1};
}

std::optional<SteadyPart> by_period(const Run& base, const Run& now) {
  const std::vector<Period> before = Periods(base).find(), after = Periods(now).find();
  for (size_t rank = 0; rank < before.size() + after.size(); ++rank) {
    for (size_t i = 0; i <= rank; ++i) {
      if (i >= before.size() || rank - i >= after.size()) continue;
      const Period &b = before[i], &n = after[rank - i];
      const bool same_work = common_share(labels_of(base, b), labels_of(now, n)) >= kSameWork;
      const bool same_count =
          std::abs(b.count() - n.count()) <= kSameCount * std::max(b.count(), n.count());
      if (!same_work && !same_count) continue;
      const auto compared = static_cast<size_t>(std::min(b.count(), n.count()));
      return SteadyPart{.same_work = same_work,
                        .compared = compared,
                        .base = repetitions_of(base, b, compared),
                        .now = repetitions_of(now, n, compared)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<SteadyPart> steady_part(Analyses& base, Analyses& now, const std::string& range) {
  const Run before(base), after(now);
  if (auto found = by_range(before, after, range)) return found;
  return range.empty() ? by_period(before, after) : std::nullopt;
}

}  // namespace streamscope::analysis
