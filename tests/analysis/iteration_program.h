// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs in steps, for tests of what bounds an iteration.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analysis/iterations/iteration_model.h"
#include "run_detector.h"
#include "support/units.h"

namespace streamscope::analysis {

using test::kUs;

// A program with the latencies that a replay assumes, on a virtual clock, so that predictions are
// exact: an op starts 5 µs after its call began, and at least 1.5 µs after the one before it; a
// synchronization returns 2 µs after its work.
class SteppedProgram {
 public:
  test::TraceBuilder builder;
  Ns now = 0;

  SteppedProgram() { builder.columns().process.clock[0] = trace::kVirtualClock; }

  void launch(Ns call_us, Ns lasts_us, std::string_view name = "k",
              std::string_view stream = "main") {
    const Ns start = start_of(stream), end = start + lasts_us * kUs;
    builder.at(now).stream(stream).kernel(name, start, end);
    issued(stream, call_us, end);
  }
  void copy(test::CopyKind kind, Ns call_us, Ns lasts_us, std::string_view stream = "main",
            trace::Int bytes = 4096) {
    const Ns start = start_of(stream), end = start + lasts_us * kUs;
    builder.at(now).stream(stream).memcpy(kind, start, end, bytes);
    issued(stream, call_us, end);
  }
  void record(std::string_view event, std::string_view stream = "main") {
    builder.at(now).stream(stream).record(event);
    events_[std::string(event)] = done_[std::string(stream)];
    now += 1;
  }
  void wait(std::string_view event, std::string_view stream) {
    builder.at(now).stream(stream).wait(event);
    Ns& done = done_[std::string(stream)];
    done = std::max(done, events_[std::string(event)]);
    now += 1;
  }
  void synchronize() {
    Ns end = now + 1 * kUs;
    for (const auto& [stream, done] : done_) end = std::max(end, done + 2 * kUs);
    builder.synchronize_device(now, end);
    now = end;
  }
  void synchronize(std::string_view event) {
    const Ns end = std::max(now + 1 * kUs, events_[std::string(event)] + 2 * kUs);
    builder.synchronize_event(event, now, end);
    now = end;
  }
  void malloc(Ns call_us) {
    builder.at(now).malloc(0x1000'0000, 4096);
    other(call_us);
  }
  void free(Ns call_us) {
    builder.at(now).free(0x1000'0000);
    other(call_us);
  }
  void load_module(Ns call_us) {
    malloc(call_us);
    auto& calls = builder.columns().api_call;
    calls.kind.back() = number_of(CallKind::kModuleLoad);
    calls.name_id.back() = builder.intern("cuModuleLoadData");
  }
  void pause(Ns us) { now += us * kUs; }
  /// The next `us` microseconds, sampled every 10; the frames are innermost first. `system_call`:
  /// in which the thread waits; kNoSmall: it runs.
  void sampled_pause(Ns us, const std::vector<trace::StackFrame>& frames,
                     trace::Small system_call = trace::kNoSmall) {
    const trace::Id stack = add_stack(frames);
    for (Ns at = 5; at < us; at += 10) {
      builder.add(trace::HostSample{.thread_id = 0,
                                    .at_ns = now + at * kUs,
                                    .runs = system_call == trace::kNoSmall ? 1 : 0,
                                    .system_call = system_call,
                                    .stack_id = stack});
    }
    pause(us);
  }
  trace::StackFrame python(std::string_view text) {
    return {.kind = trace::kPythonFrame, .symbol_id = builder.intern(text)};
  }
  trace::StackFrame native(std::string_view symbol, std::string_view module) {
    return {.kind = trace::kNativeFrame,
            .symbol_id = symbol.empty() ? trace::kNoId : builder.intern(symbol),
            .module_id = builder.intern(module)};
  }

  /// Innermost frame first.
  trace::Id add_stack(const std::vector<trace::StackFrame>& frames) {
    const trace::Id stack = builder.add(
        trace::Stack{.process_id = 0, .frame_count = static_cast<trace::Small>(frames.size())});
    trace::Small depth = 0;
    for (trace::StackFrame frame : frames) {
      frame.stack_id = stack;
      frame.depth = depth++;
      builder.add(frame);
    }
    return stack;
  }
  void synchronize_from(trace::Id stack) {
    synchronize();
    builder.columns().host_sync.stack_id.back() = stack;
  }
  /// A blocking copy of pageable memory to the device on an idle stream: the driver fills its
  /// buffer for `staging_us` before the device begins; the call returns 20 µs before the copy ends.
  void copy_pageable(Ns staging_us, Ns lasts_us, trace::Int bytes) {
    const Ns begin = now + staging_us * kUs, end = begin + lasts_us * kUs;
    synchronous_copy(test::kHtoD, begin, end, end - 20 * kUs, bytes);
  }
  /// A synchronous copy, which waits for the work before it: the device begins `begins_us` later,
  /// and the call returns `returns_us` after its end.
  void copy_and_wait(test::CopyKind kind, Ns begins_us, Ns lasts_us, Ns returns_us,
                     trace::Int bytes, trace::Id stack = kNoId) {
    const Ns begin = std::max(now, done_["main"]) + begins_us * kUs, end = begin + lasts_us * kUs;
    synchronous_copy(kind, begin, end, end + returns_us * kUs, bytes);
    builder.columns().host_sync.stack_id.back() = stack;
  }

  template <class Body>
  SteppedProgram& steps(int count, Body body) {
    for (int i = 0; i < count; ++i) {
      const Ns begin = now;
      body(i);
      builder.thread("main").range("step", begin, now);
    }
    return *this;
  }

 private:
  void synchronous_copy(test::CopyKind kind, Ns begin, Ns end, Ns returns, trace::Int bytes) {
    builder.stream("main").memcpy(kind, begin, end, bytes);
    auto& columns = builder.columns();
    const trace::Id op = builder.stream("main").last_op();
    // The call that the builder made for the copy becomes one without meaning.
    columns.api_call.kind.back() = number_of(CallKind::kOther);
    columns.api_call.start_ns.back() = columns.api_call.end_ns.back() = now;
    columns.op.api_call_id[op] = kNoId;
    columns.op.call_number[op] = kFirstCopyNumber + op;
    columns.op.memory_kinds[op] = kind == test::kHtoD ? 0x13 : 0x31;
    builder.add(trace::HostSync{.thread_id = 0,
                                .kind = trace::kSynchronousCopy,
                                .name_id = builder.intern("cudaMemcpy"),
                                .stream_id = columns.op.stream_id[op],
                                .start_ns = now,
                                .end_ns = returns,
                                .result = 0,
                                .call_number = columns.op.call_number[op]});
    done_["main"] = end;
    now = returns;
  }
  Ns start_of(std::string_view stream) {
    const auto done = done_.find(std::string(stream));
    return std::max(now + 5 * kUs, done == done_.end() ? 0 : done->second + 1500);
  }
  void issued(std::string_view stream, Ns call_us, Ns end) {
    done_[std::string(stream)] = end;
    other(call_us);
  }
  void other(Ns call_us) {
    now += call_us * kUs;
    builder.columns().api_call.end_ns.back() = now;
  }

  static constexpr trace::Int kFirstCopyNumber = 1'000'000;

  std::map<std::string, Ns> done_, events_;
};

// The only finding of a detector.
inline Finding only(std::string_view detector, const SteppedProgram& program) {
  const Verdict verdict = run(detector, program.builder);
  EXPECT_EQ(verdict.findings.size(), 1u) << detector << ": " << verdict.reason;
  return verdict.findings.empty() ? Finding{} : verdict.findings[0];
}

inline void expect_silent(std::string_view detector, const SteppedProgram& program) {
  const Trace trace = program.builder.trace();
  Analyses analyses(trace);
  EXPECT_TRUE(analyses.iteration_model().found()) << "silent for want of iterations";
  const Verdict verdict = evaluate(*find_detector(detector), analyses, evidence_of(trace));
  EXPECT_THAT(verdict.findings, testing::IsEmpty())
      << detector << ": " << verdict.findings[0].title;
  EXPECT_EQ(verdict.outcome, Outcome::kClean);
}

inline void expect_iteration(const Finding& finding, Ns before_ns, Ns after_ns, Ns steps) {
  ASSERT_TRUE(finding.iteration.has_value());
  EXPECT_EQ(finding.iteration->before_ns, before_ns);
  EXPECT_EQ(finding.iteration->after_ns, after_ns);
  EXPECT_EQ(finding.gain_ns, (before_ns - after_ns) * steps);
  EXPECT_NE(finding.repair, nullptr);
}

}  // namespace streamscope::analysis
