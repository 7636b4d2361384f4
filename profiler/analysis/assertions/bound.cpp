// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// max_bound("host"): the share of the steady iterations in which the host, the device or one of
// their parts was what the iteration waited for: its critical path, as in the report. The only
// assertion that depends on measured times.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/iterations/iteration_model.h"
#include "analysis/units.h"
#include "kinds.h"

namespace streamscope::analysis {

AssertionResult evaluate_bound(const AssertionContext& context, const Assertion& assertion) {
  const IterationModel& model = context.analyses.iteration_model();
  if (!model.found()) {
    return context.iterations.found() ? not_evaluable(assertion, "needs at least four iterations")
                                      : without_iterations(context, assertion);
  }
  const IterationShares& shares = model.shares();
  const auto whole = static_cast<double>(shares.total_ns());
  if (whole <= 0) return not_evaluable(assertion, "the iterations have no duration");
  const auto bound = std::ranges::find(bounds(), assertion.first, &Bound::name);
  const auto ns_of = [&](TimeShare share) { return shares.total[static_cast<size_t>(share)]; };
  std::vector<TimeShare> parts = bound == bounds().end() ? std::vector<TimeShare>() : bound->shares;
  double sum = 0;
  for (const TimeShare share : parts) sum += static_cast<double>(ns_of(share));
  std::string measured = fmt::format("{:.1f} %", 100 * sum / whole);
  if (assertion.allows(100 * sum / whole)) return holds(assertion, std::move(measured));
  std::ranges::stable_sort(parts, std::ranges::greater{}, ns_of);
  std::string text;
  for (const TimeShare share : parts) {
    if (ns_of(share) == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", names_of(share).shown,
                        format_percent(static_cast<double>(ns_of(share)) / whole));
  }
  return fails(assertion, std::move(measured),
               fmt::format("an iteration of {} spends {}",
                           format_duration(model.iterations().median_ns), text),
               {});
}

}  // namespace streamscope::analysis
