// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// imbalance-between-streams (SS309): streams share the work of each iteration, and one of them has
//   1.5 times as much as the others have on average or more, so that the others wait for it.
//   Streams share work if they run the same kernels for at least 80 % of their time, and if the
//   next iteration of each begins when all are done. Evidence: calls, records, times of a steady
//   part. Suspected: the trace shows that the kernels are the same, not that the program can move
//   their work. The gain comes from a replay in which every stream is busy for an equal part of
//   each iteration, but no shorter than its longest kernel, and in which kernels are as slow as
//   they were beside those of the other streams. Without kernels that ran beside others and alone,
//   that is not known, and nothing is said.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>
#include <ranges>

#include "../busy_times.h"
#include "../labels.h"
#include "../units.h"
#include "analysis/iterations/issued_work.h"
#include "analysis/iterations/iteration_series.h"
#include "families.h"
#include "in_iterations.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

constexpr double kLeastImbalance = 1.5;
constexpr double kLeastShared = 0.8;  // of a stream's time, in kernels that the other runs, too
constexpr double kLeastPart = 0.05;   // of the busiest stream's time
constexpr double kLeastOfTime = 0.5;  // in which the busiest stream is busy
constexpr double kBeside = 0.5;       // of a kernel's time, beside other streams; less: alone
constexpr size_t kJoinsLookedAt = 16;

// The kernels that a stream ran in the steady part.
struct BusyStream {
  Id stream = kNoId;
  std::vector<Id> kernels;  // by start
  Ns busy_ns = 0, longest_ns = 0;
  std::map<Id, Ns> by_name;
  BusyTimes times;
};

Ns length(const Trace& trace, Id op) { return trace.op.end_ns[op] - trace.op.start_ns[op]; }

// The busiest first.
std::vector<BusyStream> lanes_of(Analyses& analyses, const Iterations& iterations) {
  const Trace& trace = analyses.trace();
  std::map<Id, BusyStream> by_stream;
  for (const Id op : analyses.by_start()) {
    const Ns start = trace.op.start_ns[op];
    const Id stream = trace.op.stream_id[op];
    if (trace.op.kind[op] != trace::kKernel || start < iterations.steady_start_ns() ||
        start >= iterations.steady_end_ns() ||
        trace.process_of_stream(stream) != iterations.process_id)
      continue;
    BusyStream& lane = by_stream[stream];
    lane.stream = stream;
    lane.kernels.push_back(op);
    trace::add_to(lane.busy_ns, length(trace, op));
    trace::add_to(lane.by_name[trace.op.name_id[op]], length(trace, op));
    lane.longest_ns = std::max(lane.longest_ns, length(trace, op));
    lane.times.add(start, trace.op.end_ns[op]);
  }
  std::vector<BusyStream> lanes;
  for (auto& [stream, lane] : by_stream) lanes.push_back(std::move(lane));
  std::ranges::stable_sort(lanes, std::ranges::greater{}, &BusyStream::busy_ns);
  return lanes;
}

// The part of a lane's time in kernels that the other lane runs, too.
double shared_part(const BusyStream& lane, const BusyStream& other) {
  Ns shared = 0;
  for (const auto& [name, time] : lane.by_name) {
    if (other.by_name.contains(name)) trace::add_to(shared, time);
  }
  return static_cast<double>(shared) / static_cast<double>(std::max<Ns>(1, lane.busy_ns));
}

// True if in most iterations the first kernel of a lane is ordered behind the last kernels that all
// lanes ran before.
bool join(Analyses& analyses, const Iterations& iterations, const std::vector<BusyStream>& lanes) {
  const Trace& trace = analyses.trace();
  const size_t to = std::min(iterations.steady_to, iterations.steady_from + kJoinsLookedAt + 1);
  size_t joins = 0, looked_at = 0;
  for (size_t i = iterations.steady_from + 1; i < to; ++i) {
    const Ns bound = iterations.all[i].start_ns;
    const auto starts_before = [&](Id op) { return trace.op.start_ns[op] < bound; };
    for (const BusyStream& later : lanes) {
      const auto first = std::ranges::partition_point(later.kernels, starts_before);
      for (const BusyStream& earlier : lanes) {
        const auto next = std::ranges::partition_point(earlier.kernels, starts_before);
        if (&later == &earlier || first == later.kernels.end() || next == earlier.kernels.begin())
          continue;
        ++looked_at;
        joins += analyses.before().ordered(*std::prev(next), *first);
      }
    }
  }
  constexpr double kMost = 0.75;
  return looked_at > 0 && static_cast<double>(joins) >= kMost * static_cast<double>(looked_at);
}

// How long kernels would take if all lanes were busy all the time.
class BesideOthers {
 public:
  BesideOthers(const Trace& trace, const std::vector<BusyStream>& lanes)
      : trace_(trace), lanes_(lanes) {
    struct Lengths {
      std::vector<Ns> beside, alone;
    };
    std::map<std::pair<Id, Id>, Lengths> by_shape;
    for (const BusyStream& lane : lanes) {
      for (const Id op : lane.kernels) {
        Lengths& lengths = by_shape[{trace.op.name_id[op], trace.op.launch_shape_id[op]}];
        (is_beside(lane, op) ? lengths.beside : lengths.alone).push_back(length(trace, op));
      }
    }
    constexpr size_t kLeast = 3;
    double beside = 0, alone = 0;
    for (auto& [shape, lengths] : by_shape) {
      if (lengths.beside.size() < kLeast || lengths.alone.size() < kLeast) continue;
      const auto weight = static_cast<double>(lengths.beside.size() + lengths.alone.size());
      beside += weight * static_cast<double>(median(std::move(lengths.beside)));
      alone += weight * static_cast<double>(median(std::move(lengths.alone)));
    }
    if (alone > 0) slower_ = std::max(1.0, beside / alone);
  }

  bool known() const { return slower_ > 0; }
  /// How many times as long kernels take beside those of other lanes as alone.
  double slower() const { return slower_; }
  double length_of(const BusyStream& lane, Id op) const {
    return static_cast<double>(length(trace_, op)) * (is_beside(lane, op) ? 1 : slower_);
  }

 private:
  bool is_beside(const BusyStream& lane, Id op) const {
    const Ns start = trace_.op.start_ns[op], end = trace_.op.end_ns[op];
    return std::ranges::any_of(lanes_, [&](const BusyStream& other) {
      return other.stream != lane.stream && static_cast<double>(other.times.busy_ns(start, end)) >=
                                                kBeside * static_cast<double>(end - start);
    });
  }

  const Trace& trace_;
  const std::vector<BusyStream>& lanes_;
  double slower_ = 0;
};

// The busiest lane, and those that share its work.
std::vector<BusyStream> sharing_lanes(std::vector<BusyStream> lanes) {
  std::vector<BusyStream> result;
  for (BusyStream& lane : lanes) {
    const bool shares =
        result.empty() || (static_cast<double>(lane.busy_ns) >=
                               kLeastPart * static_cast<double>(result.front().busy_ns) &&
                           shared_part(lane, result.front()) >= kLeastShared &&
                           shared_part(result.front(), lane) >= kLeastShared);
    if (shares) result.push_back(std::move(lane));
  }
  return result;
}

// As if lanes shared their work equally.
struct EqualParts {
  double busiest_ns = 0;  // of the whole steady part, while all lanes are busy
  Change change;
};

// Equal parts, but that of the busiest lane no shorter than its longest kernel; nothing if that is
// no less than it has now. An iteration gets as much of all parts as it had of the busiest lane's
// time: which kernels ran beside others is chance. The part of a lane that has no kernels in an
// iteration would run beside those of the others, and is left out.
std::optional<EqualParts> equal_parts(const Trace& trace, const Iterations& iterations,
                                      const std::vector<BusyStream>& lanes,
                                      const BesideOthers& beside) {
  const BusyStream& most = lanes.front();
  IterationSlots slots = IterationSlots::of_device(iterations);
  std::vector<std::vector<double>> needs;  // of each lane if all are busy, by iteration
  std::vector<Ns> busy_ns(slots.count());  // of the busiest lane
  double all = 0;
  for (const BusyStream& lane : lanes) {
    std::vector<double>& need = needs.emplace_back(slots.count());
    for (const Id op : lane.kernels) {
      const uint32_t slot = slots.of(trace.op.start_ns[op]);
      const double length_ns = beside.length_of(lane, op);
      need[slot] += length_ns;
      all += length_ns;
      if (&lane == &most) trace::add_to(busy_ns[slot], length(trace, op));
    }
  }
  const auto busiest = static_cast<double>(most.busy_ns);
  const auto count = static_cast<double>(iterations.steady_count());
  const double equal = std::max(all / static_cast<double>(lanes.size()),
                                static_cast<double>(most.longest_ns) * beside.slower() * count);
  if (equal >= busiest) return {};
  std::vector<double> parts(lanes.size(), (all - equal) / static_cast<double>(lanes.size() - 1));
  parts.front() = equal;
  EqualParts result{.busiest_ns = equal, .change = {}};
  for (size_t i = 0; i < lanes.size(); ++i) {
    for (const Id op : lanes[i].kernels) {
      const uint32_t slot = slots.of(trace.op.start_ns[op]);
      const double needed = parts[i] * static_cast<double>(busy_ns[slot]) / busiest;
      result.change.length_ns[op] =
          needs[i][slot] > 0
              ? std::llround(beside.length_of(lanes[i], op) * needed / needs[i][slot])
              : 0;
    }
  }
  return result;
}

}  // namespace

void find_imbalance_between_streams(Analyses& analyses, Findings& findings) {
  const IterationModel& model = analyses.iteration_model();
  if (!model.found()) return;
  const Trace& trace = analyses.trace();
  const Iterations& iterations = model.iterations();
  const std::vector<BusyStream> lanes = sharing_lanes(lanes_of(analyses, iterations));
  if (lanes.size() < 2) return;
  const BusyStream& most = lanes.front();
  const auto others = static_cast<double>(lanes.size() - 1);
  double others_ns = 0;
  for (const BusyStream& lane : lanes | std::views::drop(1))
    others_ns += static_cast<double>(lane.busy_ns);
  const Ns time = iterations.steady_end_ns() - iterations.steady_start_ns();
  if (static_cast<double>(most.busy_ns) < kLeastImbalance * others_ns / others ||
      static_cast<double>(most.busy_ns) < kLeastOfTime * static_cast<double>(time) ||
      !join(analyses, iterations, lanes))
    return;
  const BesideOthers beside(trace, lanes);
  if (!beside.known()) return;

  const std::optional<EqualParts> parts = equal_parts(trace, iterations, lanes, beside);
  if (!parts) return;
  Finding finding;
  const auto count = static_cast<double>(iterations.steady_count());
  if (!set_iteration_gain(model, parts->change, std::llround(parts->busiest_ns / count), finding))
    return;
  const auto each = [&](double ns) { return format_duration(std::llround(ns / count)); };
  finding.confidence = Confidence::kSuspected;
  finding.title =
      fmt::format("stream {} is busy for {} of an iteration, and {} wait{} for it",
                  stream_label(trace, most.stream), each(static_cast<double>(most.busy_ns)),
                  format_count(lanes.size() - 1, "stream"), lanes.size() == 2 ? "s" : "");
  finding.text = fmt::format(
      "They run the same kernels: the others are busy for {} on average, and the next iteration "
      "begins when all are done. If the work can be divided otherwise, give each stream an equal "
      "part: {}{}.",
      each(others_ns / others), each(parts->busiest_ns),
      beside.slower() > 1.01
          ? fmt::format(", as kernels take {} longer beside those of other streams",
                        format_percent(beside.slower() - 1))
          : "");
  finding.first_op = most.kernels.front();
  finding.second_op = lanes[1].kernels.front();
  finding.count = most.kernels.size();
  findings.add({most.stream}, iterations.steady_end_ns(), [&] { return finding; });
}

}  // namespace streamscope::analysis
