// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>
#include <type_traits>

#include "analysis/detector.h"
#include "analysis/labels.h"
#include "metrics.h"

namespace streamscope::report {
namespace {

using trace::Ns;

// Those that a trace shows.
constexpr std::pair<job::RankState, std::string_view> kStates[] = {
    {job::RankState::kRuns, "runs"},
    {job::RankState::kHangs, "hangs"},
    {job::RankState::kEnded, "ended"},
    {job::RankState::kDied, "died"},
};

double seconds(double ns) { return ns / 1e9; }
double seconds(Ns ns) { return seconds(static_cast<double>(ns)); }

// Prometheus accepts UTF-8 only, and these three escapes.
std::string label(std::string_view name, std::string_view value) {
  std::string text = fmt::format("{}=\"", name);
  for (const char c : analysis::printable(value)) {
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  return text + '"';
}

struct NamedProcess {
  const ProcessMetrics* metrics;
  std::string labels;
};

std::string labels_of(const ProcessMetrics& process) {
  std::string text = label("run", process.run);
  if (!process.host.empty()) text += ',' + label("host", process.host);
  if (process.pid >= 0) text += ',' + label("pid", std::to_string(process.pid));
  if (process.rank >= 0) text += ',' + label("rank", std::to_string(process.rank));
  return text;
}

class Page {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  template <class Value>
  void sample(std::string_view labels, Value value, std::string_view suffix = "") {
    // More digits of a fraction are noise.
    constexpr std::string_view kFormat = std::is_floating_point_v<Value> ? "{:.9g}" : "{}";
    const std::string number = fmt::format(fmt::runtime(kFormat), value);
    text_ += labels.empty() ? fmt::format("{}{} {}\n", name_, suffix, number)
                            : fmt::format("{}{}{{{}}} {}\n", name_, suffix, labels, number);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_, name_;
};

using Processes = std::vector<NamedProcess>;

std::string with(const NamedProcess& process, std::string_view name, std::string_view value) {
  return process.labels + ',' + label(name, value);
}

// A family with one value of each process that has iterations.
template <class Value>
void per_iteration(Page& page, const Processes& processes, std::string_view name,
                   std::string_view help, Value value) {
  page.family(name, "gauge", help);
  for (const NamedProcess& process : processes)
    if (process.metrics->iteration) page.sample(process.labels, value(*process.metrics->iteration));
}

void add_iterations(Page& page, const Processes& processes) {
  page.family("streamscope_iteration_seconds", "summary",
              "Duration of iterations: quantiles of the steady part, count and sum of all.");
  for (const NamedProcess& process : processes) {
    if (!process.metrics->iteration) continue;
    const IterationMetrics& iteration = *process.metrics->iteration;
    for (size_t i = 0; i < std::size(kQuantiles); ++i)
      page.sample(with(process, "quantile", fmt::format("{}", kQuantiles[i])),
                  seconds(iteration.quantiles_ns[i]));
    page.sample(process.labels, seconds(iteration.total_ns), "_sum");
    page.sample(process.labels, iteration.count, "_count");
  }
  per_iteration(page, processes, "streamscope_iteration_last_seconds",
                "Duration of the last iteration.",
                [](const IterationMetrics& iteration) { return seconds(iteration.last_ns); });
  per_iteration(page, processes, "streamscope_iteration_predicted_seconds",
                "Duration of a median iteration without recording, as predicted.",
                [](const IterationMetrics& iteration) { return seconds(iteration.bare_ns); });
  per_iteration(page, processes, "streamscope_iteration_device_busy_ratio",
                "Share of an iteration in which the device is busy, in the mean.",
                [](const IterationMetrics& iteration) { return iteration.busy; });
  page.family("streamscope_iteration_time_ratio", "gauge",
              "Share of an iteration that its critical path spends on this, in the mean.");
  for (const NamedProcess& process : processes)
    for (size_t i = 0; process.metrics->iteration && i < analysis::kShareCount; ++i)
      page.sample(with(process, "spent_on", names_of(static_cast<analysis::TimeShare>(i)).id),
                  process.metrics->iteration->shares[i]);
  page.family("streamscope_iteration_bound", "gauge",
              "1 for what bounds an iteration, 0 for all else.");
  for (const NamedProcess& process : processes)
    for (size_t i = 0; process.metrics->iteration && i < analysis::kShareCount; ++i)
      page.sample(with(process, "by", names_of(static_cast<analysis::TimeShare>(i)).id),
                  static_cast<size_t>(process.metrics->iteration->bound) == i ? 1 : 0);
}

void add_waits_and_findings(Page& page, const Processes& processes) {
  page.family("streamscope_stream_wait_seconds_total", "counter",
              "Time in which streams had nothing to run before their next work, by cause.");
  for (const NamedProcess& process : processes)
    for (const Term& cause : kWaitCauses)
      page.sample(with(process, "cause", cause.name),
                  seconds(process.metrics->waited_ns[static_cast<size_t>(cause.number)]));
  page.family("streamscope_findings", "gauge",
              "Mistakes that a detector finds, without possible ones.");
  for (const NamedProcess& process : processes)
    for (const analysis::Detector& detector : analysis::detectors()) {
      const auto found = process.metrics->findings.find(detector.id);
      page.sample(process.labels + ',' + label("detector", detector.id) + ',' +
                      label("severity", to_string(detector.severity)),
                  found == process.metrics->findings.end() ? 0 : found->second);
    }
  page.family("streamscope_rank_caused_wait_seconds", "gauge",
              "Time that all other ranks wait for this one, per iteration of the job.");
  for (const NamedProcess& process : processes)
    if (process.metrics->caused_ns)
      page.sample(process.labels, seconds(*process.metrics->caused_ns));
}

void add_recordings(Page& page, const Processes& processes) {
  page.family("streamscope_process_state", "gauge",
              "1 for the state of the process, 0 for all others.");
  for (const NamedProcess& process : processes)
    for (const auto& [state, name] : kStates)
      page.sample(with(process, "state", name), process.metrics->state == state ? 1 : 0);
  page.family("streamscope_recording_seconds", "gauge",
              "Time from the start of the recording to its last event.");
  for (const NamedProcess& process : processes)
    page.sample(process.labels, seconds(process.metrics->recorded_ns));
  page.family("streamscope_recording_finished", "gauge",
              "1 if the recording reaches the end of the program.");
  for (const NamedProcess& process : processes)
    page.sample(process.labels, process.metrics->finished ? 1 : 0);
  page.family("streamscope_recording_losses_total", "counter",
              "Records and other facts that the recording has lost, by severity.");
  for (const NamedProcess& process : processes)
    for (const Term& severity : kSeverities)
      page.sample(with(process, "severity", severity.name),
                  process.metrics->losses[static_cast<size_t>(severity.number)]);
  page.family("streamscope_recording_cost_ratio", "gauge",
              "Time that recording costs the program, as a share; only where it was measured.");
  for (const NamedProcess& process : processes)
    if (process.metrics->cost) page.sample(process.labels, *process.metrics->cost);
}

void add_analysis(Page& page, const Metrics& metrics, uint64_t shown) {
  page.family("streamscope_build_info", "gauge", "1, with the version of the program.");
  page.sample(label("version", metrics.version), 1);
  page.family("streamscope_processes", "gauge", "Recorded processes that these metrics are about.");
  page.sample("", shown);
  page.family("streamscope_processes_left_out", "gauge",
              "Recorded processes beyond the limit, or of equal name.");
  page.sample("", metrics.left_out + metrics.processes.size() - shown);
  page.family("streamscope_traces_unreadable", "gauge", "Traces that cannot be read.");
  page.sample("", metrics.unreadable);
  if (metrics.analyzed_at_s == 0) return;
  page.family("streamscope_analysis_timestamp_seconds", "gauge", "Unix time of the last analysis.");
  page.sample("", fmt::format("{:.3f}", metrics.analyzed_at_s));
  page.family("streamscope_analysis_seconds", "gauge", "Duration of the last analysis.");
  page.sample("", fmt::format("{:.3f}", metrics.took_s));
}

}  // namespace

std::string to_prometheus(const Metrics& metrics) {
  Processes processes;
  std::set<std::string> seen;
  for (const ProcessMetrics& process : metrics.processes) {
    std::string labels = labels_of(process);
    if (seen.insert(labels).second) processes.push_back({&process, std::move(labels)});
  }
  Page page;
  add_iterations(page, processes);
  add_waits_and_findings(page, processes);
  add_recordings(page, processes);
  add_analysis(page, metrics, processes.size());
  return page.take();
}

}  // namespace streamscope::report
