// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "loss.h"

#include <algorithm>
#include <string>

#include "query.h"
#include "reader.h"

namespace streamscope::trace {
namespace {

constexpr LossInfo kKinds[] = {
    // What the collector reports (ring/losses.h).
    {"ring-full", Severity::kDataLoss, kAllEvidence,
     "A thread made records faster than they were stored, so some are missing.",
     "Record a shorter part with --duration or --capture-range, or set STREAMSCOPE_RING_RECORDS "
     "higher than 131072, the records that a ring holds."},
    {"ring-not-grown", Severity::kDataLoss, kAllEvidence,
     "The ring of a thread could not grow, so some of its records are missing.",
     "Free space in the folder of the trace, or raise the limit of the program that is named."},
    {"cupti-dropped", Severity::kDataLoss, kTimeEvidence,
     "CUPTI had no buffer left, so device times of some work are missing.",
     "Use --tier structure, or record a shorter part with --duration."},
    {"activity-buffers", Severity::kDataLoss, kTimeEvidence,
     "Device times were thrown away to bound the memory that they took.",
     "Record to a faster disk, or a shorter part."},
    {"activity-ring-full", Severity::kDataLoss, kTimeEvidence,
     "Device times came faster than they were stored, so some are missing.",
     "Record to a faster disk, or a shorter part."},
    {"times-not-delivered", Severity::kDataLoss, kTimeEvidence,
     "The program ended before the device reported the times of this work.",
     "Let the program synchronize with the device before it ends."},
    {"unknown-activity", Severity::kNotice, kTimeEvidence,
     "CUPTI delivered records of a kind or layout that is not known here.",
     "This libcupti is newer than this build knows; update StreamScope."},
    {"other-subscriber", Severity::kError, kAllEvidence,
     "Another tool holds CUPTI in this process, so no CUDA call was recorded.",
     "Record without nsys, ncu or torch.profiler."},
    {"profiler-conflict", Severity::kDataLoss, kTimeEvidence,
     "Another profiler inside the program took the device times for a while.",
     "Do not run another CUDA profiler inside a recorded program."},
    {"profiler-refused", Severity::kInfo, kNoEvidence,
     "CUPTI refused another profiler inside the program: its profile lacks GPU activity from here "
     "on, this trace lacks nothing.",
     "Run the program without `streamscope record` to use the other profiler."},
    {"no-cupti", Severity::kError, kAllEvidence,
     "libcupti was not found or refused, so no CUDA call was recorded.",
     "Install the CUDA toolkit's libcupti or name it in STREAMSCOPE_CUPTI; `streamscope doctor` "
     "lists the places where it was looked for."},
    {"cupti-fatal", Severity::kError, kAllEvidence,
     "CUPTI stopped by itself; what follows in the program is missing.",
     "`streamscope doctor` checks driver and CUPTI."},
    {"late-attach", Severity::kNotice, kCallEvidence | kEventEvidence | kAllocationEvidence,
     "CUDA was in use before recording began: earlier objects and work are unknown.",
     "Start the program under `streamscope record` to see all of it."},
    {"graph-times", Severity::kNotice, kTimeEvidence,
     "Graph launches have no times, as graphs could exist when recording began.",
     "Start the program under `streamscope record` to get them."},
    {"no-thread-ring", Severity::kDataLoss, kAllEvidence,
     "A thread got no ring, so all its calls are missing.",
     "Mend what the reason beside it says: space, a limit, or the permissions of the trace's "
     "folder."},
    {"bad-observer-fact", Severity::kNotice, kArgumentEvidence | kAllocationEvidence,
     "libcoord told facts that make no sense here.",
     "libcoord and the collector are of different versions; use one version."},
    {"kernel-parameters", Severity::kInfo, kNoEvidence,
     "Some kernels have so many parameters that only a part of them was searched for pointers.",
     ""},
    {"no-stacks", Severity::kInfo, kNoEvidence, "Call stacks could not be taken.", ""},
    // What the writer finds out.
    {"unknown-history", Severity::kNotice, kEventEvidence,
     "Some waits refer to records made before recording began.",
     "Start recording before the program records its events."},
    {"history-lost", Severity::kNotice, kEventEvidence,
     "Some waits may refer to records that were lost, or made while recording was off.",
     "The other losses say why, and what to do."},
    {"ambiguous-binding", Severity::kNotice, kEventEvidence,
     "Some waits overlapped a record of the same event in another thread, so either may be meant.",
     "Order the two calls in the program to make the wait exact."},
    {"paused", Severity::kInfo, kAllEvidence, "Recording was switched off for a while, as asked.",
     ""},
    {"process-ended-abruptly", Severity::kNotice, kNoEvidence,
     "The process was killed or crashed; what it stored until then is here.", ""},
    {"exit-handlers-skipped", Severity::kNotice, kNoEvidence,
     "The process ended by _exit() or exec(), which run no exit handlers, so GPU times of its "
     "newest "
     "work may be missing.",
     "End the program by exit() to get them."},
    {"process-end-unknown", Severity::kNotice, kNoEvidence,
     "The process ended without exit handlers, and how is not known: by a signal, _exit() or "
     "exec(); "
     "what it stored until then is here.",
     ""},
    // Touches no evidence: what was found stands; that nothing more would be does not
    // (is_unfinished()).
    {kEndedEarly, Severity::kNotice, kNoEvidence,
     "The program went on after its recording had ended, so the rest of it is missing.",
     "Let the program end before the recorder does."},
    {"writer-ended-abruptly", Severity::kNotice, kNoEvidence,
     "The recorder was killed; the trace was finished later from what it left.", ""},
    {"ring-torn", Severity::kDataLoss, kAllEvidence,
     "A ring was damaged, so the rest of its records could not be read.", ""},
    {"string-missing", Severity::kNotice, kNoEvidence,
     "Some texts never reached the trace and read \"?\".", ""},
    {"graph-nodes-not-recorded", Severity::kInfo, kNoEvidence,
     "Graph launches are recorded as one op each, not node by node.",
     "Use --graphs nodes to see the nodes; replay gets slower."},
    {"no-device-times", Severity::kInfo, kTimeEvidence, "Tier structure records no device times.",
     "Use --tier times to get them."},
    {"work-not-ended", Severity::kNotice, kNoEvidence,
     "Work on the device had not ended when it was asked for the last time: it still ran, or never "
     "could as its context had failed.",
     ""},
    {"tasks-left-out", Severity::kInfo, kNoEvidence,
     "Tasks of a queue of a GPU ran and are not here: there was no room, or they ran where they "
     "were spawned.",
     "Have the queue record as many tasks as a run has."},
    {"call-not-finished", Severity::kNotice, kNoEvidence,
     "Some calls had not returned when recording ended.", ""},
    {"flight-recorder", Severity::kNotice, kCallEvidence | kEventEvidence | kAllocationEvidence,
     "A flight recorder kept the newest part only; how far work had come is known where it was "
     "asked.",
     "Give --flight-recorder more MiB to see further back."},
    {"threads-not-seen", Severity::kInfo, kNoEvidence,
     "When the program stood still, the stacks of its threads could not be read from outside; "
     "those "
     "taken at the entry of calls stand for them.",
     "Let the recorder trace it: kernel.yama.ptrace_scope at most 1, or CAP_SYS_PTRACE."},
    {"stack-unreadable", Severity::kInfo, kNoEvidence, "Some call stacks could not be read.", ""},
    {"clock-not-invariant", Severity::kNotice, kNoEvidence,
     "The time-stamp counter of this machine is not invariant, so a slower clock was used.", ""},
    {"record-invalid", Severity::kDataLoss, kAllEvidence,
     "Some records made no sense and were left out.", "Report this with the trace."},
    {kDamagedValues, Severity::kDataLoss, kAllEvidence,
     "Some values cannot be, such as times years away or memory beyond the last address; they "
     "count "
     "as unknown.",
     "Record or copy it again; if that does not help, report this with the trace."},
    {"merge-no-clock", Severity::kNotice, kNoEvidence,
     "A merged trace does not say when it was recorded; its times start at 0.", ""},
    {"merge-no-overlap", Severity::kNotice, kNoEvidence,
     "A merged trace begins after all earlier ones have ended, so it lies apart on the timeline.",
     "Merge traces of one run; if these are, set the clocks of their machines by NTP or PTP."},
    // What an import finds out.
    {"import-no-cuda", Severity::kDataLoss, kAllEvidence,
     "The imported file holds nothing of CUDA.", "Profile again with CUDA tracing switched on."},
    {"import-op-without-call", Severity::kDataLoss, kCallEvidence | kEventEvidence,
     "The imported file lacks the calls that issued some work.",
     "Profile the whole run, or import a file that was not cut."},
    {"import-sync-without-call", Severity::kNotice, kEventEvidence,
     "The imported file tells of synchronizations whose calls it lacks; they were left out.",
     "Profile the whole run, or import a file that was not cut."},
    {"import-unknown-object", Severity::kDataLoss, kEventEvidence,
     "The imported file does not say which event or stream some calls act on.",
     "Profile with event tracing (nsys --cuda-event-trace, Kineto's enable_cuda_sync_events), or "
     "record "
     "with streamscope."},
    {"import-not-understood", Severity::kInfo, kNoEvidence,
     "The imported file holds more, of kinds that a trace has no place for.", ""},
    {"import-truncated", Severity::kDataLoss, kAllEvidence,
     "The imported file ends in the middle; what stands before that was imported.",
     "Copy or profile it again."},
};

constexpr LossInfo kUnknown = {"", Severity::kDataLoss, kAllEvidence,
                               "A kind of loss that this version does not know.",
                               "Use a newer streamscope to read this trace."};

}  // namespace

std::span<const LossInfo> loss_kinds() { return kKinds; }

const LossInfo& loss_info(std::string_view name) {
  for (const LossInfo& kind : kKinds) {
    if (kind.name == name) return kind;
  }
  return kUnknown;
}

bool is_unfinished(const Trace& trace) {
  const auto finished = trace.meta.find("finished");
  if (finished != trace.meta.end() && finished->second == "0") return true;
  return std::any_of(trace.loss.name_id.begin(), trace.loss.name_id.end(),
                     [&](Id name) { return trace.text(name) == kEndedEarly; });
}

bool is_unfinished(const std::filesystem::path& trace) {
  return Query(trace,
               "SELECT 1 FROM meta WHERE key = 'finished' AND CAST(value AS TEXT) = '0' UNION ALL "
               "SELECT 1 FROM loss JOIN string ON string.id = name_id WHERE string.value = '" +
                   std::string(kEndedEarly) + "'")
      .next();
}

}  // namespace streamscope::trace
