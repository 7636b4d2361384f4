// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Uses of memory that nothing orders. All four share one walk (memory_conflicts.h) and rely on the
// accesses that are known: copies and memsets always, others only with --with accesses, from
// libcoord operations or coord::host_access, or with --with args. Order is that of the observed
// relation, so a race that only another run of the host's threads would show is not found.
//
// stream-race (SS001): two ops touch the same bytes, one of them writes, and nothing orders them.
//   Certain where the bytes are known: copies, memsets, declared and observed accesses (--with
//   accesses). Atomic operations do not race with each other. At most possible where a
//   kernel parameter points to them, because the bytes that a kernel touches are not known. A const
//   parameter in the kernel's name rules out a write through it, but does not show what the kernel
//   reads. A kernel is assumed to touch the range from its pointer to the next pointer that any
//   kernel gets into the same allocation, or to the end of the allocation. Two kernels therefore
//   conflict only through pointers into the same piece: slices and halves bound each other. Pools
//   such as PyTorch's caching allocator split allocations of 2 MiB and more; in these, only
//   pointers aligned to 256 bytes begin a piece. Also possible: conflicts with what a kernel may
//   copy by a tensor map (TMA), and conflicts that a value in memory may order, because a memory
//   operation waits for it or the code of a kernel can (with --with accesses), or a host function
//   behind the first op, because the program can wait for it. Missed: kernels that reach beyond
//   another pointer. False alarms: kernels that only read through a pointer to non-const, or share
//   a buffer without touching the same bytes (possible); order that no call shows, such as another
//   process (certain), or a kernel that waits for memory (certain if its accesses are declared, not
//   observed).
// host-race (SS002): host code touches memory that a device op uses, and one of the two writes. The
//   op is not known to have ended before the access, and the access is not known to have ended
//   before the op was issued. Host code has to declare what it touches (coord::host_access). A copy
//   from or to pageable memory touches it during the call. Only possible if a host function follows
//   the op, as in stream-race.
// use-before-alloc (SS003): an op uses stream-ordered memory without being ordered after the
//   cudaMallocAsync that allocated it. Often hidden, because pools hand out memory that already
//   exists. Possible if only a kernel parameter points there.
// use-after-free (SS004): an op uses stream-ordered memory, and the cudaFreeAsync is not ordered
//   after it or was issued before it; or an op uses memory after cudaFree. cudaFree of memory in
//   use waits for the device and is ignored. An address stands for the newest allocation there, and
//   host memory is never device memory, even at the same address. Certain only if the copy or
//   memset is known to use device memory. Possible if the kind of memory is not known, if a kernel
//   parameter points there, or if the memory may come from a source that is not recorded: graph
//   nodes, variables of code that was loaded in between, a pause of the recording.
#include <fmt/format.h>

#include "../labels.h"
#include "../memory/tensors.h"
#include "../units.h"
#include "families.h"
#include "vocabulary/access_source.h"

namespace streamscope::analysis {
namespace {

struct Side {
  std::string what;    // "gemm on stream 7", "host code on thread main"
  std::string name;    // "gemm"
  std::string stream;  // "" for host code
  std::string where;   // " (on thread main, from train.py:41 step)"
};

Side side_of(Analyses& analyses, Id op, Id access) {
  const Trace& trace = analyses.trace();
  Side side;
  if (op == kNoId) {
    const Id thread = trace.access.thread_id[access];
    const Id name = thread < trace.thread.size() ? trace.thread.name_id[thread] : kNoId;
    side.name = "host code";
    side.what = name == kNoId ? "host code"
                              : "host code on " + with_word_thread(printable(trace.text(name)));
    return side;
  }
  side.name = op_label(trace, op);
  side.stream = stream_label(trace, analyses.order().stream(op));
  side.what = fmt::format("{} on stream {}", side.name, side.stream);
  if (const std::string where = analyses.places().of_op(op).sentence(); !where.empty())
    side.where = fmt::format(" ({})", where);
  return side;
}

// "4 KiB at 0x7f00".
std::string piece(const MemoryConflict& conflict) {
  return fmt::format("{} at {:#x}",
                     format_bytes(static_cast<int64_t>(conflict.end - conflict.begin)),
                     conflict.begin);
}

// The tensors to which the memory belonged when the two sides of a race were issued; kNoId: none is
// known.
struct Tensors {
  Id first = kNoId, second = kNoId;
  bool was_given_on() const { return first != second && first != kNoId && second != kNoId; }
};

Tensors tensors_of(Analyses& analyses, const MemoryConflict& conflict) {
  const Trace& trace = analyses.trace();
  const auto tensor = [&](Id op, Id access) {
    const Ns at = op == kNoId ? trace.access.start_ns[access] : analyses.order().issue(op).start_ns;
    return tensor_at(trace, trace.access.process_id[access], conflict.begin, at);
  };
  return {tensor(conflict.first_op, conflict.first_access),
          tensor(conflict.second_op, conflict.second_access)};
}

// "a tensor of 64 MiB allocated on thread main, from train.py:12".
std::string tensor_text(Analyses& analyses, Id tensor) {
  const std::string where = analyses.places().of_tensor(tensor).sentence();
  return fmt::format("a tensor of {} allocated{}{}",
                     format_bytes(analyses.trace().allocation.bytes[tensor]),
                     where.empty() ? "" : " ", where);
}

// " The memory is a tensor of 64 MiB allocated on thread main, from train.py:12.", or of which
// allocation it is a part, or "".
std::string origin(Analyses& analyses, const MemoryConflict& conflict, const Tensors& tensors) {
  if (tensors.was_given_on())
    return fmt::format(" The memory was {}, and then {}.", tensor_text(analyses, tensors.first),
                       tensor_text(analyses, tensors.second));
  if (tensors.second != kNoId)
    return fmt::format(" The memory is {}.", tensor_text(analyses, tensors.second));
  const auto& calls = analyses.trace().api_call;
  const Id call = conflict.alloc_call;
  if (call == kNoId || calls.value[call] == trace::kNoInt) return "";
  const std::string where = analyses.places().of_call(call).sentence();
  return fmt::format(
      " The memory is part of {} that {} allocated{}{}.", format_bytes(calls.value[call]),
      printable(analyses.trace().text(calls.name_id[call])), where.empty() ? "" : " ", where);
}

// Why a conflict is only possible.
std::string doubt(const Trace& trace, const MemoryConflict& conflict) {
  if (conflict.signal_word != 0)
    return fmt::format(
        "a kernel may wait for a value at {:#x} that another one writes, which orders the two",
        conflict.signal_word);
  for (const Id access : {conflict.first_access, conflict.second_access}) {
    if (access >= trace.access.size()) continue;
    if (trace.access.source[access] == AccessSource::kParameter)
      return "the bytes that a kernel accesses through its parameters are unknown";
    if (trace.access.source[access] == AccessSource::kTensorMap)
      return "a kernel copies through a tensor map (TMA), and which bytes of the tensor is unknown";
  }
  return conflict.kind == MemoryConflict::kAfterFree
             ? "the address may belong to other memory by then"
             : "something that is not recorded may order them, such as a value in memory or a host "
               "function";
}

Finding race(Analyses& analyses, const MemoryConflict& conflict) {
  const Side first = side_of(analyses, conflict.first_op, conflict.first_access);
  const Side second = side_of(analyses, conflict.second_op, conflict.second_access);
  Finding finding;
  finding.first_op = conflict.first_op;
  finding.second_op = conflict.second_op;
  finding.title = fmt::format("{} and {} {} the same memory without ordering", first.what,
                              second.what, conflict.possible ? "may access" : "access");
  const auto verb = [&](bool writes, Id access) {
    if (analyses.trace().access.writes[access] == AccessKind::kUpdated) return "updates";
    return conflict.possible ? (writes ? "may write" : "may read") : (writes ? "writes" : "reads");
  };
  finding.text =
      fmt::format("{}{} {} {}, which {}{} {}, and nothing orders the two. ", first.what,
                  first.where, verb(conflict.first_writes, conflict.first_access), piece(conflict),
                  second.what, second.where, verb(conflict.second_writes, conflict.second_access));
  const Tensors tensors = tensors_of(analyses, conflict);
  if (tensors.was_given_on() && !first.stream.empty()) {
    finding.text += fmt::format(
        "The first tensor there was freed and its memory given to the second while stream {0} "
        "still "
        "used it: call record_stream() of that tensor for stream {0}.",
        first.stream);
  } else if (conflict.kind == MemoryConflict::kStreamRace) {
    finding.text += first.stream == second.stream
                        ? "Make one depend on the other in the graph."
                        : fmt::format(
                              "Record an event on stream {} after {} and let stream {} "
                              "wait for it before {}.",
                              first.stream, first.name, second.stream, second.name);
  } else if (conflict.first_op != kNoId) {
    finding.text += fmt::format(
        "Synchronize with stream {} or with an event recorded after {} before the host "
        "continues.",
        first.stream, first.name);
  } else {
    finding.text += fmt::format("Issue {} after the host is done.", second.name);
  }
  finding.text += origin(analyses, conflict, tensors);
  return finding;
}

Finding outside_of_life(Analyses& analyses, const MemoryConflict& conflict) {
  const Trace& trace = analyses.trace();
  const Side use = conflict.free_call != kNoId
                       ? Side{}
                       : side_of(analyses, conflict.first_op, conflict.first_access);
  const char* uses = conflict.possible ? "may use" : "uses";
  const char* touches = conflict.possible ? "may access" : "accesses";
  const Id stream = trace.api_call.stream_id[conflict.memory_call];
  const std::string call = printable(trace.text(trace.api_call.name_id[conflict.memory_call]));
  const std::string on =
      stream == kNoId ? call : fmt::format("{} on stream {}", call, stream_label(trace, stream));
  Finding finding;
  finding.first_op = conflict.first_op;
  if (conflict.free_call != kNoId) {
    const std::string free = printable(trace.text(trace.api_call.name_id[conflict.free_call]));
    const std::string freed = stream_label(trace, trace.api_call.stream_id[conflict.free_call]);
    finding.title = fmt::format("{} on stream {} frees memory that {} may not have allocated yet",
                                free, freed, on);
    finding.text = fmt::format(
        "{} is valid only in the order of stream {}. Record an event there after {} and let "
        "stream {} wait for it before {}.",
        piece(conflict), stream_label(trace, stream), call, freed, free);
    finding.place = analyses.places().of_call(conflict.free_call);
  } else if (conflict.kind == MemoryConflict::kBeforeAllocation) {
    finding.title =
        fmt::format("{} {} memory that {} may not have allocated yet", use.what, uses, on);
    finding.text = fmt::format(
        "{}{} {} {}, which is valid only in the order of stream {}. Record an event there after "
        "{} and let stream {} wait for it before {}.",
        use.what, use.where, touches, piece(conflict), stream_label(trace, stream), call,
        use.stream, use.name);
  } else {
    const bool issued_after = trace.api_call.end_ns[conflict.memory_call] <=
                              analyses.order().issue(conflict.first_op).start_ns;
    finding.title = issued_after
                        ? fmt::format("{} {} memory after {}", use.what, uses, on)
                        : fmt::format("{} frees memory that {} may still use", on, use.what);
    finding.text = fmt::format("{}{} {} {}. ", use.what, use.where, touches, piece(conflict));
    finding.text += issued_after ? fmt::format("Issue it before {}.", call)
                    : stream == kNoId
                        ? fmt::format("Synchronize with stream {} before {}.", use.stream, call)
                        : fmt::format(
                              "Record an event on stream {} after {} and let stream {} wait for "
                              "it before {}.",
                              use.stream, use.name, stream_label(trace, stream), call);
  }
  const Location place = analyses.places().of_call(conflict.memory_call);
  if (const std::string where = place.sentence(); !where.empty())
    finding.text += fmt::format(" {} is called {}.", call, where);
  return finding;
}

void find_conflicts(Analyses& analyses, Findings& findings, MemoryConflict::Kind kind,
                    Finding (*describe)(Analyses&, const MemoryConflict&)) {
  const MemoryConflicts& conflicts = analyses.memory_conflicts();
  if (conflicts.unknown_kernels > 0) {
    const std::string kernels = format_count(conflicts.unknown_kernels, "kernel");
    findings.never_reported(
        conflicts.observed
            ? fmt::format("not all memory that {} {} is known", kernels,
                          conflicts.unknown_kernels == 1 ? "touches" : "touch")
            : fmt::format("the accesses of {} are unknown: record --with accesses, or declare "
                          "them (.reads, .writes)",
                          kernels));
  }
  if (kind == MemoryConflict::kHostRace && !conflicts.host_reported)
    findings.never_reported(
        "the accesses of host code are unknown: declare them with coord::host_access");
  for (size_t i = 0; i < conflicts.found.size(); ++i) {
    const MemoryConflict& conflict = conflicts.found[i];
    if (conflict.kind != kind) continue;
    findings.add({i}, conflict.last_ns, [&] {
      Finding finding = describe(analyses, conflict);
      finding.confidence = conflict.possible ? Confidence::kPossible : Confidence::kCertain;
      if (conflict.possible)
        finding.text += fmt::format(" Possible only: {}.", doubt(analyses.trace(), conflict));
      finding.start_ns = finding.end_ns = conflict.first_ns;
      finding.count = conflict.count;
      return finding;
    });
  }
}

}  // namespace

void find_stream_races(Analyses& analyses, Findings& findings) {
  find_conflicts(analyses, findings, MemoryConflict::kStreamRace, race);
}
void find_host_races(Analyses& analyses, Findings& findings) {
  find_conflicts(analyses, findings, MemoryConflict::kHostRace, race);
}
void find_uses_before_alloc(Analyses& analyses, Findings& findings) {
  find_conflicts(analyses, findings, MemoryConflict::kBeforeAllocation, outside_of_life);
}
void find_uses_after_free(Analyses& analyses, Findings& findings) {
  find_conflicts(analyses, findings, MemoryConflict::kAfterFree, outside_of_life);
}

}  // namespace streamscope::analysis
