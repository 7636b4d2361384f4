// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "iteration.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/iterations/iteration_series.h"
#include "analysis/labels.h"
#include "analysis/left_out.h"
#include "analysis/units.h"
#include "document.h"
#include "summary.h"
#include "trace/ns_math.h"

namespace streamscope::report {
namespace {

using analysis::format_count;
using analysis::format_duration;
using analysis::format_mean;
using analysis::format_percent;
using analysis::TimeShare;
using trace::Ns;

// True if much of an iteration is spent between the calls of the host.
bool waits_for_host(const IterationSummary& summary) {
  constexpr Ns kMuch = 5;  // 1/5
  return summary.share_ns(TimeShare::kLaunching) + summary.share_ns(TimeShare::kOutside) >
         summary.mean_ns() / kMuch;
}

// "the longest, iteration 45, took 31.2 ms, with 18.7 ms more of host outside CUDA"
std::string longest_outlier(const IterationSummary& summary) {
  const analysis::Iterations& iterations = summary.iterations;
  const auto from = iterations.all.begin() + static_cast<ptrdiff_t>(iterations.steady_from),
             to = iterations.all.begin() + static_cast<ptrdiff_t>(iterations.steady_to);
  const auto longest = std::ranges::max_element(from, to, {}, &analysis::Iteration::duration_ns);
  const auto& each = summary.shares.each;
  size_t most = 0;
  Ns more = 0;
  for (size_t i = 0; i < analysis::kShareCount; ++i) {
    std::vector<Ns> times;
    times.reserve(each.size());
    for (const analysis::Shares& shares : each) times.push_back(shares[i]);
    const Ns grown =
        times[static_cast<size_t>(longest - from)] - analysis::quartiles_of(times).median_ns;
    if (grown <= more) continue;
    most = i;
    more = grown;
  }
  const auto share = static_cast<TimeShare>(most);
  return fmt::format(
      "the longest, iteration {}, took {}{}", longest - iterations.all.begin() + 1,
      format_duration(longest->duration_ns()),
      share == TimeShare::kUnknown
          ? ", for an unknown reason"
          : fmt::format(", with {} more of {}", format_duration(more), names_of(share).shown));
}

// " Iterations 37 to 60 took 2.96 ms."
std::string later_iterations(const IterationSummary& summary) {
  const std::optional<analysis::OtherLevel>& later = summary.other_level;
  if (!later) return "";
  std::string why;
  if (later->host_slowdown > 1) {
    why = fmt::format(
        ": there everything took the host {:.1f} times as long, as on a busier or slower processor",
        later->host_slowdown);
  } else if (later->host_slowdown < 1) {
    why = fmt::format(
        ": there the host did everything {:.1f} times as fast, as on a less busy or faster "
        "processor",
        1 / later->host_slowdown);
  }
  return fmt::format(" Iterations {} to {} took {}{}.", later->from + 1, later->to,
                     format_duration(later->median_ns), why);
}

}  // namespace

Ns IterationSummary::share_ns(TimeShare share) const {
  const size_t count = iterations.steady_count();
  return count == 0 ? 0 : shares.total[static_cast<size_t>(share)] / static_cast<Ns>(count);
}

Ns IterationSummary::mean_ns() const {
  const size_t count = iterations.steady_count();
  return count == 0 ? 0 : shares.total_ns() / static_cast<Ns>(count);
}

IterationSummary summarize(analysis::Analyses& analyses, const analysis::IterationModel& model) {
  constexpr double kLeastFunction = 0.003;  // of the host's time
  IterationSummary summary{model.iterations(),
                           model.shares(),
                           model.bound(),
                           model.nearly_bound(),
                           {},
                           model.bare_ns(),
                           host_functions(analyses, model, kLeastFunction),
                           host_activities(analyses, model)};
  for (size_t i = 0; i < analysis::kShareCount; ++i)
    summary.without_ns[i] = model.without_ns(static_cast<TimeShare>(i));
  if (model.found()) {
    summary.pace = host_pace(analyses, model.iterations(), model.shares().threads);
    summary.other_level = find_other_level(analyses, model, summary.pace);
  }
  summary.profiled_operators = profiled_operators(analyses.trace(), model.iterations());
  if (summary.host.lines.empty()) summary.not_sampled = analysis::not_sampled(analyses.trace());
  return summary;
}

std::string duration_sentence(const IterationSummary& summary) {
  const analysis::Iterations& iterations = summary.iterations;
  const std::string usual = format_duration(iterations.median_ns), how = how_found(iterations);
  std::string text = fmt::format(
      "{}{}. The device is busy for {} of it ({}).",
      iterations.is_only_one()
          ? fmt::format("{} in the only iteration ({})", usual, how)
          : fmt::format("{} ± {} an iteration ({} to {} of {}, {})", usual,
                        format_duration((iterations.high_ns - iterations.low_ns) / 2),
                        iterations.steady_from + 1, iterations.steady_to,
                        format_count(iterations.all.size()), how),
      static_cast<double>(summary.bare_ns) < 0.98 * static_cast<double>(iterations.median_ns)
          ? fmt::format(", about {} without recording", format_duration(summary.bare_ns))
          : "",
      format_duration(summary.shares.busy_ns),
      format_percent(summary.shares.busy_ns, iterations.median_ns));
  if (iterations.outlier_count > 0) {
    text += fmt::format(" {} of them took {} times as long or more; {}.",
                        format_count(iterations.outlier_count), analysis::kOutlierFactor,
                        longest_outlier(summary));
  }
  return text + later_iterations(summary);
}

namespace {

// The host is never equally fast twice, so what is as important in one run may bound the next one.
std::string nearly_bound(const IterationSummary& summary) {
  std::string all;
  for (const TimeShare share : summary.nearly_bound)
    all += fmt::format("{}without {}", all.empty() ? "" : " or ", names_of(share).shown);
  return all.empty() ? ""
                     : fmt::format(
                           " About as much would be saved {}: another run may be bound "
                           "otherwise.",
                           all);
}

// What is on the critical path need not be worth much: the device may have nearly as much to do.
std::string limit_of_repairs(const IterationSummary& summary) {
  constexpr double kNearlyAll = 0.95;
  if (!is_host_time(summary.bound) ||
      static_cast<double>(summary.shares.busy_ns) <
          kNearlyAll * static_cast<double>(summary.iterations.median_ns))
    return "";
  return " The device is nearly always busy, too: only more overlap of its work would save much.";
}

// "5 host synchronizations", "3 host synchronizations and 2 synchronous copies of small values".
std::string what_waits(const analysis::IterationShares& shares) {
  constexpr double kNone = 0.005;  // shown as 0
  const double others = shares.sync_count - shares.small_copy_count;
  if (shares.sync_count < kNone) return "the host, which asks until the device is done";
  std::string syncs = format_mean(others, "host synchronization", "host synchronizations"),
              copies = format_mean(shares.small_copy_count, "synchronous copy of a small value",
                                   "synchronous copies of small values");
  if (shares.small_copy_count < kNone) return syncs;
  return others < kNone ? copies : syncs + " and " + copies;
}

// ", which the host waits for" if it is so, and "" if it waits for none of them.
std::string waited_copies(const analysis::IterationShares& shares) {
  const double waited = shares.large_copy_count + shares.small_copy_count, all = shares.copy_count;
  if (waited < 0.5) return "";
  if (waited > all - 0.5) return ", which the host waits for";
  return fmt::format("; the host waits for {} of them", format_mean(waited));
}

std::string largest_share(const IterationSummary& summary) {
  const analysis::IterationShares& shares = summary.shares;
  const std::string each = fmt::format(
      "{}, one per {}; kernels last {} (median)",
      format_mean(shares.launch_count, "launch", "launches"),
      shares.launch_count < 1
          ? "–"
          : format_duration(static_cast<Ns>(static_cast<double>(summary.iterations.median_ns) /
                                            shares.launch_count)),
      format_duration(shares.median_kernel_ns));
  switch (summary.bound) {
    case TimeShare::kKernels:
      return shares.kernel_count < 0.5
                 ? "Bound by the device, which runs graphs."
                 : fmt::format("Bound by the device, which runs kernels: {} of {} (median).",
                               format_mean(shares.kernel_count),
                               format_duration(shares.median_kernel_ns));
    case TimeShare::kCollectives:
      return "Bound by collectives, which wait for other ranks or for the network.";
    case TimeShare::kCopies:
      return fmt::format("Bound by copies: {} an iteration{}.", format_mean(shares.copy_count),
                         waited_copies(shares));
    case TimeShare::kOtherWork:
      return "Bound by host functions or memory waits in streams.";
    case TimeShare::kLatency:
      return fmt::format("Bound by the time that the device needs to start work: {}.", each);
    case TimeShare::kLaunching:
      return fmt::format("Bound by the host, which launches: {}.", each);
    case TimeShare::kOutside: {
      if (is_input_bound(summary.host))
        return "Bound by the input pipeline: the device waits for the next batch.";
      if (is_lock_bound(summary.host))
        return "Bound by Python's lock: the threads that launch wait for another one that holds "
               "it.";
      const std::string main = main_activity(summary.host);
      return fmt::format("Bound by the host, which makes long pauses between its CUDA calls{}.",
                         main.empty() ? "" : ", first of all at " + main);
    }
    case TimeShare::kSynchronizing:
      return fmt::format(
          "Bound by {}: the host launches nothing meanwhile{}.", what_waits(shares),
          shares.lost_run_ahead_ns < 1
              ? ""
              : fmt::format(", and then needs {} to catch up",
                            format_duration(static_cast<Ns>(shares.lost_run_ahead_ns))));
    case TimeShare::kMemory:
      return "Bound by the host, which allocates and frees memory.";
    case TimeShare::kCodeLoading:
      return "Bound by the host, which loads code.";
    case TimeShare::kLock:
      return "Bound by a lock of the driver, which the host waits for.";
    case TimeShare::kRecorder:
      return "Bound by the recorder: this recording does not show how long an iteration takes.";
    case TimeShare::kUnknown:
      break;
  }
  return "What bounds it is not known from this recording.";
}

}  // namespace

std::string bound_sentence(const IterationSummary& summary) {
  return largest_share(summary) + nearly_bound(summary) + limit_of_repairs(summary);
}

std::vector<ShareLine> share_lines(const IterationSummary& summary) {
  std::vector<ShareLine> lines;
  const Ns total = summary.shares.total_ns();
  Ns rest = 0;
  for (size_t i = 0; i < analysis::kShareCount; ++i) {
    const auto share = static_cast<TimeShare>(i);
    const Ns all = summary.shares.total[i];
    if (static_cast<double>(all) < kLeastShownShare * static_cast<double>(total)) {
      rest += all;
      continue;
    }
    const analysis::ShareNames& names = names_of(share);
    lines.push_back({std::string(names.shown), std::string(names.id), summary.share_ns(share),
                     share, summary.without_ns[i]});
  }
  std::ranges::stable_sort(lines, std::greater{}, &ShareLine::duration_ns);
  rest /= static_cast<Ns>(std::max<size_t>(1, summary.iterations.steady_count()));
  if (rest > 0) lines.push_back({"other", "", rest});
  return lines;
}

std::string times_of(const ShareLine& line) {
  std::string time = format_duration(line.duration_ns);
  if (line.without_ns == trace::kUnknownNs) return time;
  return time + ", without it " + format_duration(line.without_ns);
}

size_t median_iteration(const analysis::Iterations& iterations) {
  const auto distance = [&](size_t i) {
    const Ns difference = iterations.all[i].duration_ns() - iterations.median_ns;
    return difference < 0 ? -difference : difference;
  };
  size_t best = iterations.steady_from;
  for (size_t i = best; i < iterations.steady_to; ++i) {
    if (distance(i) < distance(best)) best = i;
  }
  return best;
}

std::string gain_text(const analysis::Finding& finding, Ns window_ns) {
  if (finding.iteration)
    return analysis::format_gain(finding.iteration->before_ns, finding.iteration->after_ns);
  if (!finding.gain_ns) return "";
  std::string text = format_duration(*finding.gain_ns);
  if (window_ns > 0) text += fmt::format(" ({})", format_percent(*finding.gain_ns, window_ns));
  return text;
}

std::string small_findings(const IterationSummary& summary, const std::vector<Advice>& small) {
  Ns saved = 0;
  for (const Advice& advice : small) {
    if (advice.finding.iteration) trace::add_to(saved, advice.finding.iteration->gain_ns());
  }
  return fmt::format("{}, {} of an iteration together",
                     format_count(small.size(), "smaller finding"),
                     format_percent(saved, summary.bare_ns));
}

Section iteration_section(const IterationSummary& summary) {
  Section section{
      .title = kIterationTitle,
      .remarks = {duration_sentence(summary), bound_sentence(summary)},
      .columns = {{"share", true}, {"time", true}, {"without it", true}, {"spent on", false}}};
  const Ns total = summary.mean_ns();
  for (const ShareLine& line : share_lines(summary)) {
    section.rows.push_back(
        {format_percent(line.duration_ns, total), format_duration(line.duration_ns),
         line.without_ns == trace::kUnknownNs ? "" : format_duration(line.without_ns), line.name});
  }
  const std::string mean = format_duration(total);
  section.footnotes.push_back(fmt::format(
      "{}shares are means along the critical path and sum to the {}",
      summary.iterations.is_only_one() ? "" : "median ± half the distance of the quartiles; ",
      mean == format_duration(summary.iterations.median_ns) ? "iteration"
                                                            : "mean iteration, " + mean));
  section.footnotes.push_back(
      "without it: predicted iteration if that took no time, without recording");
  if (summary.profiled_operators > 0 && waits_for_host(summary)) {
    section.footnotes.push_back(fmt::format(
        "the profiler also recorded {} operators and functions an iteration, which slows the host "
        "down; by how much is not known, and no time here leaves that out",
        format_count(summary.profiled_operators)));
  }
  if (!summary.not_sampled.empty() && waits_for_host(summary))
    section.footnotes.push_back(summary.not_sampled +
                                ": what it does between its calls is not known");
  return section;
}

Section host_section(const IterationSummary& summary) {
  constexpr size_t kMostLines = 8;
  constexpr double kLeastShown = 0.01;  // of the iteration
  const analysis::HostActivities& host = summary.host;
  const Ns total = summary.mean_ns();
  Section section{.title = kHostTitle,
                  .remarks = {fmt::format(
                      "The device waits for the host for {} of an iteration ({}). What the host "
                      "does meanwhile, by {}:",
                      format_duration(host.each_ns), format_percent(host.each_ns, total),
                      analysis::counted_source(host))},
                  .columns = {{"share", true}, {"time", true}, {"where", false}}};
  const bool says_what = std::ranges::any_of(host.lines, &analysis::HostActivity::known);
  if (says_what) section.columns.push_back({"what", false});
  const auto add = [&](Ns time, const std::string& where, const std::string& what) {
    section.rows.push_back({format_percent(time, total), format_duration(time), where});
    if (says_what) section.rows.back().push_back(what);
  };
  const std::string no_place = host.of_profile ? "outside of operators" : "unknown";
  Ns rest = host.each_ns;
  for (const analysis::HostActivity& line : host.lines) {
    if (section.rows.size() == kMostLines ||
        static_cast<double>(line.each_ns) < kLeastShown * static_cast<double>(total))
      break;
    add(line.each_ns, line.place.empty() ? no_place : line.place, line.what);
    rest -= line.each_ns;
  }
  if (static_cast<double>(rest) >= kLeastShown * static_cast<double>(total))
    add(rest, "elsewhere", "");
  section.footnotes.push_back("shares of the iteration");
  constexpr double kMuchDelayed = 0.05;
  if (host.delayed > kMuchDelayed) {
    section.footnotes.push_back(
        fmt::format("its threads were ready but had no processor for {} of their time: other "
                    "programs or too many threads use the processors",
                    format_percent(host.delayed)));
  }
  return section;
}

std::string small_line(const IterationSummary& summary, const std::vector<Advice>& small) {
  return small_findings(summary, small) + ": see --format json";
}

std::string no_iterations_sentence(const trace::Trace& trace,
                                   const analysis::IterationRequest& request) {
  const auto timed = [](Ns end) { return end != trace::kUnknownNs; };
  if (trace.op.empty()) return "No iterations: this trace contains no work of a device.";
  if (std::ranges::none_of(trace.op.end_ns, timed))
    return "No iterations: no device times were recorded.";
  if (2 * std::ranges::count_if(trace.op.end_ns, timed) < std::ssize(trace.op.end_ns))
    return "No iterations: most work has no device times; the losses say why.";
  if (request.source == analysis::IterationSource::kRange)
    return fmt::format(
        "No iterations found: no NVTX range \"{}\" contains work, or only one of several does.",
        analysis::printable(request.range));
  if (request.source != analysis::IterationSource::kNone)
    return "No iterations found in the way asked for; --iteration auto tries all.";
  return fmt::format(
      "No iterations found: no NVTX range, sequence of different work or launch of a graph that "
      "takes half of the device time repeats {} times or more. NVTX ranges around the steps of the "
      "program help.",
      analysis::kFewestIterations);
}

}  // namespace streamscope::report
