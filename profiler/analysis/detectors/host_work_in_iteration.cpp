// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// host-work-in-iteration (SS305): in each iteration the host makes a long pause between two CUDA
//   calls, and the device has nothing to do meanwhile: the host makes the next batch, works on
//   results, or waits for a lock, a file or a processor. Evidence: calls, times. A pause is long if
//   it takes a twentieth of the iteration (at least 100 µs, at most 500 µs), and no other thread of
//   the process issues work in it. The gain assumes that others do this work at the same
//   time, as many as it takes; an iteration takes at least as long as the device is busy in it.
//   Where the host loads the next batch, it is an input-starved program (SS307) instead.
//   The finding names the op that is issued next, and with samples of the host
//   (record --samples) what the host does there. Missed: the same without samples.
#include <fmt/format.h>

#include "../call_sites.h"
#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "pauses_in_iteration.h"

namespace streamscope::analysis {
namespace {

std::string remedy(const PausesInIteration& pauses, const Iterations& iterations,
                   Language language) {
  if (is_lock_bound(pauses.activities))
    return "Another thread of the program holds Python's lock: do its work in another process, or "
           "in code that releases the lock.";
  std::string text = fmt::format(
      "Do this work in other threads or processes, one iteration ahead ({}a queue), or on the "
      "device.",
      language == Language::kCompiled ? "" : "DataLoader(num_workers=…), ");
  if (pauses.activities.samples < kLeastSamples) {
    text += fmt::format(
        " The host pauses {} in an iteration; many short pauses are a sign of a lock, such as "
        "Python's, or of a missing processor.",
        times_each(pauses.count, iterations));
  }
  return text;
}

}  // namespace

void find_host_work_in_iterations(Analyses& analyses, Findings& findings) {
  const auto pauses = pauses_in_iterations(analyses);
  if (!pauses || is_input_bound(pauses->activities)) return;
  const IterationModel& model = analyses.iteration_model();
  Finding finding;
  if (!set_pauses(model, *pauses, finding)) return;
  const Iterations& iterations = model.iterations();
  finding.title =
      fmt::format("the device waits while the host is outside CUDA for {} of an iteration",
                  format_duration(pauses->each_ns));
  finding.text = activity_sentence(pauses->activities);
  if (!finding.text.empty()) finding.text += ' ';
  finding.text +=
      fmt::format("{} of it comes right before {} is issued. {}", format_percent(pauses->before),
                  op_label(analyses.trace(), pauses->before_op),
                  remedy(*pauses, iterations, language_of(analyses.trace())));
  findings.add({0}, iterations.steady_end_ns(), [&] { return finding; });
}

}  // namespace streamscope::analysis
