// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "call_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/call_sites.h"
#include "analysis/labels.h"
#include "analysis/units.h"

namespace streamscope::analysis {

CallGroups group_calls(Analyses& analyses, const CallRows& calls) {
  constexpr size_t kMostShown = 4;
  const Trace& trace = analyses.trace();
  const bool is_sync = calls.table == CallRows::kHostSync;
  const std::vector<std::string> sites = call_sites(trace);
  struct Group {
    std::string what;
    Id first = kNoId;
    size_t count = 0;
  };
  std::map<std::pair<std::string, std::string>, Group> by_place;  // name and call site
  for (const Id row : calls.rows) {
    const Id name = is_sync ? trace.host_sync.name_id[row] : trace.api_call.name_id[row];
    const Id stack = is_sync ? trace.host_sync.stack_id[row] : trace.api_call.stack_id[row];
    std::string what = printable(trace.text(name));
    if (what.empty()) what = is_sync ? "a synchronization" : "a call";
    const std::string site = stack < sites.size() ? sites[stack] : "";
    Group& group = by_place[{what, site}];
    if (group.count++ == 0) {
      group.first = row;
      group.what = what;
    }
  }
  std::vector<Group> groups;
  groups.reserve(by_place.size());
  for (const auto& [key, group] : by_place) groups.push_back(group);
  std::ranges::stable_sort(groups, std::ranges::greater{}, &Group::count);
  CallGroups result;
  for (size_t i = 0; i < std::min(groups.size(), kMostShown); ++i) {
    const Location place = is_sync ? analyses.places().of_sync(groups[i].first)
                                   : analyses.places().of_call(groups[i].first);
    if (i == 0 || (result.place.call_site.empty() && !place.call_site.empty()))
      result.place = place;
    result.text += fmt::format("{}{} {}{}", i == 0 ? "" : ", ", groups[i].what,
                               format_count(groups[i].count, "time"),
                               place.call_site.empty() ? "" : " from " + place.call_site);
  }
  if (groups.size() > kMostShown)
    result.text += fmt::format(", and {} more places", format_count(groups.size() - kMostShown));
  return result;
}

}  // namespace streamscope::analysis
