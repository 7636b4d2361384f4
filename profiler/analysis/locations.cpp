// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "locations.h"

#include <fmt/format.h>

#include <algorithm>

#include "call_sites.h"
#include "labels.h"

namespace streamscope::analysis {

namespace {

// Ranges of an imported profile that are the frames of its call stacks.
constexpr std::string_view kPythonFunctions = "python_function";

}  // namespace

Places::Places(const Trace& trace) : trace_(trace), call_sites_(call_sites(trace)) {}

std::string Location::sentence() const {
  std::string text;
  const auto add = [&](const char* word, const std::string& what) {
    if (what.empty()) return;
    if (!text.empty()) text += ", ";
    text += word + what;
  };
  if (!thread.empty()) add("on ", with_word_thread(thread));
  add("from ", call_site);
  add("in ", ranges);
  return text;
}

std::string Places::thread_name(Id thread) const {
  if (thread >= trace_.thread.size()) return "";
  std::string name = printable(trace_.text(trace_.thread.name_id[thread]));
  if (name.empty() && trace_.thread.os_tid[thread] > 0)
    name = fmt::format("{}", trace_.thread.os_tid[thread]);
  return name;
}

template <class Calls>
Location Places::place(const Calls& calls, Id call) const {
  Location result;
  if (call >= calls.size()) return result;
  const Id thread = calls.thread_id[call], operation = calls.operation_id[call];
  const Ns at = calls.start_ns[call];
  result.thread = thread_name(thread);
  if constexpr (requires { calls.stack_id; }) {
    const Id stack = calls.stack_id[call];
    if (stack < call_sites_.size()) result.call_site = call_sites_[stack];
  }
  if (result.call_site.empty() && operation < trace_.operation.size())
    result.call_site = printable(trace_.text(trace_.operation.call_site_id[operation]));
  if (at == kUnknownNs) return result;
  const auto& ranges = trace_.range;
  std::vector<Id> around;
  for (Id range = 0; range < ranges.size(); ++range) {
    if (ranges.thread_id[range] == thread && ranges.kind[range] == trace::kPushPop &&
        ranges.start_ns[range] != kUnknownNs && ranges.start_ns[range] <= at &&
        (ranges.end_ns[range] == kUnknownNs || ranges.end_ns[range] > at) &&
        trace_.text(ranges.domain_id[range]) != kPythonFunctions) {
      around.push_back(range);
    }
  }
  std::ranges::sort(
      around, {}, [&](Id range) { return std::pair(ranges.start_ns[range], ranges.depth[range]); });
  for (Id range : around) {
    if (!result.ranges.empty()) result.ranges += '/';
    result.ranges += printable(trace_.text(ranges.name_id[range]));
  }
  return result;
}

Location Places::of_op(Id op) const {
  return op < trace_.op.size() ? of_call(trace_.op.api_call_id[op]) : Location{};
}
Location Places::of_call(Id call) const { return place(trace_.api_call, call); }
Location Places::of_tensor(Id allocation) const {
  Location result;
  result.thread = thread_name(trace_.allocation.alloc_thread_id[allocation]);
  const Id stack = trace_.allocation.alloc_stack_id[allocation];
  if (stack < call_sites_.size()) result.call_site = call_sites_[stack];
  return result;
}
Location Places::of_record(Id record) const { return place(trace_.event_record, record); }
Location Places::of_wait(Id wait) const { return place(trace_.event_wait, wait); }
Location Places::of_sync(Id sync) const { return place(trace_.host_sync, sync); }

}  // namespace streamscope::analysis
