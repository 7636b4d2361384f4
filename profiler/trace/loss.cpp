// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "loss.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "trace/read/query.h"
#include "trace/read/reader.h"

namespace streamscope::trace {
namespace {

constexpr LossInfo kKinds[] = {
    // What the collector reports (ring/losses.h).
    {"ring-full", Severity::kDataLoss, kAllEvidence,
     "A thread made records faster than they were stored, so some are missing.",
     "Record a shorter part with --duration or --capture-range, or set STREAMSCOPE_RING_RECORDS "
     "to more than 131072, the default capacity of a ring."},
    {"ring-not-grown", Severity::kDataLoss, kAllEvidence,
     "The ring of a thread could not grow, so some of its records are missing.",
     "Free space in the folder of the trace, or raise the process limit that the detail names."},
    {"cupti-dropped", Severity::kDataLoss, kTimeEvidence,
     "CUPTI had no buffer left, so device times of some work are missing.",
     "Use --tier structure, or record a shorter part with --duration."},
    {"activity-buffers", Severity::kDataLoss, kTimeEvidence,
     "Device times were discarded to limit the memory that they use.",
     "Record to a faster disk, or a shorter part."},
    {"activity-ring-full", Severity::kDataLoss, kTimeEvidence,
     "Device times arrived faster than they were stored, so some are missing.",
     "Record to a faster disk, or a shorter part."},
    {"times-not-delivered", Severity::kDataLoss, kTimeEvidence,
     "The program ended before the device reported the times of this work.",
     "Let the program synchronize with the device before it ends."},
    {"unknown-activity", Severity::kNotice, kTimeEvidence,
     "CUPTI delivered records of an unknown kind or layout.",
     "This libcupti is newer than this build supports; update StreamScope."},
    {"other-subscriber", Severity::kError, kAllEvidence,
     "Another tool uses CUPTI in this process, so no CUDA call was recorded.",
     "Record without nsys, ncu or torch.profiler."},
    {"profiler-conflict", Severity::kDataLoss, kTimeEvidence,
     "Another profiler inside the program took over the device times for a while.",
     "Do not run another CUDA profiler inside a recorded program."},
    {"profiler-refused", Severity::kInfo, kNoEvidence,
     "CUPTI refused another profiler inside the program: its profile lacks GPU activity from here "
     "on; this trace is complete.",
     "Run the program without `streamscope record` to use the other profiler."},
    {"no-cupti", Severity::kError, kAllEvidence,
     "libcupti was not found or failed to start, so no CUDA call was recorded.",
     "Install the CUDA toolkit's libcupti or name it in STREAMSCOPE_CUPTI; `streamscope doctor` "
     "lists the places that are searched."},
    {"cupti-fatal", Severity::kError, kAllEvidence,
     "CUPTI stopped with a fatal error; the rest of the program is missing.",
     "Check driver and CUPTI with `streamscope doctor`."},
    {"late-attach", Severity::kNotice, kCallEvidence | kEventEvidence | kAllocationEvidence,
     "CUDA was in use before recording began: earlier objects and work are unknown.",
     "Start the program under `streamscope record` to see all of it."},
    {"calls-missing", Severity::kDataLoss, kCallEvidence | kEventEvidence | kAllocationEvidence,
     "The program used a stream, or gave a device work, by a call that was not recorded, so it "
     "makes calls that are not seen.",
     "Record it with `--source cupti`."},
    {"graph-times", Severity::kNotice, kTimeEvidence,
     "Graph launches have no times, because graphs could exist when recording began.",
     "Start the program under `streamscope record` to get them."},
    {"no-thread-ring", Severity::kDataLoss, kAllEvidence,
     "A thread got no ring, so all its calls are missing.",
     "Fix the cause that the detail names: space, a limit, or the permissions of the trace's "
     "folder."},
    {"bad-observer-fact", Severity::kNotice, kArgumentEvidence | kAllocationEvidence,
     "libcoord reported invalid data.",
     "libcoord and the collector have different versions; use the same version of both."},
    {"accesses-not-observed", Severity::kError, kArgumentEvidence,
     "The accesses of kernels could not be observed.",
     "`streamscope doctor` says what --with accesses needs."},
    {"kernel-parameters", Severity::kInfo, kNoEvidence,
     "Some kernels have so many parameters that only some of them were searched for pointers.", ""},
    {"no-stacks", Severity::kInfo, kNoEvidence, "Call stacks could not be taken.", ""},
    // What the writer detects.
    {"unknown-history", Severity::kNotice, kEventEvidence,
     "Some waits refer to records made before recording began.",
     "Start recording before the program records its events."},
    {"history-lost", Severity::kNotice, kEventEvidence,
     "Some waits may refer to records that were lost, or made while recording was off.",
     "See the other losses for the reason and the remedy."},
    {"ambiguous-binding", Severity::kNotice, kEventEvidence,
     "Some waits overlapped a record of the same event in another thread, so either may be meant.",
     "Order the two calls in the program to make the wait exact."},
    {"paused", Severity::kInfo, kAllEvidence, "Recording was paused for a while, as requested.",
     ""},
    {"process-ended-abruptly", Severity::kNotice, kNoEvidence,
     "The process was killed or crashed; the trace contains what it stored before.", ""},
    {"exit-handlers-skipped", Severity::kNotice, kNoEvidence,
     "The process ended by _exit() or exec(), which run no exit handlers, so GPU times of its "
     "newest work may be missing.",
     "Synchronize before, or end the program with exit()."},
    {"process-end-unknown", Severity::kNotice, kNoEvidence,
     "The process ended without exit handlers, by a signal, _exit() or exec(); the trace contains "
     "what it stored before.",
     ""},
    // Affects no evidence: findings are valid, but their absence proves nothing (is_unfinished()).
    {kEndedEarly, Severity::kNotice, kNoEvidence,
     "The program continued after its recording had ended, so the rest of it is missing.",
     "Let the program end before the recorder does."},
    {"writer-ended-abruptly", Severity::kNotice, kNoEvidence,
     "The recorder was killed; the trace was finished later from the rings it left.", ""},
    {"ring-torn", Severity::kDataLoss, kAllEvidence,
     "A ring was damaged, so the rest of its records could not be read.", ""},
    {"string-missing", Severity::kNotice, kNoEvidence,
     "Some texts never reached the trace; they are shown as \"?\".", ""},
    {"graph-nodes-not-recorded", Severity::kInfo, kNoEvidence,
     "Graph launches are recorded as one op each, not node by node.",
     "Use --graphs nodes to see the nodes; it makes graph launches slower."},
    {"no-device-times", Severity::kInfo, kTimeEvidence, "Tier structure records no device times.",
     "Use --tier times to get them."},
    {"work-not-ended", Severity::kNotice, kNoEvidence,
     "Work on the device was unfinished at the last query: it was still running, or it could never "
     "run because its context had failed.",
     ""},
    {"tasks-left-out", Severity::kInfo, kNoEvidence,
     "Some tasks of a GPU task queue are missing: the buffer was full, or they ran where they were "
     "spawned.",
     "Configure the queue to record as many tasks as a run has."},
    {kRankContradiction, Severity::kNotice, kNoEvidence,
     "Sources of the rank of a process contradict each other.",
     "Check how the ranks are launched; the trace keeps the number that the most specific variable "
     "gives."},
    {"call-not-finished", Severity::kNotice, kNoEvidence,
     "Some calls had not returned when recording ended.", ""},
    {"flight-recorder", Severity::kNotice, kCallEvidence | kEventEvidence | kAllocationEvidence,
     "The flight recorder kept only the newest part; the progress of work is known only where it "
     "was queried.",
     "Give --flight-recorder more MiB to see further back."},
    {"threads-not-seen", Severity::kInfo, kNoEvidence,
     "When the program hung, the stacks of its threads could not be read from outside; the stacks "
     "taken at the entry of calls are shown instead.",
     "Allow the recorder to trace it: kernel.yama.ptrace_scope at most 1, or CAP_SYS_PTRACE."},
    {"samples-dropped", Severity::kInfo, kNoEvidence,
     "Threads were not sampled for a while, because the recorder was busy.", ""},
    {"stack-unreadable", Severity::kInfo, kNoEvidence, "Some call stacks could not be read.", ""},
    {"clock-not-invariant", Severity::kNotice, kNoEvidence,
     "The time-stamp counter of this machine is not invariant, so a slower clock was used.", ""},
    {"record-invalid", Severity::kDataLoss, kAllEvidence,
     "Some records were invalid and were left out.", "Report this with the trace."},
    {kDamagedValues, Severity::kDataLoss, kAllEvidence,
     "Some values are impossible, such as times years away or memory beyond the last address; "
     "they are treated as unknown.",
     "Record or copy it again; if that does not help, report this with the trace."},
    {"merge-no-clock", Severity::kNotice, kNoEvidence,
     "A merged trace does not say when it was recorded; its times start at 0.", ""},
    {"merge-no-overlap", Severity::kNotice, kNoEvidence,
     "A merged trace begins after all earlier ones have ended, so they do not overlap.",
     "Merge traces of one run; if these are, synchronize the clocks of their machines by NTP or "
     "PTP."},
    // What an import detects.
    {"import-no-cuda", Severity::kDataLoss, kAllEvidence,
     "The imported file contains no CUDA activity.",
     "Profile again with CUDA tracing switched on."},
    {"import-op-without-call", Severity::kDataLoss, kCallEvidence | kEventEvidence,
     "The imported file lacks the calls that issued some work.",
     "Profile the whole run, with SCOREP_CUDA_ENABLE=default,references if by Score-P, or import a "
     "file that is not truncated."},
    {"import-sync-without-call", Severity::kNotice, kEventEvidence,
     "The imported file contains synchronizations without their calls; they were left out.",
     "Profile the whole run, or import a file that is not truncated."},
    {"import-unknown-object", Severity::kDataLoss, kEventEvidence,
     "The imported file does not say which event or stream some calls act on.",
     "Profile with event tracing (nsys --cuda-event-trace, Kineto's enable_cuda_sync_events, "
     "SCOREP_CUDA_ENABLE=default,references), or "
     "record with streamscope."},
    {"import-no-waits", Severity::kNotice, kNoEvidence,
     "The imported file has samples of the host only while its threads ran; they were left out, "
     "because they do not show waits.",
     "Profile with context switches (nsys --cpuctxsw=process-tree)."},
    {"import-not-understood", Severity::kInfo, kNoEvidence,
     "The imported file also contains kinds of data that a trace cannot store.", ""},
    {"import-truncated", Severity::kDataLoss, kAllEvidence,
     "The imported file is truncated; everything before that point was imported.",
     "Copy or profile it again."},
};

constexpr LossInfo kUnknown = {"", Severity::kDataLoss, kAllEvidence,
                               "A kind of loss that this version does not know.",
                               "Use a newer streamscope to read this trace."};

}  // namespace

std::span<const LossInfo> loss_kinds() { return kKinds; }

const LossInfo& loss_info(std::string_view name) {
  const auto* const found = std::ranges::find(kKinds, name, &LossInfo::name);
  return found == std::end(kKinds) ? kUnknown : *found;
}

bool is_unfinished(const Trace& trace) {
  const auto finished = trace.meta.find("finished");
  if (finished != trace.meta.end() && finished->second == "0") return true;
  return std::ranges::any_of(trace.loss.name_id,
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
