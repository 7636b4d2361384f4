// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "nsys_samples.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include "vocabulary/fnv1a.h"
#include "vocabulary/system_call.h"

namespace streamscope::import {
namespace {

using trace::ForeignRow;

constexpr Ns kLeastPeriodNs = 10'000, kMostPeriodNs = 1'000'000'000;
constexpr Ns kMostPeriods = 4 << 20;  // in which waits are sampled; over an hour at 1 kHz

// ENUM_SAMPLING_THREAD_STATE
enum ThreadState : Int { kRunning = 1, kUnscheduled = 6 };

// The typical time between two samples of a thread that runs; kUnknownNs without any.
template <class Moments>
Ns period_of(const Moments& samples) {
  std::vector<Ns> gaps;
  for (size_t i = 1; i < samples.size(); ++i) {
    if (samples[i].thread == samples[i - 1].thread)
      gaps.push_back(samples[i].at_ns - samples[i - 1].at_ns);
  }
  if (gaps.empty()) return kUnknownNs;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::ranges::nth_element(gaps, middle);
  return std::clamp(*middle, kLeastPeriodNs, kMostPeriodNs);
}

// The number of the system call in which a function of the C library waits.
Small system_call_of(std::string_view function) {
  struct Row {
    std::string_view prefix;
    long number;
  };
  static constexpr Row kRows[] = {
      {"futex", SystemCall::futex},
      {"pthread_", SystemCall::futex},
      {"sem_", SystemCall::futex},
      {"usleep", SystemCall::clock_nanosleep},
      {"sleep", SystemCall::clock_nanosleep},
      {"nanosleep", SystemCall::clock_nanosleep},
      {"clock_nanosleep", SystemCall::clock_nanosleep},
      {"poll", SystemCall::ppoll},
      {"ppoll", SystemCall::ppoll},
      {"select", SystemCall::pselect6},
      {"pselect", SystemCall::pselect6},
      {"epoll_", SystemCall::epoll_pwait},
      {"read", SystemCall::read},
      {"fread", SystemCall::read},
      {"pread", SystemCall::pread64},
      {"recv", SystemCall::recvfrom},
      {"write", SystemCall::write},
      {"fwrite", SystemCall::write},
      {"send", SystemCall::sendto},
      {"ioctl", SystemCall::ioctl},
      {"wait", SystemCall::wait4},
      {"sched_yield", SystemCall::sched_yield},
  };
  const auto row = std::ranges::find_if(
      kRows, [&](const Row& each) { return function.starts_with(each.prefix); });
  return row == std::end(kRows) ? kNoSmall : static_cast<Small>(row->number);
}

}  // namespace

NsysSamples::Chains NsysSamples::chains(std::string_view table) {
  struct Entry {
    Int chain, depth;
    Frame frame;
  };
  std::vector<Entry> entries;
  tables_.each(table, {"id", "stackDepth", "symbol", "module", "kernelMode", "unresolved"},
               [&](const ForeignRow& row) {
                 const auto symbol = strings_.find(row.integer(2, -1));
                 // "[Max depth]", "[Broken backtraces]": nsys tells what it does not know.
                 const bool is_remark = symbol != strings_.end() && symbol->second.starts_with('[');
                 if (is_remark || row.integer(4) != 0) return;
                 Frame frame{.module = string_id_(row.integer(3, -1))};
                 if (row.integer(5) == 0) frame.symbol = string_id_(row.integer(2, -1));
                 entries.push_back({row.integer(0), row.integer(1), frame});
               });
  sort_stably(entries, [](const Entry& a, const Entry& b) {
    return std::tie(a.chain, a.depth) < std::tie(b.chain, b.depth);
  });
  Chains result;
  std::vector<Frame> frames;
  for (size_t i = 0; i < entries.size(); ++i) {
    frames.push_back(entries[i].frame);
    if (i + 1 < entries.size() && entries[i + 1].chain == entries[i].chain) continue;
    result.emplace(entries[i].chain, assembly_.stacks().stack(frames));
    frames.clear();
  }
  return result;
}

// The thread and time of a row that begins with globalTid and start; nothing if it is of no use.
std::optional<NsysSamples::Moment> NsysSamples::moment_of(const ForeignRow& row) {
  const Id thread = objects_.find_thread(row.integer(0));
  const Ns at = row.integer(1, kUnknownNs);
  if (thread == kNoId) return std::nullopt;
  if (at <= -kLatestTimeNs || at >= kLatestTimeNs) {
    assembly_.losses().add("record-invalid");
    return std::nullopt;
  }
  return Moment{.thread = thread, .at_ns = at};
}

void NsysSamples::read() {
  std::vector<Moment> samples;
  uint64_t others = 0;
  tables_.each("COMPOSITE_EVENTS", {"globalTid", "start", "id"}, [&](const ForeignRow& row) {
    others += objects_.find_thread(row.integer(0)) == kNoId;
    if (auto sample = moment_of(row)) {
      sample->chain = row.integer(2, kNoInt);
      samples.push_back(*sample);
    }
  });
  assembly_.losses().add("import-not-understood", others, kNoId,
                         "samples of threads without CUDA calls");
  if (samples.empty()) return;
  sort_stably(samples, {}, &Moment::key);
  const Ns period_ns = period_of(samples);
  if (period_ns == kUnknownNs || !add_waits(period_ns)) {
    assembly_.losses().add("import-no-waits", samples.size());
    return;
  }
  assembly_.writer().set_meta("sample_hz", Int{std::llround(1e9 / static_cast<double>(period_ns))});
  const Chains stacks = chains("SAMPLING_CALLCHAINS");
  for (const Moment& sample : samples) {
    const auto stack = stacks.find(sample.chain);
    assembly_.add(trace::HostSample{.thread_id = sample.thread,
                                    .at_ns = sample.at_ns,
                                    .runs = 1,
                                    .stack_id = stack == stacks.end() ? kNoId : stack->second});
  }
}

// While a thread has no processor it waits, or is ready to run. False if the file does not say.
bool NsysSamples::add_waits(Ns period_ns) {
  if (tables_.highest_row("SCHED_EVENTS") == 0) return false;
  std::vector<Moment> switches;
  tables_.each("SCHED_EVENTS", {"globalTid", "start", "isSchedIn", "threadState"},
               [&](const ForeignRow& row) {
                 auto change = moment_of(row);
                 if (!change) return;
                 const Int state = row.integer(3);
                 change->runs = row.integer(2) != 0;
                 change->is_ready = state == kRunning || state == kUnscheduled;
                 switches.push_back(*change);
               });
  sort_stably(switches, {}, &Moment::key);
  std::vector<std::pair<Moment, Moment>> absences;
  Ns periods = 0;
  for (size_t i = 0; i + 1 < switches.size(); ++i) {
    const Moment &from = switches[i], &to = switches[i + 1];
    if (from.thread != to.thread || from.runs || !to.runs) continue;
    absences.emplace_back(from, to);
    periods += (to.at_ns - from.at_ns) / period_ns;
    if (periods > kMostPeriods) return false;
  }
  const std::vector<SystemCall> calls = read_system_calls();
  const Chains stacks = chains("OSRT_CALLCHAINS");
  for (const auto& [from, to] : absences) {
    // One instant of each period, at a place that does not follow any rhythm of the program.
    for (Ns period = from.at_ns / period_ns - 1; period * period_ns < to.at_ns; ++period) {
      const uint64_t place = fnv1a_step(static_cast<uint64_t>(period), kFnv1aStart) >> 16;
      const Ns at = period * period_ns + static_cast<Ns>(place % static_cast<uint64_t>(period_ns));
      if (at < from.at_ns || at >= to.at_ns) continue;
      trace::HostSample sample{
          .thread_id = from.thread, .at_ns = at, .runs = from.is_ready ? 1 : 0};
      if (const SystemCall* call = call_at(calls, from.thread, at)) {
        if (!from.is_ready) sample.system_call = call->number;
        if (const auto stack = stacks.find(call->chain); stack != stacks.end())
          sample.stack_id = stack->second;
      }
      assembly_.add(sample);
    }
  }
  return true;
}

std::vector<NsysSamples::SystemCall> NsysSamples::read_system_calls() {
  std::vector<SystemCall> calls;
  tables_.each(
      "OSRT_API", {"globalTid", "start", "end", "nameId", "callchainId"},
      [&](const ForeignRow& row) {
        const auto start = moment_of(row);
        if (!start) return;
        const auto name = strings_.find(row.integer(3, -1));
        calls.push_back({.thread = start->thread,
                         .start_ns = start->at_ns,
                         .end_ns = row.integer(2, kUnknownNs),
                         .number = name == strings_.end() ? kNoSmall : system_call_of(name->second),
                         .chain = row.integer(4, kNoInt)});
      });
  sort_stably(calls, {}, &SystemCall::key);
  return calls;
}

// The call that a thread was in; nullptr if none is known.
const NsysSamples::SystemCall* NsysSamples::call_at(const std::vector<SystemCall>& calls, Id thread,
                                                    Ns at) {
  const auto after = std::ranges::upper_bound(calls, std::pair(thread, at), {}, &SystemCall::key);
  if (after == calls.begin()) return nullptr;
  const SystemCall& call = *std::prev(after);
  return call.thread == thread && at < call.end_ns ? &call : nullptr;
}

}  // namespace streamscope::import
