// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// tiny-kernels (SS308): each iteration runs many kernels that are so short that starting them takes
//   a twentieth of it or more, although the host is ahead of the device. Evidence: calls and times
//   of a steady part. The gain is what half as many kernels would save: half of the time on the
//   critical path in which the device starts work. Missed: kernels inside of graph launches that
//   were not recorded node by node.
#include <fmt/format.h>

#include "../call_sites.h"
#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "in_iterations.h"

namespace streamscope::analysis {
namespace {

constexpr double kLeastStartingShare = 0.05;
constexpr double kLeastKernels = 8;  // of an iteration
constexpr Ns kShortKernelNs = 10'000;

}  // namespace

void find_tiny_kernels(Analyses& analyses, Findings& findings) {
  const IterationModel& model = analyses.iteration_model();
  if (!model.found() || part_of(model, TimeShare::kLatency) < kLeastStartingShare) return;
  const Iterations& iterations = model.iterations();
  const IterationShares& shares = model.shares();
  if (shares.kernel_count < kLeastKernels || shares.median_kernel_ns > kShortKernelNs) return;
  const Ns starting = shares.total[static_cast<size_t>(TimeShare::kLatency)] /
                      static_cast<Ns>(iterations.steady_count());
  Finding finding;
  finding.iteration =
      IterationGain{model.bare_ns(), std::max<Ns>(shares.busy_ns, model.bare_ns() - starting / 2)};
  if (finding.iteration->is_small()) return;
  finding.title = fmt::format("{} kernels of {} (median) in an iteration, and {} to start them",
                              format_mean(shares.kernel_count),
                              format_duration(shares.median_kernel_ns), format_duration(starting));
  finding.text = fmt::format(
      "Fuse them{} or let each do more; the gain is that of half as many. A CUDA graph starts them "
      "faster, too.",
      language_of(analyses.trace()) == Language::kCompiled
          ? ""
          : " (torch.compile, kernels of your own)");
  finding.gain_ns = finding.iteration->gain_ns() * static_cast<Ns>(iterations.steady_count());
  finding.count =
      static_cast<uint64_t>(shares.kernel_count * static_cast<double>(iterations.steady_count()));
  finding.start_ns = iterations.steady_start_ns();
  finding.end_ns = iterations.steady_end_ns();
  findings.add({0}, iterations.steady_end_ns(), [&] { return finding; });
}

}  // namespace streamscope::analysis
