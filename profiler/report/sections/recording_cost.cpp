// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "recording_cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "vocabulary/tier.h"

namespace streamscope::report {
namespace {

// docs/performance.md, "What recording costs a program"; a test compares them.
constexpr TypicalCost kTypical[] = {{to_string(Tier::kStructure), "0 to 9 %", "0.3 µs"},
                                    {to_string(Tier::kTimes), "13 to 25 %", "0.6 µs"},
                                    {to_string(Tier::kEvents), "32 %", "more than 0.6 µs"}};

}  // namespace

const TypicalCost* typical_cost(std::string_view tier) {
  const auto* found = std::ranges::find(kTypical, tier, &TypicalCost::tier);
  return found == std::end(kTypical) ? nullptr : found;
}

std::string recording_cost(const trace::Trace& trace) {
  const bool is_virtual = std::ranges::all_of(
      trace.process.clock, [](trace::Small clock) { return clock == trace::kVirtualClock; });
  if (is_virtual) return "";
  const auto tier = trace.meta.find("tier");
  const TypicalCost* typical = trace.meta.contains("imported_from") || tier == trace.meta.end()
                                   ? nullptr
                                   : typical_cost(tier->second);
  if (!typical) return "recording cost not measured";
  return fmt::format("recording cost not measured (typically {} if host-bound)", typical->pytorch);
}

}  // namespace streamscope::report
