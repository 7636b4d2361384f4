// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Traces whose reports are approved in tests/golden/: one per thing to report.
#pragma once

#include <vector>

#include "support/trace_builder.h"

namespace streamscope::test {

struct Sample {
  const char* name;
  trace::Trace trace;
};

/// Copies on one stream feed kernels on another, as in a double-buffered pipeline; the host waits
/// at the end.
inline TraceBuilder pipeline() {
  constexpr trace::Ns kUs = 1000;
  TraceBuilder builder;
  StreamBuilder copies = builder.stream("copies"), math = builder.stream("math");
  builder.range("step", 0, 900 * kUs);
  for (trace::Ns i = 0; i < 8; ++i) {
    const std::string loaded = "loaded " + std::to_string(i % 2),
                      done = "done " + std::to_string(i % 2);
    builder.at(1000 + i * 2000);
    if (i >= 2) copies.wait(done);
    copies.memcpy(kHtoD, (10 + i * 100) * kUs, (70 + i * 100) * kUs, 4 << 20).record(loaded);
    math.wait(loaded)
        .kernel("_Z4gemmIfLi128EEvPKT_S2_PS0_i", (72 + i * 100) * kUs, (100 + i * 100) * kUs)
        .kernel("void reduce<float>(float const*, float*)", (101 + i * 100) * kUs,
                (108 + i * 100) * kUs)
        .record(done);
  }
  builder.at(20 * kUs);
  math.query(false);
  math.synchronize(21 * kUs, 815 * kUs);
  builder.at(900 * kUs);
  copies.memcpy(kDtoH, 905 * kUs, 950 * kUs, 1 << 20);
  builder.synchronize_device(902 * kUs, 952 * kUs);
  builder.meta("tier", "times");
  return builder;
}

inline std::vector<Sample> samples() {
  std::vector<Sample> result;
  result.push_back({"pipeline", pipeline().trace()});

  TraceBuilder lossy = pipeline();
  lossy.meta("complete", "0");
  // Without a stored severity, that of the kind counts.
  for (const auto& [name, count] :
       {std::pair("ring-full", 1234), std::pair("process-ended-abruptly", 1),
        std::pair("graph-nodes-not-recorded", 3), std::pair("from-the-future", 7)}) {
    lossy.add(trace::Loss{.process_id = 0, .name_id = lossy.intern(name), .count = count});
  }
  lossy.columns().event_wait.binding[3] = trace::kAmbiguous;
  lossy.columns().event_wait.record_id[3] = trace::kNoId;
  result.push_back({"losses", lossy.trace()});

  TraceBuilder structure;
  structure.meta("tier", "structure");
  structure.add(trace::Loss{.name_id = structure.intern("no-device-times")});
  structure.stream("a").kernel("first", trace::kUnknownNs, trace::kUnknownNs).record("e");
  structure.stream("b").wait("e").wait("never").kernel("second", trace::kUnknownNs,
                                                       trace::kUnknownNs);
  result.push_back({"structure", structure.trace()});

  TraceBuilder legacy;
  StreamBuilder null = legacy.stream("", trace::kLegacyStream);
  StreamBuilder worker = legacy.stream("worker", trace::kBlockingStream);
  null.kernel("prepare", 100, 400'000);
  worker.kernel("work", 403'000, 900'000);
  result.push_back({"legacy", legacy.trace()});

  TraceBuilder hang;
  StreamBuilder left = hang.stream("left"), right = hang.stream("right");
  left.kernel("before", 100, 50'000).memory_wait(0x1000, 1, 51'000, trace::kUnknownNs);
  left.memory_write(0x2000, 1, trace::kUnknownNs, trace::kUnknownNs);
  hang.columns().device.simulated[0] = 1;
  right.memory_wait(0x2000, 1, 100, trace::kUnknownNs)
      .memory_write(0x1000, 1, trace::kUnknownNs, trace::kUnknownNs);
  hang.synchronize_device(60'000, trace::kUnknownNs);
  result.push_back({"hang", hang.trace()});

  TraceBuilder ranks;
  ranks.stream("compute").kernel("train", 0, 500'000);
  ranks.device("Test GPU").process("rank.py");
  ranks.stream("compute").kernel("train", 10'000, 700'000).memset(700'500, 701'000);
  ranks.synchronize_device(20, 701'500);
  result.push_back({"ranks", ranks.trace()});

  result.push_back({"empty", trace::Trace()});
  return result;
}

}  // namespace streamscope::test
