// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/iterations/host_samples.h"
#include "analysis/iterations/iteration_model.h"
#include "import/imported.h"
#include "import/nsys_rows.h"

namespace streamscope::test {
namespace {

using trace::Trace;
using NsysSamples = ImportTest;

TEST_F(NsysSamples, ShowWhatTheHostDidInIterations) {
  // Each iteration of 10 ms is a launch, 6 ms in which the host runs load() and 3 ms in poll().
  constexpr long long kStep = 10'000'000, kMs = 1'000'000;
  std::string sql = std::string(kStrings) + kCalls + kKernels + kSamples +
                    "CREATE TABLE NVTX_EVENTS(text, start, end, eventType, globalTid);"
                    "CREATE TABLE SCHED_EVENTS(start, cpu, isSchedIn, globalTid, threadState);" +
                    frame("OSRT_CALLCHAINS", 7, 0, 28, 27) + frame("OSRT_CALLCHAINS", 7, 1, 22, 21);
  const std::string thread = std::to_string(kPid + 1);
  int id = 0;
  for (int step = 0; step < 40; ++step) {
    const long long at = step * kStep;
    sql += call_row(at, 1, step + 1, 1) + kernel_row(at + 5'000, 13, step + 1) +
           "INSERT INTO NVTX_EVENTS VALUES ('step'," + std::to_string(at) + "," +
           std::to_string(at + kStep) + ",59," + thread + ");";
    for (int i = 1; i <= 6; ++i) {
      ++id;
      sql += sample(id, at + i * kMs) + frame("SAMPLING_CALLCHAINS", id, 0, 20, 21) +
             frame("SAMPLING_CALLCHAINS", id, 1, 22, 21);
    }
    const std::string from = std::to_string(at + 6'500'000), to = std::to_string(at + 9'500'000);
    sql += "INSERT INTO SCHED_EVENTS VALUES (" + from + ",0,0," + thread + ",0),(" + to + ",0,1," +
           thread + ",0); INSERT INTO OSRT_API VALUES (" + from + "," + to + ",1," + thread +
           ",1,28,0,0,7);";
  }
  const Trace trace = import(database(sql));
  analysis::Analyses analyses(trace);
  ASSERT_TRUE(analyses.iteration_model().iterations().found());
  const analysis::HostActivities host =
      analysis::host_activities(analyses, analyses.iteration_model());
  ASSERT_EQ(host.lines.size(), 2u);
  EXPECT_EQ(host.lines[0].place, "load");
  EXPECT_EQ(host.lines[0].what, "runs");
  EXPECT_EQ(host.lines[1].place, "main");
  EXPECT_EQ(host.lines[1].what, "waits for input (poll)");
  EXPECT_NEAR(static_cast<double>(host.lines[1].each_ns) / static_cast<double>(host.each_ns),
              1.0 / 3, 0.06);
}

}  // namespace
}  // namespace streamscope::test
