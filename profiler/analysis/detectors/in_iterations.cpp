// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "in_iterations.h"

#include <fmt/format.h>

#include "../units.h"

namespace streamscope::analysis {

bool set_iteration_gain(const IterationModel& model, const Change& change, Ns at_least_ns,
                        Finding& finding) {
  const Ns before = model.bare_ns(),
           after = std::min(before, std::max(at_least_ns, model.predicted_ns(change)));
  finding.iteration = {before, after};
  finding.gain_ns =
      finding.iteration->gain_ns() * static_cast<Ns>(model.iterations().steady_count());
  finding.repair = std::make_shared<const Change>(change);
  return !finding.iteration->is_small();
}

std::string format_each(size_t count, const Iterations& iterations) {
  return format_mean(static_cast<double>(count) / static_cast<double>(iterations.steady_count()));
}

std::string times_each(size_t count, const Iterations& iterations) {
  const std::string each = format_each(count, iterations);
  return each == "1" ? "once" : each + " times";
}

double part_of(const IterationModel& model, TimeShare share) {
  const Ns total = model.shares().total_ns();
  return total == 0 ? 0
                    : static_cast<double>(model.shares().total[static_cast<size_t>(share)]) /
                          static_cast<double>(total);
}

}  // namespace streamscope::analysis
