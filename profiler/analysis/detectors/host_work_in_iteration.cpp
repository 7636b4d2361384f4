// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// host-work-in-iteration (SS305): in each iteration the host makes a long pause between two CUDA
//   calls, and the device has nothing to do meanwhile: the host makes the next batch, works on
//   results, or waits for a lock, a file or a processor. Evidence: calls, times. A pause is long if
//   it takes a twentieth of the iteration (at least 100 µs, at most 500 µs), and no other thread of
//   the process issues work in it. The gain assumes that others do this work at the same
//   time, as many as it takes; an iteration takes at least as long as the device is busy in it.
//   The finding names the op that is issued next, and with samples of the host
//   (record --samples) what the host does there. Missed: the same without samples.
#include <fmt/format.h>

#include "../delay/wait_groups.h"
#include "../iterations/host_samples.h"
#include "../labels.h"
#include "../units.h"
#include "families.h"
#include "in_iterations.h"
#include "trace/ns_math.h"

namespace streamscope::analysis {
namespace {

constexpr double kLeastOutsideShare = 0.05;
constexpr Ns kLeastOutsideGain = 20;  // 1/20 of the iteration: shorter pauses are the host's pace

// The first op that a thread issued at or after an instant, by its work.
class NextIssues {
 public:
  explicit NextIssues(Analyses& analyses) : acts_(analyses.trace().thread.size()) {
    for (Id op = 0; op < analyses.trace().op.size(); ++op) {
      const Issue issue = analyses.order().issue(op);
      acts_.add(issue.thread_id, issue.start_ns, op);
    }
    acts_.sort();
  }
  Id next(Id thread, Ns from) const { return acts_.next(thread, from).second; }

 private:
  Acts acts_;
};

}  // namespace

void find_host_work_in_iterations(Analyses& analyses, Findings& findings) {
  const IterationModel& model = analyses.iteration_model();
  if (!model.found() || part_of(model, TimeShare::kOutside) < kLeastOutsideShare) return;
  const Trace& trace = analyses.trace();
  const Iterations& iterations = model.iterations();
  const NextIssues issues(analyses);
  struct Before {  // pauses before the same work
    Ns total_ns = 0, longest_ns = 0, start_ns = kUnknownNs, end_ns = kUnknownNs;
    Id op = kNoId;
  };
  std::map<Work, Before> by_work;
  Change change;
  size_t count = 0;
  Ns total = 0;
  const SamplesByThread by_thread(trace);
  std::vector<Id> samples;
  const Ns from = iterations.issued_from_ns(), to = iterations.issued_to_ns();
  for (const Id thread : issuing_threads(analyses, iterations)) {
    for (const HostPause& pause : analyses.host_pauses().of(thread)) {
      if (pause.start_ns < from || pause.end_ns > to) continue;
      // Only what follows the work of another thread is this thread's own.
      const Ns begin = pause.by_thread == kNoId ? pause.start_ns : pause.handed_over_ns;
      const Ns lasted = pause.end_ns - begin;
      if (lasted < long_pause_ns(iterations)) continue;
      const Id op = issues.next(thread, pause.end_ns);
      if (op == kNoId) continue;
      change.cuts.add(thread, begin, pause.end_ns);
      ++count;
      trace::add_to(total, lasted);
      std::ranges::copy(by_thread.of(thread, begin, pause.end_ns), std::back_inserter(samples));
      Before& before = by_work[work_of(trace, op)];
      trace::add_to(before.total_ns, lasted);
      if (lasted <= before.longest_ns) continue;
      before = {before.total_ns, lasted, begin, pause.end_ns, op};
    }
  }
  if (count * 2 < iterations.steady_count()) return;
  const Ns each = total / static_cast<Ns>(iterations.steady_count());
  Finding finding;
  if (!set_iteration_gain(model, change, model.shares().busy_ns, finding) ||
      finding.iteration->gain_ns() < finding.iteration->before_ns / kLeastOutsideGain) {
    return;
  }
  const auto most = std::ranges::max_element(
      by_work, {}, [](const auto& entry) { return entry.second.total_ns; });
  const Before& before = most->second;
  finding.title =
      fmt::format("the device waits while the host is outside CUDA for {} of an iteration",
                  format_duration(each));
  finding.text = fmt::format(
      "{} of it comes right before {} is issued. Do this work in other threads or processes, one "
      "iteration ahead (DataLoader(num_workers=…), a queue), or on the device. The host "
      "pauses {} times in an iteration; many short pauses are a sign of a lock, such as Python's, "
      "or "
      "of a missing processor.",
      format_percent(before.total_ns, total), op_label(trace, before.op),
      format_each(count, iterations));
  const HostActivities activities = host_activities(analyses, samples, each);
  if (const std::string sentence = activity_sentence(activities); !sentence.empty()) {
    finding.text = sentence + " " + finding.text;
    finding.place.call_site = activities.lines.front().place;
  }
  finding.second_op = before.op;
  finding.count = count;
  finding.start_ns = before.start_ns;
  finding.end_ns = before.end_ns;
  findings.add({0}, iterations.steady_end_ns(), [&] { return finding; });
}

}  // namespace streamscope::analysis
