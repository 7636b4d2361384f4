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

}  // namespace streamscope::test
