// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sample_states.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <string_view>

namespace streamscope::analysis {

using trace::Id;
using trace::kNoId;

namespace {

// In the words of the system's manual.
std::string system_call_name(trace::Small number) {
  switch (number) {
    case -1:
      return "waits in the kernel, as for a page";
    case SYS_futex:
      return "waits for another thread (futex)";
    case SYS_clock_nanosleep:
#ifdef SYS_nanosleep
    case SYS_nanosleep:
#endif
      return "sleeps";
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
      return "waits for input (read)";
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
      return "writes";
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
#endif
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
      return "waits for input (poll)";
    case SYS_wait4:
    case SYS_waitid:
      return "waits for a process";
    case SYS_ioctl:
      return "waits in the driver (ioctl)";
    case SYS_sched_yield:
      return "yields the processor";
    default:
      return fmt::format("waits in system call {}", number);
  }
}

}  // namespace

SampleStates::SampleStates(const trace::Trace& trace) : trace_(trace), stacks_(trace.stack.size()) {
  for (Id frame = 0; frame < trace.stack_frame.size(); ++frame) look_at(frame);
}

// Frames of a stack follow each other, innermost first.
void SampleStates::look_at(Id frame) {
  constexpr trace::Small kInner = 12;  // frames in which the wait is
  const Id stack = trace_.stack_frame.stack_id[frame];
  if (stack >= stacks_.size() || trace_.stack_frame.depth[frame] > kInner) return;
  Stack& state = stacks_[stack];
  if (state == Stack::kLock || state == Stack::kOther) return;
  const std::string_view symbol = trace_.text(trace_.stack_frame.symbol_id[frame]),
                         path = trace_.text(trace_.stack_frame.module_id[frame]);
  const auto is_one_of = [&](std::initializer_list<std::string_view> prefixes) {
    return std::ranges::any_of(prefixes, [&](auto prefix) { return symbol.starts_with(prefix); });
  };
  if (is_one_of(
          {"PyEval_RestoreThread", "PyEval_AcquireThread", "PyGILState_Ensure", "take_gil"})) {
    state = Stack::kLock;
  } else if (is_one_of({"PyThread_acquire_lock"})) {
    state = Stack::kOther;
  } else if (is_one_of({"pthread_cond_timedwait", "pthread_cond_clockwait"})) {
    state = Stack::kCondition;  // with which the interpreter waits for its lock only
  } else if (state == Stack::kCondition) {
    const std::string_view file = path.substr(path.rfind('/') + 1);
    state =
        file.starts_with("python") || file.starts_with("libpython") ? Stack::kLock : Stack::kOther;
  }
}

SampleState SampleStates::of(Id sample) const {
  if (trace_.host_sample.runs[sample] == 1) return SampleState::kRuns;
  const Id stack = trace_.host_sample.stack_id[sample];
  return stack < stacks_.size() && stacks_[stack] == Stack::kLock ? SampleState::kWaitsForLock
                                                                  : SampleState::kWaits;
}

std::string SampleStates::text(Id sample) const {
  switch (of(sample)) {
    case SampleState::kRuns:
      return "runs";
    case SampleState::kWaitsForLock:
      return "waits for Python's lock";
    case SampleState::kWaits:
      break;
  }
  const trace::Small system_call = trace_.host_sample.system_call[sample];
  return system_call == trace::kNoSmall ? "waits" : system_call_name(system_call);
}

}  // namespace streamscope::analysis
