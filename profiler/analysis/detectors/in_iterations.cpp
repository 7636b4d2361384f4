// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "in_iterations.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

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

std::string text_of_places(const IterationModel& model, Ns at_least_ns,
                           const std::vector<const SiteInIterations*>& sites, size_t& best) {
  constexpr size_t kMostReplays = 8, kMostNamed = 3;
  struct Place {
    Ns gain_ns;
    size_t site;
  };
  std::vector<Place> places;
  for (size_t i = 0; i < std::min(sites.size(), kMostReplays); ++i) {
    const Ns gain = model.bare_ns() - std::max(at_least_ns, model.predicted_ns(sites[i]->change));
    places.push_back({std::max<Ns>(0, gain), i});
  }
  std::ranges::stable_sort(places, std::greater{}, &Place::gain_ns);
  best = places.front().site;
  std::string text = "By place, each alone: ";
  for (size_t i = 0; i < std::min(places.size(), kMostNamed); ++i) {
    const SiteInIterations& site = *sites[places[i].site];
    text += fmt::format(
        "{}{} ({}, {})", i == 0 ? "" : ", ", site.line.empty() ? "an unknown place" : site.line,
        times_each(site.count, model.iterations()),
        places[i].gain_ns == 0 ? "no gain"
                               : "−" + format_percent(places[i].gain_ns, model.bare_ns()));
  }
  if (sites.size() > kMostNamed)
    text += fmt::format(", and {}", format_count(sites.size() - kMostNamed, "more place"));
  return text + ".";
}

double part_of(const IterationModel& model, TimeShare share) {
  const Ns total = model.shares().total_ns();
  return total == 0 ? 0
                    : static_cast<double>(model.shares().total[static_cast<size_t>(share)]) /
                          static_cast<double>(total);
}

}  // namespace streamscope::analysis
