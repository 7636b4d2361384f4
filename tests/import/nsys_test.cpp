// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "imported.h"
#include "trace/error.h"
#include "vocabulary/copy_kind.h"

namespace streamscope::test {
namespace {

using trace::Trace;

// Two threads of process 7, one stream each, an event recorded twice; columns as in 2026.
constexpr char kStrings[] = R"(
  CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
  INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000'), (2, 'cudaEventRecord_v3020'),
    (3, 'cudaStreamWaitEvent_v3020'), (4, 'cudaEventQuery_v3020'), (5, 'cudaStreamSynchronize_v3020'),
    (6, 'scale(float*)'), (7, 'HOME=/home/somebody SECRET_TOKEN=1'), (8, 'cudaMemcpy_v3020'), (9, 'a range');
)";
constexpr char kCalls[] = R"(
  CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId, returnValue, callchainId);
)";
constexpr char kKernels[] = R"(
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName,
    shortName, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory, graphNodeId);
)";
constexpr char kSyncs[] = R"(
  CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, contextId, streamId, correlationId, globalPid, syncType,
    eventId, eventSyncId);
  CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(timestamp, deviceId, contextId, streamId, correlationId, globalPid, eventId, eventSyncId);
)";

constexpr long long kPid = 1LL << 48 | 7LL << 24;

// A call of the thread with this id, 10 ns long.
std::string call(long long start, int thread, int correlation, int name, int result = 0) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + std::to_string(start) + "," +
         std::to_string(start + 10) + ",0," + std::to_string(kPid + thread) + "," +
         std::to_string(correlation) + "," + std::to_string(name) + "," + std::to_string(result) +
         ",NULL);";
}
std::string kernel(long long start, int stream, int correlation) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + std::to_string(start) + "," +
         std::to_string(start + 100) + ",0,1," + std::to_string(stream) + "," +
         std::to_string(correlation) + "," + std::to_string(kPid) +
         ",6,6,4,1,1,256,1,1,32,0,1024,NULL);";
}
std::string sync(int stream, int correlation, long long event, long long instance, int type = 2) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (0,0,0,1," +
         std::to_string(stream) + "," + std::to_string(correlation) + "," + std::to_string(kPid) +
         "," + std::to_string(type) + "," + std::to_string(event) + "," + std::to_string(instance) +
         ");";
}
std::string record(int stream, int correlation, long long event, long long instance) {
  return "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0,0,1," + std::to_string(stream) +
         "," + std::to_string(correlation) + "," + std::to_string(kPid) + "," +
         std::to_string(event) + "," + std::to_string(instance) + ");";
}

using NsysImport = ImportTest;

TEST_F(NsysImport, BindsWaitsByTheNumberOfTheRecordNotByTheEvent) {
  const Trace trace = import(database(
      std::string(kStrings) + kCalls + kKernels + kSyncs + call(0, 1, 1, 1) + kernel(100, 13, 1) +
      call(20, 1, 2, 2) + record(13, 2, 40, 500) + call(40, 1, 3, 3) + sync(14, 3, 40, 500) +
      call(60, 1, 4, 2) + record(13, 4, 40, 501) +  // the same event again
      call(80, 1, 5, 3) + sync(14, 5, 40, 500) +    // still the first record
      call(100, 1, 6, 1) + kernel(300, 14, 6)));
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
  const Trace trace =
      import(database(std::string(kStrings) + kCalls + kSyncs + call(0, 1, 1, 2) +
                      record(13, 1, 40, 500) + call(20, 1, 2, 4, 600) + sync(-1, 2, 40, 500, 1) +
                      call(40, 1, 3, 5) + sync(13, 3, 4294967295, 4294967295, 2)));
  EXPECT_THAT(trace.host_sync.kind,
              testing::ElementsAre(trace::kEventQuery, trace::kStreamSynchronize));
  EXPECT_EQ(trace.host_sync.record_id[0], 0u);
  EXPECT_EQ(trace.host_sync.result[0], trace::kResultNotReady);
  EXPECT_EQ(trace.event_wait.size(), 0u);
}

TEST_F(NsysImport, BindsByEventIfRecordsHaveNoNumbers) {
  const Trace trace = import(
      database(std::string(kStrings) + kCalls +
               "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start, end, deviceId, contextId, "
               "streamId, correlationId, globalPid, "
               "syncType, eventId); CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT(deviceId, "
               "contextId, streamId, correlationId, "
               "globalPid, eventId);" +
               call(0, 1, 1, 2) + "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0,1,13,1," +
               std::to_string(kPid) + ",40);" + call(20, 1, 2, 3) +
               "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (0,0,0,1,14,2," +
               std::to_string(kPid) + ",3,40);"));
  EXPECT_THAT(trace.event_wait.binding, testing::ElementsAre(trace::kBindingExact));
}

TEST_F(NsysImport, CountsWaitsWithoutTheirRecordAsLost) {
  const Trace trace = import(database(std::string(kStrings) + kCalls + kSyncs + call(0, 1, 1, 2) +
                                      call(20, 1, 2, 3) + sync(14, 2, 40, 500)));
  EXPECT_THAT(trace.event_wait.binding, testing::ElementsAre(trace::kUnknownHistory));
  EXPECT_EQ(lost(trace, "import-unknown-object"), 2);
}

TEST_F(NsysImport, CountsWorkAndSynchronizationsWithoutTheirCalls) {
  const Trace trace =
      import(database(std::string(kStrings) + kCalls + kKernels + kSyncs + call(0, 1, 1, 1) +
                      kernel(100, 13, 1) + kernel(300, 13, 2) + sync(13, 3, 4294967295, 0, 3)));
  EXPECT_EQ(trace.op.size(), 2u);
  EXPECT_EQ(lost(trace, "import-op-without-call"), 1);
  EXPECT_EQ(lost(trace, "import-sync-without-call"), 1);
}

TEST_F(NsysImport, ReadsPrioritiesAndKindsOfStreams) {
  const Trace trace =
      import(database(std::string(kStrings) + kCalls + call(0, 1, 1, 1) +
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
      import(database(std::string(kStrings) + kCalls + call(0, 1, 1, 8) +
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
      database(std::string(kStrings) + kCalls + call(0, 1, 1, 1) +
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
      import(database(std::string(kStrings) + kCalls + kKernels + call(0, 1, 1, 1) +
                      kernel(9'223'372'036'854'775'000LL, 13, 1) +
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

}  // namespace
}  // namespace streamscope::test
