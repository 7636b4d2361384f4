// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// code-loading-in-iteration (SS304): modules are loaded although the steady part has begun: kernels
//   that are used for the first time, such as those of a new shape or of another branch. Evidence:
//   calls, times. The gain is the time in these calls along the critical path.
#include <fmt/format.h>

#include "../units.h"
#include "families.h"
#include "in_iterations.h"
#include "trace/ns_math.h"
#include "vocabulary/call_kind.h"

namespace streamscope::analysis {

void find_code_loading_in_iterations(Analyses& analyses, Findings& findings) {
  const IterationModel& model = analyses.iteration_model();
  if (!model.found() || part_of(model, TimeShare::kCodeLoading) < 0.01) return;
  const Trace& trace = analyses.trace();
  const auto& calls = trace.api_call;
  Change change;
  size_t count = 0;
  Ns spent = 0, last = kUnknownNs;
  Id longest = kNoId;
  each_steady_call(trace, model.iterations(), [&](Id call) {
    if (calls.kind[call] != CallKind::kModuleLoad) return;
    const Ns duration = trace::between(calls.start_ns[call], calls.end_ns[call]);
    change.cuts.add(calls.thread_id[call], calls.start_ns[call], calls.end_ns[call]);
    ++count;
    trace::add_to(spent, duration);
    last = std::max(last, calls.start_ns[call]);
    if (longest == kNoId || duration > calls.end_ns[longest] - calls.start_ns[longest])
      longest = call;
  });
  if (count == 0) return;
  Finding finding;
  // A mean: most iterations load nothing.
  const Ns mean = model.shares().total[static_cast<size_t>(TimeShare::kCodeLoading)] /
                  static_cast<Ns>(model.iterations().steady_count());
  finding.iteration = {model.bare_ns(), std::max<Ns>(0, model.bare_ns() - mean)};
  finding.gain_ns = mean * static_cast<Ns>(model.iterations().steady_count());
  finding.repair = std::make_shared<const Change>(change);
  finding.title = fmt::format("code is loaded {} in the steady part", format_count(count, "time"));
  finding.text = fmt::format(
      "It takes {}. Use each kernel once before the loop, or load all code at the start "
      "(CUDA_MODULE_LOADING=EAGER).",
      format_duration(spent));
  finding.place = analyses.places().of_call(longest);
  finding.count = count;
  finding.start_ns = calls.start_ns[longest];
  finding.end_ns = calls.end_ns[longest];
  findings.add({0}, last, [&] { return finding; });
}

}  // namespace streamscope::analysis
