// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// SQL written for exports of Nsight Systems, run on one of our traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "query_rows.h"
#include "support/trace_builder.h"
#include "trace/schema/schema.h"
#include "trace/sqlite/sqlite.h"
#include "trace_file.h"

namespace streamscope::trace {
namespace {

using test::TraceBuilder;
using testing::ElementsAre;

class NsysViews : public testing::Test {
 protected:
  static constexpr char kGemm[] = "void blas::gemm<float>(float*)";
  NsysViews() {
    TraceBuilder builder;
    builder.stream("copies").memcpy(test::kHtoD, 100, 200, 512).memset(200, 205).record("loaded");
    builder.stream("math")
        .wait("loaded")
        .kernel(kGemm, 210, 350)
        .kernel("relu", 360, 380)
        .kernel(kGemm, 390, 400);
    builder.stream("math").synchronize(40, 410);
    builder.query_event("loaded").synchronize_device(412, 420);
    builder.range("step", 0, 420).mark("half", 210);
    Id domain = builder.intern("coord");
    builder.add(Range{.thread_id = 0,
                      .kind = kStartEnd,
                      .domain_id = domain,
                      .name_id = builder.intern("load"),
                      .start_ns = 5,
                      .end_ns = 9});
    builder.process("other").stream("s").kernel(kGemm, 100, 101);
    builder.write(file_);
  }
  std::vector<std::string> rows(std::string_view sql) { return query_rows(file_, sql); }
  TempTrace file_;
};

TEST_F(NsysViews, AnswerTheUsualKernelSummary) {
  EXPECT_THAT(
      rows("SELECT StringIds.value AS name, count(*) AS instances, sum(end - start) AS total_ns "
           "FROM CUPTI_ACTIVITY_KIND_KERNEL INNER JOIN StringIds ON StringIds.id = demangledName "
           "GROUP BY demangledName ORDER BY total_ns DESC"),
      ElementsAre("void blas::gemm<float>(float*)|3|151", "relu|1|20"));
}

TEST_F(NsysViews, GroupKernelsByTheirShortNames) {
  EXPECT_THAT(
      rows(
          "SELECT value, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName "
          "WHERE value LIKE 'gemm' GROUP BY shortName"),
      ElementsAre("gemm|3"));
}

TEST_F(NsysViews, JoinKernelsToTheirLaunches) {
  EXPECT_THAT(
      rows("SELECT name.value, call.value, k.start - r.end FROM CUPTI_ACTIVITY_KIND_KERNEL AS k "
           "JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON k.correlationId = r.correlationId "
           "AND k.globalPid = r.globalTid / 0x1000000 * 0x1000000 "
           "JOIN StringIds AS name ON name.id = k.shortName JOIN StringIds AS call ON call.id = "
           "r.nameId "
           "ORDER BY k.start, k.globalPid"),
      ElementsAre("gemm|cudaLaunchKernel|-321", "gemm|cudaLaunchKernel|205",
                  "relu|cudaLaunchKernel|354", "gemm|cudaLaunchKernel|383"));
}

TEST_F(NsysViews, DecodeProcessAndThreadFromTheirGlobalIds) {
  EXPECT_THAT(rows("SELECT DISTINCT globalTid / 0x1000000 % 0x1000000, globalTid % 0x1000000 "
                   "FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY 1"),
              ElementsAre("1000|2000", "1001|2001"));
  EXPECT_THAT(rows("SELECT pid, name FROM PROCESSES"), ElementsAre("1000|app", "1001|other"));
  EXPECT_THAT(rows("SELECT value FROM ThreadNames JOIN StringIds ON id = nameId"),
              ElementsAre("main", "main"));
}

TEST_F(NsysViews, TieWaitsToRecordsByTheirSyncId) {
  EXPECT_THAT(
      rows("SELECT e.streamId, s.streamId, e.eventId FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS s "
           "JOIN CUPTI_ACTIVITY_KIND_CUDA_EVENT AS e ON s.eventSyncId = e.eventSyncId AND "
           "s.globalPid = e.globalPid "
           "WHERE s.syncType = 2"),
      ElementsAre("7|8|0"));
  EXPECT_THAT(
      rows("SELECT label, streamId, s.end - s.start FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS s "
           "JOIN ENUM_CUPTI_SYNC_TYPE AS e ON e.id = s.syncType ORDER BY s.start"),
      ElementsAre("Stream wait sync|8|1", "Stream sync|8|370", "Event sync|4294967295|1",
                  "Context sync|4294967295|8"));
}

TEST_F(NsysViews, NameTheKindsOfCopiesAndMemory) {
  EXPECT_THAT(rows("SELECT o.label, s.label, d.label, bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY "
                   "JOIN ENUM_CUDA_MEMCPY_OPER AS o ON o.id = copyKind JOIN ENUM_CUDA_MEM_KIND AS "
                   "s ON s.id = srcKind "
                   "JOIN ENUM_CUDA_MEM_KIND AS d ON d.id = dstKind"),
              ElementsAre("Host-to-Device|Pinned|Device|512"));
  EXPECT_THAT(rows("SELECT start, end, bytes FROM CUPTI_ACTIVITY_KIND_MEMSET"),
              ElementsAre("200|205|4096"));
}

TEST_F(NsysViews, ShowNvtxRangesMarksAndDomains) {
  EXPECT_THAT(
      rows("SELECT eventType, coalesce(text, StringIds.value), start, end, domainId > 0 FROM "
           "NVTX_EVENTS "
           "LEFT JOIN StringIds ON textId = StringIds.id ORDER BY eventType"),
      ElementsAre("34|half|210|NULL|0", "59|step|0|420|0", "60|load|5|9|1", "75|coord|5|NULL|1"));
}

TEST_F(NsysViews, DescribeTheTarget) {
  EXPECT_THAT(rows("SELECT name, smCount, computeMajor FROM TARGET_INFO_GPU"),
              ElementsAre("Test GPU|132|9"));
  EXPECT_THAT(rows("SELECT streamId, processId, contextId, flag FROM TARGET_INFO_CUDA_STREAM"),
              ElementsAre("7|1000|1|2", "8|1000|1|2", "9|1001|1|2"));
  EXPECT_THAT(rows("SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'"),
              ElementsAre("3.25.0"));
  EXPECT_THAT(rows("SELECT utcEpochNs, utcTime FROM TARGET_INFO_SESSION_START_TIME"),
              ElementsAre("1700000000000000000|2023-11-14T22:13:20"));
}

TEST_F(NsysViews, CanAllBeRead) {
  for (const std::string& view : rows("SELECT name FROM sqlite_schema WHERE type = 'view'")) {
    EXPECT_NO_THROW(rows("SELECT * FROM " + view)) << view;
  }
}

// Against a real export of the version that the views follow, if the collection of other tools'
// files is available.
TEST_F(NsysViews, HaveTheColumnsOfARealExport) {
  const char* corpus = std::getenv("STREAMSCOPE_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "STREAMSCOPE_CORPUS names no folder of foreign traces";
  auto file = std::filesystem::path(corpus) / "nsys/nsys-2026.2_torch-2gpu-waits.sqlite";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  Database exported("file:" + file.string() + "?immutable=1",
                    SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, file);
  int compared = 0;
  for (const std::string& view :
       rows("SELECT name FROM sqlite_schema WHERE type = 'view' AND name NOT GLOB 'v_*'")) {
    Statement info(exported, "PRAGMA table_info(" + view + ")");
    std::vector<std::string> expected;
    while (info.step()) expected.emplace_back(info.text(1));
    if (expected.empty()) continue;  // an export has only tables with rows
    EXPECT_EQ(rows("SELECT name FROM pragma_table_info('" + view + "')"), expected) << view;
    compared++;
  }
  EXPECT_GT(compared, 10);
}

}  // namespace
}  // namespace streamscope::trace
