// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Samples of the host for profiles that have none, but contain which functions and operators ran on
// a thread, and when. What was open at an instant is what a sample of the thread would show, so
// everything that looks at samples also explains such a profile. They do not tell whether the
// thread had a processor.

#include <algorithm>
#include <cmath>
#include <span>

#include "assembly.h"
#include "vocabulary/fnv1a.h"

namespace streamscope::import {
namespace {

constexpr Ns kLeastSamplePeriodNs = 10'000, kMostSamplesOfThread = 20'000, kMostSamples = 320'000;

// Of intervals by start, the outer of equal ones first: those that contain an instant.
template <class Row>
class OpenRows {
 public:
  void add(const Row& row) { rows_.push_back(&row); }

  /// The innermost last. Instants ascend.
  std::span<const Row* const> at(Ns instant) {
    for (; next_ < rows_.size() && rows_[next_]->start_ns <= instant; ++next_) {
      close(rows_[next_]->start_ns);
      open_.push_back(rows_[next_]);
    }
    close(instant);
    return open_;
  }

 private:
  void close(Ns until) {
    while (!open_.empty() && open_.back()->end_ns != kUnknownNs && open_.back()->end_ns <= until)
      open_.pop_back();
  }

  std::vector<const Row*> rows_, open_;
  size_t next_ = 0;
};

}  // namespace

struct Assembly::SampledThread {
  OpenRows<Function> functions;
  OpenRows<trace::Range> ranges;
  Ns first_ns = 0, last_call_ns = 0;
  bool makes_calls = false;
};

void Assembly::take_samples() {
  if (!samples_functions_ || (sampled_ranges_.empty() && functions_.empty()) || calls_.empty())
    return;
  std::vector<SampledThread> threads(threads_.size());
  Ns from = calls_.front().start_ns, to = from, calling = 0;
  for (const Call& call : calls_) {
    if (call.thread >= threads.size()) continue;
    SampledThread& thread = threads[call.thread];
    if (!thread.makes_calls) ++calling, thread.first_ns = call.start_ns;
    thread.makes_calls = true;
    thread.last_call_ns = std::max(thread.last_call_ns, call.end_ns);
    to = std::max(to, call.end_ns);
  }
  sort_ranges();
  const auto add = [&](Id id, const auto& row, auto open_rows) {
    if (id >= threads.size() || !threads[id].makes_calls) return;
    (threads[id].*open_rows).add(row);
    threads[id].first_ns = std::min(threads[id].first_ns, row.start_ns);
    from = std::min(from, row.start_ns);
  };
  for (const Function& function : functions_)
    add(function.thread, function, &SampledThread::functions);
  for (const trace::Range& range : ranges_) {
    if (sampled_ranges_.contains(range.name_id))
      add(range.thread_id, range, &SampledThread::ranges);
  }
  if (calling == 0) return;
  const Ns most = std::clamp<Ns>(kMostSamples / calling, 1, kMostSamplesOfThread);
  const Ns period_ns = std::max(kLeastSamplePeriodNs, (to - from) / most + 1);
  writer_.set_meta("sample_hz", Int{std::llround(1e9 / static_cast<double>(period_ns))});
  for (Id id = 0; id < threads.size(); ++id) {
    if (!threads[id].makes_calls) continue;
    for (Ns period = from; period < threads[id].last_call_ns; period += period_ns) {
      // At a place that does not follow any rhythm of the program.
      const uint64_t place = fnv1a_step(static_cast<uint64_t>(period), kFnv1aStart) >> 16;
      const Ns at = period + static_cast<Ns>(place % static_cast<uint64_t>(period_ns));
      if (at >= threads[id].first_ns) samples_.push_back(sample_at(at, id, threads[id]));
    }
  }
}

trace::HostSample Assembly::sample_at(Ns at, Id id, SampledThread& thread) {
  trace::HostSample sample{.thread_id = id, .at_ns = at};
  const auto functions = thread.functions.at(at);
  for (const Function* function : functions) {
    sample.stack_id = function->complete
                          ? function->stack
                          : stacks_.push(sample.stack_id, stacks_.innermost(function->stack));
  }
  for (const trace::Range* range : thread.ranges.at(at)) {
    if (!functions.empty() && range->start_ns < functions.back()->start_ns) continue;
    const FrameOfRange& shown = sampled_ranges_.at(range->name_id);
    sample.stack_id = stacks_.push(sample.stack_id, shown.frame);
    sample.system_call = shown.system_call;
    sample.runs = shown.system_call == kNoSmall ? kNoSmall : 0;
  }
  return sample;
}

}  // namespace streamscope::import
