// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Programs that repeat their work, for tests of finding iterations.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "analysis/iterations/iterations.h"
#include "support/trace_builder.h"
#include "support/units.h"

namespace streamscope::analysis {

using test::kUs;

// A program of one thread and one stream: the host issues an op every 10 µs, and each op starts 5
// µs after that, or when the one before it ended.
class RepeatedProgram {
 public:
  test::TraceBuilder builder;
  Ns now_us = 0, done_us = 0;

  RepeatedProgram& kernel(std::string_view name, Ns lasts_us = 3) {
    const Ns start = std::max(now_us + 5, done_us);
    builder.at(now_us * kUs).stream("main").kernel(name, start * kUs, (start + lasts_us) * kUs);
    return issued(start + lasts_us);
  }
  RepeatedProgram& copy(test::CopyKind kind, Ns lasts_us) {
    const Ns start = std::max(now_us + 5, done_us), end = start + lasts_us;
    builder.at(now_us * kUs).stream("main").memcpy(kind, start * kUs, end * kUs, 4096);
    return issued(end);
  }
  // Times that never came, as at the end of a program that hangs.
  RepeatedProgram& untimed_kernel(std::string_view name) {
    builder.at(now_us * kUs).stream("main").kernel(name, kUnknownNs, kUnknownNs);
    now_us += 10;
    return *this;
  }
  RepeatedProgram& kernels(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) kernel(name);
    return *this;
  }
  RepeatedProgram& graph(Ns lasts_us = 30) {
    const Ns start = std::max(now_us + 5, done_us);
    builder.at(now_us * kUs).stream("main").graph_launch(start * kUs, (start + lasts_us) * kUs);
    return issued(start + lasts_us);
  }
  // The host waits until its work is done.
  RepeatedProgram& synchronize() {
    const Ns end = std::max(now_us, done_us) + 2;
    builder.synchronize_device(now_us * kUs, end * kUs);
    now_us = end;
    return *this;
  }
  RepeatedProgram& pause(Ns us) {
    now_us += us;
    return *this;
  }
  RepeatedProgram& range(std::string_view name, Ns from_us) {
    builder.range(name, from_us * kUs, now_us * kUs);
    return *this;
  }
  Iterations find(std::string_view how = "auto") const {
    const Trace trace = builder.trace();
    IterationRequest request;
    EXPECT_TRUE(parse(how, request)) << how;
    Analyses analyses(trace);
    return find_iterations(analyses, request);
  }

 private:
  RepeatedProgram& issued(Ns until_us) {
    done_us = until_us;
    now_us += 10;
    return *this;
  }
};

inline std::vector<Ns> issued_us(const Iterations& iterations) {
  std::vector<Ns> result;
  for (const Iteration& iteration : iterations.all) result.push_back(iteration.issued_ns / kUs);
  return result;
}

inline std::vector<uint64_t> op_counts(const Iterations& iterations) {
  std::vector<uint64_t> result;
  for (const Iteration& iteration : iterations.all) result.push_back(iteration.op_count);
  return result;
}

inline void expect_no_gaps(const Iterations& iterations) {
  for (size_t i = 0; i < iterations.all.size(); ++i) {
    EXPECT_GE(iterations.all[i].duration_ns(), 0) << i;
    if (i > 0) {
      EXPECT_EQ(iterations.all[i].start_ns, iterations.all[i - 1].end_ns) << i;
    }
  }
}

}  // namespace streamscope::analysis
