// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "layers.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace streamscope::analysis {
namespace {

// When a module is called, and its name.
using ModuleCall = std::pair<Ns, Id>;

std::vector<ModuleCall> module_calls(const IssuedWork& work) {
  constexpr std::string_view kModule = "nn.Module: ";
  const Trace& trace = work.trace();
  std::vector<ModuleCall> calls;
  for (Id id = 0; id < trace.range.size(); ++id) {
    if (trace.text(trace.range.name_id[id]).starts_with(kModule) &&
        trace.process_of_thread(trace.range.thread_id[id]) == work.process())
      calls.emplace_back(trace.range.start_ns[id], trace.range.name_id[id]);
  }
  std::ranges::sort(calls);
  return calls;
}

std::vector<Id> modules_between(const std::vector<ModuleCall>& calls, Ns from, Ns until) {
  std::vector<Id> modules;
  for (auto call = std::ranges::lower_bound(calls, from, {}, &ModuleCall::first);
       call != calls.end() && call->first < until; ++call)
    modules.push_back(call->second);
  std::ranges::sort(modules);
  modules.erase(std::ranges::unique(modules).begin(), modules.end());
  return modules;
}

}  // namespace

bool are_layers(const IssuedWork& work, const std::vector<size_t>& bounds) {
  const std::vector<ModuleCall> calls = module_calls(work);
  if (calls.empty()) return false;
  size_t others = 0, same = 0;
  std::vector<Id> before;
  for (size_t part = 0; part + 2 < bounds.size(); ++part) {
    std::vector<Id> now =
        modules_between(calls, work.issued_ns(bounds[part]), work.issued_ns(bounds[part + 1]));
    if (!before.empty() && !now.empty()) {
      std::vector<Id> common;
      std::ranges::set_intersection(before, now, std::back_inserter(common));
      ++(2 * common.size() <= now.size() ? others : same);  // an activation may be shared
    }
    before = std::move(now);
  }
  return others > same;
}

}  // namespace streamscope::analysis
