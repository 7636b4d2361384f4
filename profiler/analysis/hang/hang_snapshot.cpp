// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "hang_snapshot.h"
#include "trace/ns_math.h"

#include <algorithm>

namespace streamscope::analysis {
namespace {

// Probes precede the thread samples by at most this much.
constexpr Ns kLookNs = 3'000'000'000;
constexpr trace::Int kBusyNs = 20'000'000;  // of the 200 ms or more between two samples

// The last end of a call of each process, except queries of work that was not ready.
std::vector<Ns> last_acts(const Trace& trace) {
  std::vector<Ns> last(trace.process.size(), kUnknownNs);
  const auto add = [&](const auto& calls, Id call) {
    const Id process = trace.process_of_thread(calls.thread_id[call]);
    if (process < last.size() && calls.result[call] != trace::kResultNotReady)
      last[process] = std::max(last[process], calls.end_ns[call]);
  };
  for (Id call = 0; call < trace.api_call.size(); ++call) add(trace.api_call, call);
  for (Id call = 0; call < trace.host_sync.size(); ++call) add(trace.host_sync, call);
  for (Id call = 0; call < trace.event_record.size(); ++call) add(trace.event_record, call);
  for (Id call = 0; call < trace.event_wait.size(); ++call) add(trace.event_wait, call);
  return last;
}

}  // namespace

std::vector<HangSnapshot> hang_snapshots(const Trace& trace) {
  std::vector<HangSnapshot> result(trace.process.size());
  if (trace.thread_sample.empty()) return result;
  const auto& samples = trace.thread_sample;
  for (Id sample = 0; sample < samples.size(); ++sample) {
    const Id process = trace.process_of_thread(samples.thread_id[sample]);
    if (process >= result.size()) continue;
    HangSnapshot& of_process = result[process];
    if (samples.at_ns[sample] < of_process.at_ns) continue;
    // The clock of a simulated device stops, too: a thread that appears again begins a new sample.
    if (samples.at_ns[sample] > of_process.at_ns ||
        std::ranges::any_of(of_process.samples, [&](Id earlier) {
          return samples.thread_id[earlier] == samples.thread_id[sample];
        })) {
      of_process.at_ns = samples.at_ns[sample];
      of_process.samples.clear();
    }
    of_process.samples.push_back(sample);
  }
  for (Id probe = 0; probe < trace.probe.size(); ++probe) {
    const Id process = trace.probe.process_id[probe];
    if (process >= result.size() || !result[process].known()) continue;
    const Ns before = trace::difference_of(result[process].at_ns, trace.probe.at_ns[probe]);
    if (before <= kLookNs) result[process].probes.push_back(probe);
  }
  const std::vector<Ns> acts = last_acts(trace);
  for (Id process = 0; process < result.size(); ++process) {
    if (result[process].known() && acts[process] > result[process].at_ns) result[process] = {};
  }
  return result;
}

bool is_busy(const Trace& trace, Id sample) {
  const trace::Int ran = trace.thread_sample.ran_ns[sample];
  if (ran != trace::kNoInt && ran >= kBusyNs) return true;
  // On a loaded machine a runnable thread may not have run.
  return trace.thread_sample.state[sample] == 'R';
}

bool serves_the_driver(const Trace& trace, Id sample) {
  const Id stack = trace.thread_sample.stack_id[sample];
  if (stack >= trace.stack.size()) return false;
  const auto& frames = trace.stack_frame;
  bool program = false;
  for (Id frame = 0; frame < frames.size(); ++frame) {  // innermost first
    if (frames.stack_id[frame] != stack) continue;
    const std::string_view path = trace.text(frames.module_id[frame]);
    const std::string_view module = path.substr(path.rfind('/') + 1);
    if (module.starts_with("libcuda.so")) {
      if (program) return true;
    } else if (!module.empty() && !module.starts_with("libc.so") &&
               !module.starts_with("libstdc++") && !module.starts_with("libpthread")) {
      program = true;
    }
  }
  return false;
}

}  // namespace streamscope::analysis
