// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// allocation-in-iteration (SS303): cudaMalloc, cudaFree and their relatives in each iteration. They
//   take long, take locks of the driver, and a free waits for the device. Evidence: calls, times.
//   Stream-ordered allocations count as well: they are cheap only if their pool keeps its memory.
//   The gain comes from a replay without the time in these calls.
#include <fmt/format.h>

#include "../call_sites.h"
#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "in_iterations.h"
#include "trace/ns_math.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {

void find_allocations_in_iterations(Analyses& analyses, Findings& findings) {
  const IterationModel& model = analyses.iteration_model();
  if (!model.found()) return;
  const Trace& trace = analyses.trace();
  const Iterations& iterations = model.iterations();
  Change change;
  size_t count = 0;
  Ns spent = 0, last = kUnknownNs;
  Id longest = kNoId;
  std::map<std::string_view, size_t> names;
  each_steady_call(trace, iterations, [&](Id call) {
    const auto& calls = trace.api_call;
    if (!is_allocation(calls.kind[call])) return;
    const Ns duration = trace::between(calls.start_ns[call], calls.end_ns[call]);
    change.cuts.add(calls.thread_id[call], calls.start_ns[call], calls.end_ns[call]);
    ++count;
    ++names[trace.text(calls.name_id[call])];
    trace::add_to(spent, duration);
    last = std::max(last, calls.start_ns[call]);
    if (longest == kNoId || duration > calls.end_ns[longest] - calls.start_ns[longest])
      longest = call;
  });
  if (count * 2 < iterations.steady_count()) return;
  Finding finding;
  if (!set_iteration_gain(model, change, 0, finding)) return;
  std::string what;
  for (const auto& [name, times] : names)
    what += fmt::format("{}{} {}", what.empty() ? "" : ", ", format_each(times, iterations),
                        printable(name));
  finding.title = fmt::format("each iteration allocates and frees memory: {}", what);
  finding.text = fmt::format(
      "These calls take {} of an iteration. Allocate before the loop, or keep freed memory in a "
      "pool ({}a release threshold for cudaMallocAsync).",
      format_duration(spent / static_cast<Ns>(iterations.steady_count())),
      language_of(trace) == Language::kCompiled ? "" : "no torch.cuda.empty_cache() in the loop, ");
  finding.place = analyses.places().of_call(longest);
  finding.count = count;
  finding.start_ns = trace.api_call.start_ns[longest];
  finding.end_ns = trace.api_call.end_ns[longest];
  findings.add({0}, last, [&] { return finding; });
}

}  // namespace streamscope::analysis
