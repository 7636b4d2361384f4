// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What the writer tells the collectors of a run: one small mapped file, `control`, in the folder of
// the rings.
//
// The writer (launcher or detached helper) creates it before any process of the run needs it;
// collectors map it when they start. Processes find the folder through the inherited variable
// STREAMSCOPE_RINGS.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "chosen_order.h"
#include "record.h"
#include "vocabulary/tier.h"

namespace streamscope::ring {

/// Variable that names the folder of rings of the run to which a process belongs.
inline constexpr char kRingsVariable[] = "STREAMSCOPE_RINGS";
/// The folder of a run of many ranks, each with its own trace; a process that is another rank than
/// that of the rings it inherits starts a writer. Beside it: the rank of the rings, or "".
inline constexpr char kRunVariable[] = "STREAMSCOPE_RUN";
inline constexpr char kRankVariable[] = "STREAMSCOPE_RANK";
inline constexpr char kControlFile[] = "control";
/// A launcher that waits for the writers of its ranks finds a file PID-START.writer of each in the
/// folder of its own rings, which this variable names.
inline constexpr char kWritersVariable[] = "STREAMSCOPE_WRITERS";
inline constexpr char kWriterEnding[] = ".writer";
/// Of a recording that is off until somebody asks: the socket that takes requests, and the token of
/// its port.
inline constexpr char kControlSocket[] = "socket";
inline constexpr char kTokenFile[] = "token";
inline constexpr char kControlMagic[8] = {'S', 'S', 'C', 'T', 'R', 'L', '\0', '\1'};

enum class GraphDetail : uint32_t { kLaunch = 0, kNodes = 1 };
enum class StackMode : uint32_t { kNone = 0, kSyncs = 1, kAll = 2 };
/// By number; the names are those of `record --stacks` and STREAMSCOPE_STACKS.
inline constexpr std::array<std::string_view, 3> kStackModeNames = {"none", "syncs", "all"};

/// What sees the program's calls. kAuto: wrappers where they can be reached and needs_callbacks()
/// is false, else CUPTI's callbacks.
enum class CallSource : uint32_t { kAuto = 0, kInterposed = 1, kCupti = 2 };
/// By number; the names are those of `record --source` and STREAMSCOPE_SOURCE.
inline constexpr std::array<std::string_view, 3> kCallSourceNames = {"auto", "interposed", "cupti"};

/// Which windows of a run that measures what recording costs are recorded: every other one, or,
/// where runs take turns, none or all of this run.
enum class MeasuredWindows : uint32_t { kInTurns = 0, kNotRecorded = 1, kRecorded = 2 };

enum With : uint32_t {
  kWithArgs = 1 << 0,
  kWithAlloc = 1 << 1,
  kWithGraphNodes = 1 << 2,
  kWithEventTimes = 1 << 3,
  kWithAccesses = 1 << 4,
};

/// True if only CUPTI's callbacks can record this: times of events and of graph nodes.
constexpr bool needs_callbacks(Tier tier, GraphDetail graphs, uint32_t with) {
  return tier > Tier::kTimes || (tier == Tier::kTimes && graphs == GraphDetail::kNodes) ||
         (with & (kWithGraphNodes | kWithEventTimes)) != 0;
}

enum class CaptureRange : uint32_t { kNone = 0, kNvtx = 1, kCudaProfilerApi = 2 };

/// What the writer asks a collector when its program hangs.
enum class QuestionKind : uint32_t {
  kEvent = 0,  // has the work before the newest record of this event finished?
  kStream,     // has all work of this stream finished?
  kWord,       // which word is at this address, if the host can read it?
};

struct Question {
  QuestionKind kind;
  uint32_t bytes;   // kWord: 4 or 8
  uint64_t object;  // handle or address
  // When a call began that used the handle successfully, in ticks: if the program has destroyed it
  // since, the question must not be asked.
  uint64_t since;
};

inline constexpr uint32_t kMaxQuestions = 256;

struct Control {
  char magic[8];
  uint32_t layout_version;
  uint32_t writer_pid;
  uint64_t writer_start;  // start time of the writer process (/proc/PID/stat field 22)
  Tier tier;
  uint32_t with;  // With bits
  GraphDetail graphs;
  StackMode stacks;
  CaptureRange capture_range;
  CallSource source;
  uint32_t flush_interval_ms;       // of CUPTI's buffers; 100
  uint64_t ring_records;            // maximum size of a thread's ring
  int64_t trace_start_ns;           // CLOCK_MONOTONIC
  char capture_range_name[256];     // kNvtx: name of the range, NUL-terminated
  char trace_file[1024];            // absolute, NUL-terminated; for messages
  uint32_t measure_cost_window_ms;  // about the length of the windows; 0: none
  MeasuredWindows measured_windows;
  // Ends of NVTX ranges of this name show the program's progress, and windows end with one; empty:
  // calls show it. NUL-terminated.
  char measure_cost_range[256];
  ChosenOrder chosen_order;  // of a run that `confirm` repeats
  uint32_t sample_hz;        // how often the writer samples issuing threads; 0: never

  std::atomic<uint32_t> collecting;  // 0: --delay has not passed or --duration has
  std::atomic<uint32_t> stop;  // 1: the writer is leaving; collectors stop recording permanently
  std::atomic<uint32_t>
      flush_request;  // counter; a collector that sees a change makes one forced flush

  // A round of questions: the collector of process `questioned_pid` that sees a new number answers
  // with AnswerRecords. The writer changes the questions only after that.
  std::atomic<uint32_t> question_round;
  uint32_t questioned_pid;
  uint32_t question_count;
  // 1: the round ends with a forced flush, after which unfinished work never gets its times.
  uint32_t question_flush;
  Question questions[kMaxQuestions];

  // Requests from other programs to the writer (streamscope hang --pid, dump --pid): they raise the
  // first number, the writer answers by raising the second.
  std::atomic<uint32_t> explain_request, explained;
  std::atomic<uint32_t> dump_request, dumped;
  char dump_file[1024];  // of the newest dump, or why there is none; valid once `dumped` is raised

  uint32_t flight_recorder;  // 1: rings keep the newest records and drop the oldest

  // 1: off until somebody asks. `collecting` then switches the calls on and off, and this what
  // reports device times, which begin earlier and end later.
  uint32_t on_demand;
  std::atomic<uint32_t> device_times;
  // 1: `trace_file` names the part that is being recorded.
  std::atomic<uint32_t> part_open;

  std::atomic<uint32_t> changes;  // announced so far
};

/// After the writer has changed what collectors act upon: those that wait look at once.
void announce_change(Control& control);
/// Waits until a change is announced after `seen` was read from `changes`, `limit_ns` (below a
/// second) at most. Only system calls; the file may be mapped for reading only.
void wait_for_change(const Control& control, uint32_t seen, int64_t limit_ns);

}  // namespace streamscope::ring
