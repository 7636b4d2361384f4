// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// host-bound-launching (SS301): each iteration consists of many launches, and the device waits for
//   them: the host takes longer to issue a kernel than the device to run it. Evidence: calls and
//   times of a steady part. The gain comes from a replay in which everything that is issued without
//   a synchronization or an allocation in between is one graph launch: kernels keep their
//   durations and their order and follow each other without gaps, and the host does nothing until
//   the next part. Work of the host between two parts stays, and an iteration takes at least as
//   long as the device is busy in it. If launching is the bound and the synchronizations keep a
//   graph from saving most of it, they are removed first, with the copies of values that the host
//   reads by them. So are waits for batches (SS307). Long pauses between the launches of a graph
//   vanish with them, which is too much if the host does other work there. If most of the work is
//   rounds of the same few ops, the loop of the program that makes them is named, but not if these
//   are layers of a network: each needs the result of the one before. Gains below a tenth are
//   ignored. Known false alarm: a program that cannot be captured because the host decides from
//   time to time what comes next.
#include <fmt/format.h>

#include "../call_sites.h"
#include "../iterations/graphs.h"
#include "../iterations/host_samples.h"
#include "../iterations/inner_loop.h"
#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "in_iterations.h"
#include "pauses_in_iteration.h"

namespace streamscope::analysis {
namespace {

constexpr double kLeastLaunchingShare = 0.05;  // of the iteration spent on launching
constexpr Ns kLeastLaunchingGain = 10;         // 1/10 of the iteration
constexpr size_t kLeastLaunchesEach = 8;       // of an iteration, in graphs
constexpr double kWholeIteration = 0.9;        // of its launches
constexpr double kMuchMore = 1.25;             // gain without the synchronizations, as a factor

// The graphs that an iteration can become.
struct Capture {
  Graphs graphs;
  bool without_syncs = false;  // these have to go first
};

// Sets what they save.
Capture capture_of(Analyses& analyses, const IterationModel& model, Finding& finding) {
  const IterationShares& shares = model.shares();
  Capture capture{as_graphs(analyses, model)};
  set_iteration_gain(model, capture.graphs.change, shares.busy_ns, finding);
  if (model.bound() != TimeShare::kLaunching || shares.sync_count < 1) return capture;
  Graphs whole = as_graphs_without_syncs(analyses, model);
  Finding without_syncs;
  set_iteration_gain(model, whole.change, shares.busy_ns, without_syncs);
  if (static_cast<double>(without_syncs.gain_ns.value_or(0)) >
      kMuchMore * static_cast<double>(finding.gain_ns.value_or(0))) {
    capture = {std::move(whole), true};
    finding = std::move(without_syncs);
  }
  return capture;
}

std::string what_to_capture(const Capture& capture, const IterationModel& model, double launches,
                            Language language) {
  const std::string_view how =
      language == Language::kCompiled
          ? "as a CUDA graph (cudaStreamBeginCapture)"
          : "as a CUDA graph (torch.cuda.graph, torch.compile(mode=\"reduce-overhead\"))";
  const IterationShares& shares = model.shares();
  const bool whole = launches >= kWholeIteration * shares.launch_count;
  if (capture.without_syncs) {
    return fmt::format(
        "Remove what synchronizes ({} times an iteration, SS302), then capture {} {}: the gain is "
        "that of both. Or",
        format_mean(shares.sync_count),
        whole ? "the iteration" : "what runs between its allocations", how);
  }
  if (whole && shares.sync_count < 0.5) return fmt::format("Capture the iteration {}, or", how);
  return fmt::format(
      "Capture what runs between its synchronizations and allocations ({} launches) {}, or",
      format_each(capture.graphs.launches, model.iterations()), how);
}

// What there would be less of.
std::string what_repeats(Analyses& analyses, const IterationModel& model) {
  const std::optional<InnerLoop> loop = find_inner_loop(analyses, model);
  if (!loop) return "";
  const bool has_syncs = loop->share >= kWholeIteration &&
                         model.shares().sync_count >= static_cast<double>(loop->rounds);
  return fmt::format(
      " {:.0f} % of an iteration's work is {} rounds of the same {}, {}: if no round needs the "
      "result of another, let one call do all of them (a batched operation, torch.vmap, "
      "foreach=True){}.",
      100 * loop->share, loop->rounds,
      loop->ops == 1 ? "kernel or copy" : fmt::format("{} kernels and copies", loop->ops),
      loop->place, has_syncs ? ", and most synchronizations go with the rounds" : "");
}

}  // namespace

void find_host_bound_launching(Analyses& analyses, Findings& findings) {
  const IterationModel& model = analyses.iteration_model();
  if (!model.found() || part_of(model, TimeShare::kLaunching) < kLeastLaunchingShare) return;
  const Iterations& iterations = model.iterations();
  const IterationShares& shares = model.shares();
  Finding finding;
  Capture capture = capture_of(analyses, model, finding);
  Graphs& graphs = capture.graphs;
  const auto count = static_cast<Ns>(iterations.steady_count());
  if (graphs.launches < kLeastLaunchesEach * iterations.steady_count() ||
      finding.gain_ns.value_or(0) < model.bare_ns() / kLeastLaunchingGain * count)
    return;
  auto starved = input_pauses(analyses);
  if (Finding input; starved && !set_pauses(model, *starved, input)) starved.reset();
  if (starved) {
    graphs.change.add(starved->change);
    set_iteration_gain(model, graphs.change, shares.busy_ns, finding);
  }
  const double launches =
      static_cast<double>(graphs.launches) / static_cast<double>(iterations.steady_count());
  finding.title = fmt::format(
      "the host launches {} kernels one by one, and the device is idle for {} of an iteration",
      format_each(graphs.launches, iterations),
      format_percent(std::max<Ns>(0, iterations.median_ns - shares.busy_ns), iterations.median_ns));
  finding.text = fmt::format(
      "One launch per {}, while kernels last {} (median). {} launch less: fuse kernels, enlarge "
      "batches.",
      format_duration(static_cast<Ns>(static_cast<double>(iterations.median_ns) /
                                      std::max(1.0, shares.launch_count))),
      format_duration(shares.median_kernel_ns),
      what_to_capture(capture, model, launches, language_of(analyses.trace())));
  finding.text += what_repeats(analyses, model);
  if (starved) {
    finding.text +=
        " But the batches have to be ready first (SS307): a host that launches faster only waits "
        "longer for them. The gain is that of both.";
  } else if (model.bound() == TimeShare::kOutside) {
    finding.text +=
        " A graph also removes the long pauses between its launches if they are part of launching; "
        "work of the host that the program needs (SS305) stays.";
  }
  const HostActivities activities = host_activities(
      analyses, model, [](TimeShare share) { return share == TimeShare::kLaunching; });
  if (const std::string sentence = activity_sentence(activities); !sentence.empty()) {
    finding.text += " " + sentence;
    finding.place.call_site = main_place(activities);
  }
  if (starved || capture.without_syncs) finding.needs = starved ? "SS307" : "SS302";
  finding.count = graphs.launches;
  finding.start_ns = iterations.steady_start_ns();
  finding.end_ns = iterations.steady_end_ns();
  findings.add({0}, iterations.steady_end_ns(), [&] { return finding; });
}

}  // namespace streamscope::analysis
