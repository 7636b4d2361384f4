// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sample_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "vocabulary/system_call.h"

namespace streamscope::analysis {

using trace::Id;
using trace::kNoId;

namespace {

// In the words of the system's manual.
std::string system_call_name(trace::Small number) {
  switch (number) {
    case SystemCall::kNone:
      return "waits in the kernel, as for a page";
    case SystemCall::futex:
      return "waits for another thread (futex)";
    case SystemCall::clock_nanosleep:
    case SystemCall::nanosleep:
      return "sleeps";
    case SystemCall::read:
    case SystemCall::pread64:
    case SystemCall::readv:
    case SystemCall::recvfrom:
    case SystemCall::recvmsg:
      return "waits for input (read)";
    case SystemCall::write:
    case SystemCall::writev:
    case SystemCall::sendto:
    case SystemCall::sendmsg:
      return "writes";
    case SystemCall::poll:
    case SystemCall::select:
    case SystemCall::epoll_wait:
    case SystemCall::ppoll:
    case SystemCall::pselect6:
    case SystemCall::epoll_pwait:
      return "waits for input (poll)";
    case SystemCall::wait4:
    case SystemCall::waitid:
      return "waits for a process";
    case SystemCall::ioctl:
      return "waits in the driver (ioctl)";
    case SystemCall::sched_yield:
      return "yields the processor";
    case SystemCall::kOther:
      return "waits in a system call";
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
  const trace::Small runs = trace_.host_sample.runs[sample];
  if (runs == trace::kNoSmall) return SampleState::kNotKnown;
  if (runs == 1) return SampleState::kRuns;
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
    case SampleState::kNotKnown:
      return "runs or waits";
    case SampleState::kWaits:
      break;
  }
  const trace::Small system_call = trace_.host_sample.system_call[sample];
  return system_call == trace::kNoSmall ? "waits" : system_call_name(system_call);
}

}  // namespace streamscope::analysis
