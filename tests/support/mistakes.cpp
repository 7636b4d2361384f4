// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "support/mistakes.h"

namespace streamscope::test {

using trace::Ns;

TraceBuilder deadlock_trace() {
  TraceBuilder builder;
  builder.stream("left")
      .memory_wait(0x10, 1, 100, trace::kUnknownNs)
      .memory_write(0x20, 1, trace::kUnknownNs, trace::kUnknownNs);
  builder.stream("right")
      .memory_wait(0x20, 1, 100, trace::kUnknownNs)
      .memory_write(0x10, 1, trace::kUnknownNs, trace::kUnknownNs);
  builder.synchronize_device(200, trace::kUnknownNs);
  builder.range("the program goes on", 0, 100'000'000'000);
  return builder;
}

TraceBuilder needless_sync_trace(int steps) {
  TraceBuilder builder;
  builder.columns().process.clock[0] = trace::kVirtualClock;
  for (int step = 0; step < steps; ++step) {
    for (const char* stream : {"left", "right"}) {
      const Ns at = step * 2'000'000 + (stream[0] == 'r' ? 1'000'000 : 0);
      builder.at(at);
      builder.stream(stream).kernel("half of step " + std::to_string(step), at + 10'000,
                                    at + 610'000);
      builder.synchronize_device(at + 2'000, at + 611'000);
    }
  }
  return builder;
}

TraceBuilder host_bound_trace(int steady) {
  constexpr int kKernels = 20;
  constexpr Ns kUs = 1000;
  TraceBuilder builder;
  builder.columns().process.clock[0] = trace::kVirtualClock;
  builder.columns().device.name_id[0] = builder.intern("NVIDIA H200");
  const trace::Id stack = builder.add(trace::Stack{.process_id = 0, .frame_count = 1});
  builder.add(trace::StackFrame{
      .stack_id = stack, .depth = 0, .kind = 2, .symbol_id = builder.intern("train.py:41 step")});
  StreamBuilder copies = builder.stream("copies"), math = builder.stream("math");
  Ns at = 0;
  for (int step = 0; step < 3 + steady + 4; ++step) {
    const Ns lasts = (step < 3            ? 5'000 + 200 * step
                      : step == 3 + 7     ? 2'000
                      : step < 3 + steady ? 1'000 + step % 5
                                          : 400) *
                     kUs;
    builder.range("step", at, at + lasts);
    builder.at(at);
    copies.memcpy(kHtoD, at + 5 * kUs, at + 60 * kUs, 1 << 20).record("loaded");
    math.wait("loaded");
    const Ns each = (lasts - 230 * kUs) / kKernels;
    Ns call = at + 60 * kUs;
    for (int i = 0; i < kKernels; ++i, call += each) {
      const bool is_long = i == kKernels / 2;
      const Ns start = call + 5 * kUs, end = start + (is_long ? 150 : 6) * kUs;
      builder.at(call);
      math.kernel(is_long ? "gemm" : "relu", start, end);
      if (!is_long) continue;
      math.synchronize(call + 2 * kUs, end + 2 * kUs);
      call = end + 2 * kUs;
    }
    at += lasts;
  }
  for (trace::Id& id : builder.columns().api_call.stack_id) id = stack;
  for (trace::Id& id : builder.columns().host_sync.stack_id) id = stack;
  return builder;
}

}  // namespace streamscope::test
