// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Helpers of the detectors that look at the steady part of a run (SS301 to SS310).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/iterations/iteration_model.h"
#include "analysis/iterations/steady_calls.h"
#include "steps.h"

namespace streamscope::analysis {

/// Sets what a change saves; false if that is less than 1 % of an iteration.
/// `at_least_ns`: an iteration cannot become shorter than this.
bool set_iteration_gain(const IterationModel& model, const Change& change, Ns at_least_ns,
                        Finding& finding);

/// "75", "0.5": a count for each iteration.
std::string format_each(size_t count, const Iterations& iterations);

/// The same as "once" or "75 times".
std::string times_each(size_t count, const Iterations& iterations);

/// Calls of one kind at one line, or without a known one.
struct SiteInIterations {
  Id first = kNoId;  ///< row of the first
  std::string line;
  size_t count = 0;
  Change change;  ///< without them
};

/// What each of the sites alone would save, the best first: "By place, each alone: a.py:7 (once,
/// −3 %), …". An iteration takes `at_least_ns` without them. Looks at the first eight, of which it
/// sets `best`. Not empty.
std::string text_of_places(const IterationModel& model, Ns at_least_ns,
                           const std::vector<const SiteInIterations*>& sites, size_t& best);

/// The same; puts the best in front.
template <class Site>
std::string name_places(const IterationModel& model, Ns at_least_ns, std::vector<Site>& sites) {
  std::vector<const SiteInIterations*> all;
  all.reserve(sites.size());
  for (const Site& site : sites) all.push_back(&site);
  size_t best = 0;
  std::string text = text_of_places(model, at_least_ns, all, best);
  std::swap(sites.front(), sites[best]);
  return text;
}

/// The part of an iteration that a share takes.
double part_of(const IterationModel& model, TimeShare share);

}  // namespace streamscope::analysis
