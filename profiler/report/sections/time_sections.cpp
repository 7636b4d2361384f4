// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "time_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "analysis/left_out.h"
#include "lists.h"
#include "summary.h"
#include "trace/ns_math.h"

namespace streamscope::report {
namespace {

using analysis::device_label;
using analysis::event_label;
using analysis::format_bytes;
using analysis::format_count;
using analysis::format_duration;
using analysis::format_mean;
using analysis::format_percent;
using analysis::IterationSeries;
using analysis::op_label;
using analysis::PerIteration;
using analysis::printable;
using analysis::Quartiles;
using analysis::stream_label;
using streamscope::WaitCause;
using trace::Trace;

constexpr const char* kWholeRun = "whole run";  // the second row of a stream or a device

// The cells of an iteration: medians with their spread. Remembers the outliers.
class IterationCells {
 public:
  explicit IterationCells(const Summary& summary) : iterations_(summary.iteration.iterations) {}

  bool known() const { return iterations_.found(); }
  /// "1.52 ms ± 3.10 µs"; empty if the whole run has no such time.
  std::string time(const IterationSeries& series, const std::string& what) {
    if (series.total_ns() == 0) return "";
    const Quartiles usual = look(series, what);
    return format_duration(usual.median_ns) +
           (usual.spread_ns() > 0 ? " ± " + format_duration(usual.spread_ns()) : "");
  }
  /// "88 % ± 2 %" of the iteration; a spread below 0.5 % is not worth the space.
  std::string share(const IterationSeries& series, const std::string& what) {
    if (series.total_ns() == 0) return "";
    constexpr Ns kLeastShown = 200;  // 1/200
    const Quartiles usual = look(series, what);
    std::string text = format_percent(usual.median_ns, iterations_.median_ns);
    if (usual.spread_ns() > iterations_.median_ns / kLeastShown)
      text += " ± " + format_percent(usual.spread_ns(), iterations_.median_ns);
    return text;
  }
  Quartiles usual(const IterationSeries& series) const {
    return per_iteration(series, iterations_).usual;
  }
  std::string count(uint64_t steady) const {
    return format_mean(static_cast<double>(steady) /
                       static_cast<double>(iterations_.steady_count()));
  }
  /// Names the worst outliers.
  void describe(Section& section) {
    constexpr size_t kMostNamed = 3;
    std::ranges::stable_sort(outliers_, std::greater{}, &Outlier::more_ns);
    std::string text;
    for (const Outlier& outlier : outliers_ | std::views::take(kMostNamed)) {
      text += fmt::format("{}iteration {}: {} {} instead of {}", text.empty() ? "" : "; ",
                          outlier.iteration + 1, outlier.what,
                          format_duration(outlier.usual_ns + outlier.more_ns),
                          format_duration(outlier.usual_ns));
    }
    if (outliers_.size() > kMostNamed)
      text += fmt::format("; {} more", format_count(outliers_.size() - kMostNamed));
    if (!text.empty()) section.footnotes.push_back("outliers: " + text);
  }

 private:
  struct Outlier {
    size_t iteration;
    std::string what;
    Ns usual_ns, more_ns;
  };

  Quartiles look(const IterationSeries& series, const std::string& what) {
    if (what.empty()) return usual(series);
    const PerIteration each = per_iteration(series, iterations_);
    const Ns usual = each.usual.median_ns;
    for (const PerIteration::Outlier& outlier : each.outliers)
      outliers_.push_back({outlier.iteration, what, usual, outlier.time_ns - usual});
    return each.usual;
  }

  const analysis::Iterations& iterations_;
  std::vector<Outlier> outliers_;
};

// Columns of a list: an iteration and the whole run, or without iterations only that.
void add_time_columns(const IterationCells& cells, Section& section) {
  if (!cells.known()) {
    for (const char* name : {"total", "times", "longest"}) section.columns.push_back(right(name));
    return;
  }
  for (const char* name : {"time", "times", "longest"})
    section.columns.push_back({name, true, "iteration"});
  for (const char* name : {"total", "times"}) section.columns.push_back({name, true, "whole run"});
}

// The same cells. `ended`: false if none of the group has a known end.
template <class Group>
std::vector<std::string> time_cells(const Group& group, Ns longest_ns, bool ended,
                                    const std::string& what, IterationCells& cells) {
  const std::string longest = ended ? format_duration(longest_ns) : "–",
                    total = ended ? format_duration(group.times.total_ns()) : "–",
                    times = format_count(group.count);
  if (!cells.known()) return {total, times, longest};
  if (group.steady_count == 0) return {"", "", "", total, times};
  return {cells.time(group.times, what), cells.count(group.steady_count), longest, total, times};
}

std::string wait_sentence(const Trace& trace, const analysis::WaitGroup& wait) {
  const std::string who = fmt::format("{} on stream {}", op_label(trace, wait.longest.op),
                                      stream_label(trace, trace.op.stream_id[wait.longest.op]));
  const auto work = [&](Id op) {
    std::string text = op_label(trace, op);
    if (op < trace.op.size() && trace.op.kind[op] == trace::kMemcpy && trace.op.bytes[op] > 0) {
      text += " of " + format_bytes(trace.op.bytes[op]);
    }
    return text;
  };
  const Id because = wait.longest.because_op();
  const Id by = because < trace.op.size() ? trace.op.stream_id[because] : kNoId;
  const auto waited_because = [&](const char* reason) {
    return fmt::format("{} waited for {} on stream {}: {}", who, work(because),
                       stream_label(trace, by), reason);
  };
  switch (wait.longest.cause) {
    case WaitCause::kEvent: {
      const Id record = wait.event_record;
      if (record >= trace.event_record.size()) break;
      const Id stream = trace.event_record.stream_id[record];
      std::string text = fmt::format("{} waited for {}{} recorded on stream {} after {}", who,
                                     wait.wanted ? timeline_label(trace, *wait.wanted) + ": " : "",
                                     event_label(trace, trace.event_record.event_id[record]),
                                     stream_label(trace, stream), work(because));
      // Through its own waits, the record may cover work of other streams.
      if (by != stream) text += " on stream " + stream_label(trace, by);
      return text;
    }
    case WaitCause::kLegacyStream:
      return waited_because("the legacy default stream is a barrier");
    case WaitCause::kCopyEngine:
      return waited_because("the copy engine was busy");
    case WaitCause::kSmFull:
      return waited_because("the device was full");
    case WaitCause::kQueueAliasing:
      return waited_because("both were in the same hardware queue");
    case WaitCause::kHostFunction:
    case WaitCause::kMemoryWait:
      return fmt::format(
          "{} waited behind {} on its own stream", who,
          wait.wanted ? "a wait for " + timeline_label(trace, *wait.wanted) : work(because));
    case WaitCause::kHostSync:
    case WaitCause::kHostCall:
    case WaitCause::kCodeLoading:
    case WaitCause::kHostLock: {
      Id name = wait.longest.call_name();
      if (wait.longest.host_sync() < trace.host_sync.size())
        name = trace.host_sync.name_id[wait.longest.host_sync()];
      return fmt::format("{} launched late: {}", who,
                         analysis::host_label(wait.longest.cause, printable(trace.text(name))));
    }
    default:
      break;
  }
  return who + " waited";
}

constexpr std::array kCausesShown = {
    WaitCause::kHost,         WaitCause::kHostSync,      WaitCause::kHostCall,
    WaitCause::kCodeLoading,  WaitCause::kHostLock,      WaitCause::kProfiler,
    WaitCause::kLaunch,       WaitCause::kEvent,         WaitCause::kLegacyStream,
    WaitCause::kHostFunction, WaitCause::kMemoryWait,    WaitCause::kCopyEngine,
    WaitCause::kSmFull,       WaitCause::kQueueAliasing, WaitCause::kGraph,
    WaitCause::kStart,        WaitCause::kUnknown};

// The rows of a stream. Columns: busy, causes, counts.
class StreamRows {
 public:
  StreamRows(const Summary& summary, const std::vector<StreamSummary>& streams)
      : summary_(summary), cells_(summary), timed_(summary.window_ns > 0) {
    // No column for causes without waits.
    for (const WaitCause cause : kCausesShown) {
      const bool used = std::ranges::any_of(streams, [&](const StreamSummary& stream) {
        return stream.sums.waiting_for(cause).total_ns() > 0;
      });
      if (timed_ && used) causes_.push_back(cause);
    }
  }

  void add_columns(Section& section) const {
    section.columns.push_back(left("stream"));
    if (timed_) section.columns.push_back(right("busy"));
    for (const WaitCause cause : causes_)
      section.columns.push_back({std::string(to_string(cause)), true, "waiting"});
    for (const char* name : {"kernels", "copies", "other", "records", "waits"})
      section.columns.push_back(right(name));
  }
  void add(const std::string& label, const StreamSummary& stream, Section& section) {
    if (cells_.known()) section.rows.push_back(of_iteration(label, stream));
    if (cells_.known()) section.pale.push_back(section.rows.size());
    section.rows.push_back(of_run(cells_.known() ? kWholeRun : label, stream));
  }
  void describe(Section& section) {
    cells_.describe(section);
    if (std::ranges::any_of(causes_, analysis::is_host)) {
      section.footnotes.push_back(
          "host: outside CUDA; host-sync: blocked in a synchronization; host-call: in another "
          "call; launch: in the call that issues the work; start: latency of the device");
    }
  }

 private:
  std::vector<std::string> of_iteration(const std::string& label, const StreamSummary& stream) {
    const analysis::StreamSums& sums = stream.sums;
    std::vector<std::string> row{label};
    if (timed_) row.push_back(cells_.share(sums.busy, label + " busy"));
    for (const WaitCause cause : causes_) {
      row.push_back(cells_.share(sums.waiting_for(cause),
                                 fmt::format("{} waiting for {}", label, to_string(cause))));
    }
    const auto& steady = sums.steady;
    for (const uint64_t count :
         {steady.kernels, steady.copies, steady.others, steady.records, steady.waits})
      row.push_back(cells_.count(count));
    return row;
  }
  std::vector<std::string> of_run(const std::string& label, const StreamSummary& stream) const {
    std::vector<std::string> row{label};
    if (timed_) row.push_back(format_percent(stream.activity.busy_ns, summary_.window_ns));
    for (const WaitCause cause : causes_) {
      const Ns waited = stream.sums.waiting_for(cause).total_ns();
      row.push_back(waited == 0 ? "" : format_percent(waited, summary_.window_ns));
    }
    const auto& activity = stream.activity;
    for (const uint64_t count : std::array<uint64_t, 4>{
             activity.kernel_count, activity.copy_count,
             activity.op_count - activity.kernel_count - activity.copy_count, stream.record_count})
      row.push_back(format_count(count));
    row.push_back(stream.edge_count == stream.wait_count
                      ? format_count(stream.wait_count)
                      : fmt::format("{} ({} bound)", format_count(stream.wait_count),
                                    format_count(stream.edge_count)));
    return row;
  }

  const Summary& summary_;
  IterationCells cells_;
  bool timed_;
  std::vector<WaitCause> causes_;
};

// The streams to show, and a footnote on the others.
std::vector<StreamSummary> shown_streams(const Summary& summary, Section& section) {
  std::vector<StreamSummary> streams = summary.streams;
  if (streams.size() <= kStreamsShown) return streams;
  std::ranges::stable_sort(streams, std::greater{}, [](const StreamSummary& stream) {
    return std::pair(stream.activity.busy_ns, stream.activity.op_count);
  });
  section.footnotes.push_back(fmt::format("{} not shown: those with the least time",
                                          format_count(streams.size() - kStreamsShown, "stream")));
  streams.resize(kStreamsShown);
  return streams;
}

}  // namespace

Section streams_section(const Trace& trace, const Summary& summary) {
  Section section{.title = "Streams"};
  const std::vector<StreamSummary> streams = shown_streams(summary, section);
  const analysis::Iterations& iterations = summary.iteration.iterations;
  if (iterations.found()) {
    section.remarks.push_back(
        iterations.is_only_one()
            ? "Here and below: first the iteration, then the whole run."
            : fmt::format("Here and below: first an iteration, by the medians of iterations {} to "
                          "{} ± half the distance of the quartiles; then the whole run.",
                          iterations.steady_from + 1, iterations.steady_to));
  }
  if (summary.window_ns > 0) {
    section.remarks.push_back(fmt::format(
        "Shares of {}the {} from the first to the last work on a device; the rest of a stream's "
        "time is before its first or after its last op.",
        iterations.found() ? format_duration(iterations.median_ns) + " and of " : "",
        format_duration(summary.window_ns)));
  } else if (summary.info.counts.op > 0) {
    section.remarks.push_back(
        "No device times were recorded, so only the order is known, not durations.");
  }
  StreamRows rows(summary, streams);
  rows.add_columns(section);
  for (const StreamSummary& stream : streams)
    rows.add(stream_label(trace, stream.stream), stream, section);
  rows.describe(section);
  const auto is_unbound = [](const StreamSummary& stream) {
    return stream.edge_count != stream.wait_count;
  };
  if (std::ranges::any_of(streams, is_unbound))
    section.footnotes.push_back("bound: waits whose event record is certain and in the trace");
  return section;
}

Section waits_section(const Trace& trace, const Summary& summary) {
  Section section{.title = "Longest waits"};
  IterationCells cells(summary);
  add_time_columns(cells, section);
  section.columns.push_back(left("who waited for whom"));
  for (const analysis::WaitGroup& wait :
       first_of(summary.waits, kRowsShown, "shorter kinds of wait", section)) {
    const std::string who = op_label(trace, wait.longest.op);
    auto row = time_cells(wait, wait.longest.duration_ns, true, who + " waited", cells);
    row.push_back(wait_sentence(trace, wait));
    section.rows.push_back(std::move(row));
  }
  cells.describe(section);
  return section;
}

Section overlap_section(const Trace& trace, const Summary& summary) {
  Section section{.title = "Overlap",
                  .columns = {left("device"), right("kernels"), right("copies"),
                              right("both at once"), right("copies hidden"), right("idle")}};
  size_t most = 0;
  for (const auto& device : summary.devices) most = std::max(most, device.concurrency.size());
  const size_t shown = std::min<size_t>(most, 5);  // 1, 2, 3 and "4 or more" ops at once
  for (size_t n = 1; n < shown; ++n) {
    section.columns.push_back({n + 1 == shown && most > shown ? fmt::format("{}+ at once", n)
                                                              : fmt::format("{} at once", n),
                               true});
  }
  IterationCells cells(summary);
  for (const auto& device : summary.devices) {
    const std::string label = device_label(trace, device.device_id);
    std::vector<IterationSeries> at_once;
    for (size_t n = 1; n < device.concurrency.size(); ++n) {
      if (n < shown) at_once.emplace_back();
      at_once.back().add(device.concurrency[n]);
    }
    if (cells.known()) {
      const Quartiles both = cells.usual(device.both), copies = cells.usual(device.copies);
      std::vector<std::string> row{label,
                                   cells.share(device.kernels, label + " running kernels"),
                                   cells.share(device.copies, label + " copying"),
                                   cells.share(device.both, ""),
                                   format_percent(both.median_ns, copies.median_ns),
                                   cells.share(device.idle(), label + " idle")};
      for (const IterationSeries& series : at_once) row.push_back(cells.share(series, ""));
      row.resize(section.columns.size());
      section.rows.push_back(std::move(row));
      section.pale.push_back(section.rows.size());
    }
    const Ns window = device.window_ns(), copies = device.copies.total_ns();
    std::vector<std::string> row{cells.known() ? kWholeRun : label};
    for (const Ns time : {device.kernels.total_ns(), copies, device.both.total_ns()})
      row.push_back(format_percent(time, window));
    row.push_back(format_percent(device.both.total_ns(), copies));
    row.push_back(format_percent(device.idle().total_ns(), window));
    for (const IterationSeries& series : at_once)
      row.push_back(format_percent(series.total_ns(), window));
    row.resize(section.columns.size(), format_percent(0, window));
    section.rows.push_back(std::move(row));
  }
  cells.describe(section);
  section.footnotes.push_back("copies include memsets; hidden: while a kernel ran");
  return section;
}

Section syncs_section(const Trace& trace, const Summary& summary) {
  Section section{.title = "Host synchronizations"};
  IterationCells cells(summary);
  add_time_columns(cells, section);
  for (const char* name : {"call", "waited for", "called from"})
    section.columns.push_back(left(name));
  for (const analysis::SyncGroup& sync :
       first_of(summary.syncs, kRowsShown, "cheaper call sites", section)) {
    std::string target = "the whole device";
    if (sync.kind == trace::kStreamSynchronize) {
      target = "stream " + stream_label(trace, sync.stream_id);
    } else if (sync.kind == trace::kEventSynchronize) {
      target = sync.stream_id == kNoId
                   ? "an event"
                   : "an event of stream " + stream_label(trace, sync.stream_id);
    }
    if (sync.open_count > 0)
      target += fmt::format(" ({} never returned)", format_count(sync.open_count));
    const std::string call = quoted_or(trace, sync.name_id, "synchronize");
    auto row = time_cells(sync, sync.longest_ns, sync.open_count < sync.count, call, cells);
    row.insert(row.end(), {call, target, summary.call_site(sync.stack_id)});
    section.rows.push_back(std::move(row));
  }
  cells.describe(section);
  if (const std::string missing = analysis::without_stacks(trace);
      !missing.empty() && !section.rows.empty())
    section.footnotes.push_back(missing);
  if (summary.info.counts.query > 0) {
    section.footnotes.push_back(fmt::format("plus {} non-blocking {}",
                                            format_count(summary.info.counts.query),
                                            summary.info.counts.query == 1 ? "query" : "queries"));
  }
  return section;
}

Section path_section(const Summary& summary) {
  Section section{.title = "Critical path"};
  IterationCells cells(summary);
  if (!cells.known()) {
    section.remarks.push_back(path_sentence(summary.path));
    return section;
  }
  section.remarks.push_back(
      fmt::format("The chain that determined how long an iteration took, and the run: {} from its "
                  "first launch to the end of its last op.",
                  format_duration(summary.path.total_ns())));
  section.columns = {{"share", true, "iteration"},
                     {"time", true, "iteration"},
                     {"share", true, "whole run"},
                     {"time", true, "whole run"},
                     left("spent on")};
  std::vector<size_t> order(analysis::kPathShareCount);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](size_t share) {
    return cells.usual(summary.path.shares[share]).median_ns;
  });
  for (const size_t share : order) {
    const IterationSeries& series = summary.path.shares[share];
    if (series.total_ns() == 0) continue;
    const std::string name(names_of(static_cast<analysis::PathShare>(share)).shown);
    section.rows.push_back({cells.share(series, ""), cells.time(series, name),
                            format_percent(series.total_ns(), summary.path.total_ns()),
                            format_duration(series.total_ns()), name});
  }
  cells.describe(section);
  return section;
}

}  // namespace streamscope::report
