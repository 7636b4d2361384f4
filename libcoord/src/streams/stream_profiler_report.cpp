// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Sums of the timed pieces: per stream, and for all streams together.

#include <algorithm>
#include <cstdio>

#include "stream_profiler_impl.h"

namespace coord {

// One stream

StreamReport WatchedStream::report() {
  {
    const std::lock_guard asking(collecting_);
    collect();
  }
  const std::lock_guard lock(mutex_);
  StreamReport result = report_;
  if (watched() && alive())
    result.operations = state_.counts.operations.load() - operations_before_;
  if (alive()) report_.peak_memory_bytes = state_.counts.peak_memory.load();
  result.peak_memory_bytes = report_.peak_memory_bytes;
  Nanoseconds total{0};
  const auto add = [&](const WorkTimes& times) {
    total += times.total;
    if (times.timed == 0) return;
    const double share = static_cast<double>(times.count) / static_cast<double>(times.timed);
    result.busy += Nanoseconds(
        static_cast<std::int64_t>(static_cast<double>(times.total.count()) * std::max(share, 1.0)));
  };
  std::ranges::for_each(result.work, add);
  add(result.sections);
  if (result.timed > 0) result.average_latency = total / static_cast<std::int64_t>(result.timed);
  result.span = Nanoseconds(end_ns_ - begin_ns_);
  return result;
}

// All streams

void History::add(const Interval& interval) {
  const std::lock_guard lock(mutex_);
  if (intervals_.size() >= most_) intervals_.pop_front();
  if (most_ > 0) intervals_.push_back(interval);
}

std::vector<Interval> History::all() const {
  const std::lock_guard lock(mutex_);
  return {intervals_.begin(), intervals_.end()};
}

ProfileReport StreamProfiler::Impl::report() {
  ProfileReport result;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& stream : streams_) {
      result.streams.push_back(stream->report());
      result.records += stream->records();
    }
  }
  result.records += axis_.records();
  struct Edge {
    std::int64_t at_ns;
    int step;  // 1: it begins, -1: it ends
    const Interval* interval;
  };
  const std::vector<Interval> intervals = history_.all();
  std::vector<Edge> edges;
  for (const Interval& interval : intervals) {
    edges.push_back({interval.begin_ns, 1, &interval});
    edges.push_back({interval.end_ns, -1, &interval});
  }
  if (edges.empty()) return result;
  std::ranges::sort(edges, {}, &Edge::at_ns);
  int running = 0, copies = 0, computes = 0;
  std::int64_t before_ns = edges.front().at_ns, work_ns = 0;
  for (const Edge& edge : edges) {
    const Nanoseconds passed(edge.at_ns - before_ns);
    work_ns += running * passed.count();
    if (running > 0) result.busy += passed;
    if (copies > 0) result.copying += passed;
    if (copies > 0 && computes > 0) result.overlapped += passed;
    running += edge.step;
    if (edge.interval->copies) copies += edge.step;
    if (edge.interval->computes) computes += edge.step;
    before_ns = edge.at_ns;
  }
  result.span = Nanoseconds(edges.back().at_ns - edges.front().at_ns);
  if (result.busy.count() > 0)
    result.concurrency = static_cast<double>(work_ns) / static_cast<double>(result.busy.count());
  return result;
}

// For people

namespace {

double microseconds(Nanoseconds time) { return static_cast<double>(time.count()) / 1e3; }

double percent(Nanoseconds part, Nanoseconds of) {
  return of.count() == 0
             ? 0.0
             : 100 * static_cast<double>(part.count()) / static_cast<double>(of.count());
}

WorkTimes sum_of(const StreamReport& stream, WorkKind first, WorkKind last) {
  WorkTimes sum;
  for (auto kind = static_cast<std::size_t>(first); kind <= static_cast<std::size_t>(last);
       ++kind) {
    const WorkTimes& times = stream.work[kind];
    sum.count += times.count;
    sum.timed += times.timed;
    sum.timed_bytes += times.timed_bytes;
    sum.total += times.total;
  }
  return sum;
}

}  // namespace

std::string ProfileReport::text() const {
  char line[256];
  std::snprintf(line, sizeof line, "%-20s %8s %8s %10s %6s %8s %10s %8s %10s %8s %8s\n", "stream",
                "priority", "timed", "busy us", "used %", "kernels", "average us", "copies",
                "average us", "GB/s", "pageable");
  std::string result = line;
  for (const StreamReport& stream : streams) {
    const WorkTimes kernels = sum_of(stream, WorkKind::kKernel, WorkKind::kGraph);
    const WorkTimes copies = sum_of(stream, WorkKind::kCopyToDevice, WorkKind::kPrefetch);
    const std::string name =
        stream.name.empty() ? "stream " + std::to_string(stream.stream.value) : stream.name;
    std::snprintf(line, sizeof line,
                  "%-20.20s %8d %8llu %10.1f %6.1f %8llu %10.1f %8llu %10.1f %8.1f %8llu\n",
                  name.c_str(), stream.priority, static_cast<unsigned long long>(stream.timed),
                  microseconds(stream.busy), 100 * stream.utilization(),
                  static_cast<unsigned long long>(kernels.count), microseconds(kernels.average()),
                  static_cast<unsigned long long>(copies.count), microseconds(copies.average()),
                  copies.bytes_per_s() / 1e9,
                  static_cast<unsigned long long>(stream.pageable_copies));
    result += line;
  }
  std::snprintf(line, sizeof line,
                "all: busy %.1f of %.1f us, %.2f streams at a time; %.0f %% of %.1f us of copies "
                "overlap kernels\n",
                microseconds(busy), microseconds(span), concurrency, percent(overlapped, copying),
                microseconds(copying));
  return result + line;
}

}  // namespace coord
