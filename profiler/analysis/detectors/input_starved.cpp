// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// input-starved (SS307): in each iteration the device waits for the next batch: the host makes a
//   long pause (as in SS305), and at least two fifths of its samples there are in a library that
//   loads batches (torch.utils.data, DALI, WebDataset, tf.data, FFCV). Evidence: calls, times,
//   samples of the host (record --samples), or the operators that PyTorch's profiler recorded. The
//   gain assumes that a batch is always ready. Missed: loaders of the program's own, which SS305
//   finds by their lines.
#include <fmt/format.h>

#include "../labels.h"
#include "../left_out.h"
#include "../units.h"
#include "families.h"
#include "pauses_in_iteration.h"

namespace streamscope::analysis {
namespace {

// The part of the time in which the host itself works on a batch.
double working(const HostActivities& activities) {
  Ns works = 0;
  for (const HostActivity& line : activities.lines)
    works += line.runs ? line.each_ns : line.fetch_ns;
  return static_cast<double>(works) / static_cast<double>(std::max<Ns>(1, activities.each_ns));
}

}  // namespace

void find_input_starved(Analyses& analyses, Findings& findings) {
  constexpr double kMostly = 0.5;
  if (analyses.trace().host_sample.empty())
    return findings.never_reported(not_sampled(analyses.trace()));
  const auto pauses = input_pauses(analyses);
  if (!pauses) return;
  const IterationModel& model = analyses.iteration_model();
  Finding finding;
  if (!set_pauses(model, *pauses, finding)) return;
  finding.title = fmt::format("the device waits for the next batch for {} of an iteration",
                              format_duration(pauses->each_ns));
  finding.text =
      activity_sentence(pauses->activities) +
      (working(pauses->activities) >= kMostly
           ? " The thread that launches also loads the batches: load them in other processes, "
             "iterations ahead (num_workers=…)."
           : " The workers do not keep up: use more of them (num_workers), keep them "
             "(persistent_workers), or make their work cheaper.");
  findings.add({0}, model.iterations().steady_end_ns(), [&] { return finding; });
}

}  // namespace streamscope::analysis
