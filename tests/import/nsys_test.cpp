// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "imported.h"
#include "nsys_rows.h"
#include "trace/error.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::test {
namespace {

using trace::Trace;

using NsysImport = ImportTest;

TEST_F(NsysImport, BindsWaitsByTheNumberOfTheRecordNotByTheEvent) {
  const Trace trace =
      import(database(std::string(kStrings) + kCalls + kKernels + kSyncs + call_row(0, 1, 1, 1) +
                      kernel_row(100, 13, 1) + call_row(20, 1, 2, 2) + record_row(13, 2, 40, 500) +
                      call_row(40, 1, 3, 3) + sync(14, 3, 40, 500) + call_row(60, 1, 4, 2) +
                      record_row(13, 4, 40, 501) +                    // the same event again
                      call_row(80, 1, 5, 3) + sync(14, 5, 40, 500) +  // still the first record
                      call_row(100, 1, 6, 1) + kernel_row(300, 14, 6)));
  ASSERT_EQ(trace.event_record.size(), 2u);
  EXPECT_EQ(trace.event.size(), 1u);
  EXPECT_THAT(trace.event_record.version, testing::ElementsAre(1, 2));
  EXPECT_THAT(trace.event_wait.binding, testing::Each(trace::kBindingExact));
  EXPECT_THAT(trace.event_wait.record_id, testing::ElementsAre(0u, 0u));
  EXPECT_EQ(trace.stream.native_id[trace.event_wait.stream_id[0]], 14);
  EXPECT_EQ(trace.text(trace.event_wait.name_id[0]), "cudaStreamWaitEvent");
  EXPECT_EQ(trace.text(trace.op.name_id[0]), "scale(float*)");
  EXPECT_EQ(trace.launch_shape.size(), 1u);
}

TEST_F(NsysImport, TreatsQueriesAsQueriesWhateverTheirSyncType) {
  const Trace trace = import(
      database(std::string(kStrings) + kCalls + kSyncs + call_row(0, 1, 1, 2) +
               record_row(13, 1, 40, 500) + call_row(20, 1, 2, 4, 600) + sync(-1, 2, 40, 500, 1) +
               call_row(40, 1, 3, 5) + sync(13, 3, 4294967295, 4294967295, 2)));
  EXPECT_THAT(trace.host_sync.kind,
              testing::ElementsAre(trace::kEventQuery, trace::kStreamSynchronize));
  EXPECT_EQ(trace.host_sync.record_id[0], 0u);
  EXPECT_EQ(trace.host_sync.result[0], trace::kResultNotReady);
  EXPECT_EQ(trace.event_wait.size(), 0u);
}

TEST_F(NsysImport, BindsByEventIfRecordsHaveNoNumbers) {
  const Trace trace = import(database(
      std::string(kStrings) + kCalls +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, contextId, "
      "streamId, correlationId, globalPid, "
      "syncType, eventId); CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(deviceId, "
      "contextId, streamId, correlationId, "
      "globalPid, eventId);" +
      call_row(0, 1, 1, 2) + "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0,1,13,1," +
      std::to_string(kPid) + ",40);" + call_row(20, 1, 2, 3) +
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (0,0,0,1,14,2," +
      std::to_string(kPid) + ",3,40);"));
  EXPECT_THAT(trace.event_wait.binding, testing::ElementsAre(trace::kBindingExact));
}

TEST_F(NsysImport, CountsWaitsWithoutTheirRecordAsLost) {
  const Trace trace =
      import(database(std::string(kStrings) + kCalls + kSyncs + call_row(0, 1, 1, 2) +
                      call_row(20, 1, 2, 3) + sync(14, 2, 40, 500)));
  EXPECT_THAT(trace.event_wait.binding, testing::ElementsAre(trace::kUnknownHistory));
  EXPECT_EQ(lost(trace, "import-unknown-object"), 2);
}

TEST_F(NsysImport, CountsWorkAndSynchronizationsWithoutTheirCalls) {
  const Trace trace = import(database(std::string(kStrings) + kCalls + kKernels + kSyncs +
                                      call_row(0, 1, 1, 1) + kernel_row(100, 13, 1) +
                                      kernel_row(300, 13, 2) + sync(13, 3, 4294967295, 0, 3)));
  EXPECT_EQ(trace.op.size(), 2u);
  EXPECT_EQ(lost(trace, "import-op-without-call"), 1);
  EXPECT_EQ(lost(trace, "import-sync-without-call"), 1);
}

TEST_F(NsysImport, ReadsPrioritiesAndKindsOfStreams) {
  const Trace trace =
      import(database(std::string(kStrings) + kCalls + call_row(0, 1, 1, 1) +
                      "CREATE TABLE TARGET_INFO_CUDA_STREAM(streamId, hwId, vmId, processId, "
                      "contextId, priority, flag);"
                      "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (13,0,1,7,1,4294967295,2), "
                      "(7,0,1,7,1,0,3), (14,0,1,7,1,0,1);"));
  EXPECT_THAT(trace.stream.priority, testing::ElementsAre(-1, 0, 0));
  EXPECT_THAT(trace.stream.kind,
              testing::ElementsAre(trace::kNonBlockingStream, trace::kLegacyStream,
                                   trace::kBlockingStream));
}

TEST_F(NsysImport, DistinguishesPageMigrationsFromCopies) {
  const Trace trace =
      import(database(std::string(kStrings) + kCalls + call_row(0, 1, 1, 8) +
                      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, contextId, "
                      "streamId, correlationId, globalPid, bytes, "
                      "copyKind, srcKind, dstKind);"
                      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (5,9,0,1,7,1," +
                      std::to_string(kPid) +
                      ",64,1,0,2),"
                      "(10,20,0,0,0,0," +
                      std::to_string(kPid) + ",4096,11,4,4);"));
  EXPECT_THAT(trace.op.detail, testing::ElementsAre(1, static_cast<trace::Small>(kFirstMigration)));
  EXPECT_EQ(trace.op.memory_kinds[0], 1 << 4 | 3);
  EXPECT_EQ(lost(trace, "import-op-without-call"), 0);
  EXPECT_THAT(trace.host_sync.kind, testing::ElementsAre(trace::kSynchronousCopy));
}

TEST_F(NsysImport, ImportsOnlyWhatIsNeededAndNoEnvironment) {
  const Trace trace = import(
      database(std::string(kStrings) + kCalls + call_row(0, 1, 1, 1) +
               "CREATE TABLE META_DATA_CAPTURE(name, value); INSERT INTO META_DATA_CAPTURE VALUES "
               "('PROCESS_1:ENVIRONMENT_VARIABLE', 'SECRET_TOKEN=1');"));
  for (const std::string& text : trace.strings) EXPECT_EQ(text.find("SECRET"), text.npos) << text;
}

TEST_F(NsysImport, ImportsAFileWithoutCudaAndReportsThat) {
  const Trace trace = import(
      database(std::string(kStrings) +
               "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, globalTid, textId, domainId);"
               "INSERT INTO NVTX_EVENTS VALUES (0,100,59,NULL," +
               std::to_string(kPid + 1) +
               ",9,0),"
               "(10,50,59,'inner'," +
               std::to_string(kPid + 1) + ",NULL,0), (60,NULL,34,'mark'," +
               std::to_string(kPid + 1) + ",NULL,0), (0,NULL,99,'?'," + std::to_string(kPid + 1) +
               ",NULL,0);"
               "CREATE TABLE OSRT_API(start, end); INSERT INTO OSRT_API VALUES (1,2),(3,4);"));
  EXPECT_EQ(lost(trace, "import-no-cuda"), 1);
  EXPECT_EQ(lost(trace, "import-not-understood"), 3);
  EXPECT_THAT(trace.range.depth, testing::ElementsAre(0, 1));
  EXPECT_EQ(trace.text(trace.range.name_id[0]), "a range");
  EXPECT_EQ(trace.mark.size(), 1u);
}

TEST_F(NsysImport, CountsInvalidTimes) {
  const Trace trace =
      import(database(std::string(kStrings) + kCalls + kKernels + call_row(0, 1, 1, 1) +
                      kernel_row(9'223'372'036'854'775'000LL, 13, 1) +
                      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (50,40,0,1,2,1,0,NULL), "
                      "(NULL,40,0,1,3,1,0,NULL), ('x',40,0,1,4,1,0,NULL);"));
  EXPECT_EQ(trace.op.size(), 0u);
  EXPECT_EQ(lost(trace, "record-invalid"), 3);
}

TEST_F(NsysImport, ReadsNoViewOfAHostileFile) {
  // A view of that name would run forever.
  const auto file =
      database(std::string(kStrings) +
               "CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS WITH RECURSIVE n(start) AS (SELECT 1 "
               "UNION ALL SELECT "
               "start + 1 FROM n) SELECT start, start AS end, 1 AS globalTid FROM n;"
               "CREATE TABLE a(x REFERENCES b(x)); CREATE TABLE b(x REFERENCES a(x));");
  EXPECT_EQ(import(file).api_call.size(), 0u);
}

TEST_F(NsysImport, RefusesForeignDatabases) {
  EXPECT_THROW(import(database("CREATE TABLE books(title); INSERT INTO books VALUES ('x');")),
               Error);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "trace.sqlite"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "trace.sqlite.part"));
}

// Samples of a thread that makes calls: it runs for 10 ms, waits for 10 ms and runs again. One each
// millisecond from 1 to 10 ms and from 21 to 30 ms, all in load(), called by main().
std::string samples_of_a_thread() {
  std::string sql = std::string(kStrings) + kCalls + call_row(0, 1, 1, 1) +
                    call_row(30'000'000, 1, 2, 1) + kSamples;
  for (int i = 1; i <= 20; ++i) {
    const char* table = "SAMPLING_CALLCHAINS";
    sql += sample(i, (i <= 10 ? i : i + 10) * 1'000'000) + frame(table, i, 0, 24, 25, 1) +
           frame(table, i, 1, 26, 27, 0, 1) + frame(table, i, 2, 20, 21) +
           frame(table, i, 3, 22, 21) + frame(table, i, 4, 23, 23);
  }
  return sql;
}
// The frames of a stack as "symbol in module", innermost first.
std::vector<std::string> frames_with_modules(const Trace& trace, trace::Id stack) {
  std::vector<std::string> frames;
  for (trace::Id frame = 0; frame < trace.stack_frame.size(); ++frame) {
    if (trace.stack_frame.stack_id[frame] == stack)
      frames.push_back(std::string(trace.text(trace.stack_frame.symbol_id[frame])) + " in " +
                       std::string(trace.text(trace.stack_frame.module_id[frame])));
  }
  return frames;
}

TEST_F(NsysImport, ReadsSamplesOfThreadsWithTheirStacks) {
  const Trace trace =
      import(database(samples_of_a_thread() + sample(100, 5'000'000, 9) +
                      "CREATE TABLE SCHED_EVENTS(start, cpu, isSchedIn, globalTid, threadState);"
                      "INSERT INTO SCHED_EVENTS VALUES (0, 0, 1, 9, 0);"));
  ASSERT_EQ(trace.host_sample.size(), 20u);
  EXPECT_THAT(trace.host_sample.runs, testing::Each(1));
  EXPECT_EQ(trace.host_sample.at_ns[0], 1'000'000);
  EXPECT_EQ(trace.stack.size(), 1u) << "equal stacks are one";
  EXPECT_EQ(trace.stack.frame_count[0], 3);
  EXPECT_THAT(frames_with_modules(trace, trace.host_sample.stack_id[0]),
              testing::ElementsAre(" in /lib/libcuda.so.1", "load(int) in /app/train",
                                   "main in /app/train"));
  EXPECT_EQ(trace.meta.at("sample_hz"), "1000");
  EXPECT_EQ(trace.thread.size(), 1u) << "only threads that make calls";
  EXPECT_EQ(lost(trace, "import-not-understood"), 1) << "the sample of the other thread";
  EXPECT_EQ(lost(trace, "import-no-waits"), 0);
}

TEST_F(NsysImport, LeavesOutSamplesThatDoNotShowWaits) {
  const Trace trace = import(database(samples_of_a_thread()));
  EXPECT_EQ(trace.host_sample.size(), 0u) << "the thread would look busy all the time";
  EXPECT_EQ(lost(trace, "import-no-waits"), 20);
  EXPECT_EQ(trace.meta.count("sample_hz"), 0u);
}

TEST_F(NsysImport, SamplesWaitsFromContextSwitches) {
  const auto switched = [](long long at, int in, int state) {
    return "INSERT INTO SCHED_EVENTS VALUES (" + std::to_string(at) + ",0," + std::to_string(in) +
           "," + std::to_string(kPid + 1) + "," + std::to_string(state) + ");";
  };
  const Trace trace = import(
      database(samples_of_a_thread() +
               "CREATE TABLE SCHED_EVENTS(start, cpu, isSchedIn, globalTid, threadState);" +
               switched(10'000'000, 0, 0) + switched(20'000'000, 1, 0) +  // waits
               switched(22'000'000, 0, 6) + switched(26'000'000, 1, 0) +  // could go on
               "INSERT INTO OSRT_API VALUES (9900000, 20100000, 1, " + std::to_string(kPid + 1) +
               ", 1, 28, 0, 0, 7);" + frame("OSRT_CALLCHAINS", 7, 0, 28, 27) +
               frame("OSRT_CALLCHAINS", 7, 1, 22, 21)));
  const auto& samples = trace.host_sample;
  size_t waiting = 0, ready = 0;
  for (trace::Id id = 0; id < samples.size(); ++id) {
    const trace::Ns at = samples.at_ns[id];
    if (at >= 10'000'001 && at < 20'000'000) {
      ++waiting;
      EXPECT_EQ(samples.runs[id], 0);
      EXPECT_NE(samples.system_call[id], trace::kNoSmall);
      EXPECT_THAT(frames_with_modules(trace, samples.stack_id[id]),
                  testing::ElementsAre("poll in /lib/libcuda.so.1", "main in /app/train"));
    } else {
      EXPECT_EQ(samples.runs[id], 1);
      ready += samples.stack_id[id] == trace::kNoId;
    }
  }
  EXPECT_NEAR(static_cast<double>(waiting), 10, 2) << "as many as in the same time while it runs";
  EXPECT_NEAR(static_cast<double>(ready), 4, 2);
  EXPECT_EQ(lost(trace, "import-no-waits"), 0);
}

TEST_F(NsysImport, LeavesOutSamplesThatWouldBeTooMany) {
  const Trace trace = import(database(
      samples_of_a_thread() +
      "CREATE TABLE SCHED_EVENTS(start, cpu, isSchedIn, globalTid, threadState);"
      "INSERT INTO SCHED_EVENTS VALUES (-1000000000000000000, 0, 0, " +
      std::to_string(kPid + 1) + ", 0), (1000000000000000000, 0, 1, " + std::to_string(kPid + 1) +
      ", 0), (9223372036854775807, 0, 0, " + std::to_string(kPid + 1) + ", 0);"));
  EXPECT_EQ(trace.host_sample.size(), 0u);
  EXPECT_EQ(lost(trace, "import-no-waits"), 20);
  EXPECT_EQ(lost(trace, "record-invalid"), 1);
}

TEST_F(NsysImport, GivesCallsTheStacksOfTheirBacktraces) {
  const std::string traced = "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0,10,0," +
                             std::to_string(kPid + 1) + ",1,1,0,5),(20,30,0," +
                             std::to_string(kPid + 1) + ",2,5,0,5),(40,50,0," +
                             std::to_string(kPid + 1) + ",3,1,0,NULL);";
  const Trace trace = import(database(
      std::string(kStrings) + kCalls + traced +
      "INSERT INTO StringIds VALUES (20, 'step()'), (21, '/app/train');"
      "CREATE TABLE CUDA_CALLCHAINS(id, symbol, module, unresolved, originalIP, stackDepth);"
      "INSERT INTO CUDA_CALLCHAINS VALUES (5, 20, 21, 0, 0, 0);"));
  ASSERT_EQ(trace.api_call.size(), 2u);
  EXPECT_THAT(frames_with_modules(trace, trace.api_call.stack_id[0]),
              testing::ElementsAre("step() in /app/train"));
  EXPECT_EQ(trace.host_sync.stack_id[0], trace.api_call.stack_id[0]);
  EXPECT_EQ(trace.api_call.stack_id[1], trace::kNoId);
}

}  // namespace
}  // namespace streamscope::test
