// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "trace/read/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "query_rows.h"
#include "support/trace_builder.h"
#include "trace/error.h"
#include "trace/sqlite/sqlite.h"
#include "trace_file.h"
#include "vocabulary/wait_cause.h"

namespace streamscope::trace {
namespace {

using test::TraceBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

class QueryTest : public testing::Test {
 protected:
  QueryTest() {
    TraceBuilder builder;
    builder.stream("copies").memcpy(test::kHtoD, 100, 200).record("loaded");
    builder.stream("math").wait("loaded").kernel("gemm", 210, 350).kernel("relu", 360, 380);
    Id from = 0, to = 1;
    builder.add(Edge{.kind = kEventEdge,
                     .from_op_id = from,
                     .to_op_id = to,
                     .event_record_id = 0,
                     .event_wait_id = 0});
    builder.add(WaitCause{.op_id = 1,
                          .cause = static_cast<Small>(streamscope::WaitCause::kEvent),
                          .duration_ns = 10,
                          .edge_id = 0,
                          .because_op_id = 0});
    builder.add(
        CriticalPath{.step = 0, .kind = kOpStep, .op_id = 1, .start_ns = 210, .end_ns = 350});
    builder.write(file_);
  }
  std::vector<std::string> rows(std::string_view sql) { return query_rows(file_, sql); }
  std::string error_of(std::string_view sql) {
    try {
      rows(sql);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  TempTrace file_;
};

TEST_F(QueryTest, GivesTypedCellsUnderTheirNames) {
  Query query(file_, "SELECT 1 AS one, 2.5, 'text', x'0001', NULL;  -- that is all");
  EXPECT_THAT(query.columns(), ElementsAre("one", "2.5", "'text'", "x'0001'", "NULL"));
  ASSERT_TRUE(query.next());
  EXPECT_EQ(std::get<int64_t>(query.cell(0)), 1);
  EXPECT_EQ(std::get<double>(query.cell(1)), 2.5);
  EXPECT_EQ(std::get<std::string_view>(query.cell(2)), "text");
  EXPECT_EQ(std::get<Blob>(query.cell(3)).bytes.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(query.cell(4)));
  EXPECT_FALSE(query.next());
}

TEST_F(QueryTest, ShowsOpsByName) {
  EXPECT_THAT(
      rows("SELECT id, kind, name, process, device, context, stream, stream_name, start_ns, end_ns "
           "FROM v_op"),
      ElementsAre("0|memcpy|memcpy HtoD|0|0|0|0|copies|100|200",
                  "1|kernel|gemm|0|0|0|1|math|210|350", "2|kernel|relu|0|0|0|1|math|360|380"));
}

TEST_F(QueryTest, ShowsAllCallsInOneView) {
  EXPECT_THAT(rows("SELECT source, kind, name, thread, stream, correlation_id, call_number "
                   "FROM v_api_call ORDER BY start_ns"),
              ElementsAre("api_call|memcpy_async|cudaMemcpyAsync|0|0|1|1",
                          "event_record|event_record|cudaEventRecord|0|0|2|2",
                          "event_wait|stream_wait|cudaStreamWaitEvent|0|1|3|3",
                          "api_call|launch|cudaLaunchKernel|0|1|4|4",
                          "api_call|launch|cudaLaunchKernel|0|1|5|5"));
}

TEST_F(QueryTest, AddsTheOrderOfEachStreamToTheEdges) {
  EXPECT_THAT(rows("SELECT * FROM v_edge ORDER BY kind"),
              ElementsAre("event|0|1|10|0|0", "fifo|1|2|10|NULL|NULL"));
}

TEST_F(QueryTest, ShowsWaitsOverlapAndCriticalPath) {
  EXPECT_THAT(rows("SELECT * FROM v_wait"), ElementsAre("1|gemm|1|event_wait|10|0|NULL|0"));
  EXPECT_THAT(rows("SELECT * FROM v_critical_path"), ElementsAre("0|op|gemm|1|1|NULL|210|350"));
  EXPECT_THAT(rows("SELECT * FROM v_overlap"), ElementsAre("0|160|100|0"));
}

TEST_F(QueryTest, SumsTimesInWhichKernelsAndCopiesOverlap) {
  TempTrace file;
  TraceBuilder builder;
  builder.stream("a").kernel("k", 0, 100).kernel("k", 200, 300);
  builder.stream("b").memcpy(test::kHtoD, 50, 250);
  builder.stream("c").memcpy(test::kDtoH, 60, 80);
  builder.write(file);
  Query query(file, "SELECT kernel_ns, copy_ns, both_ns FROM v_overlap");
  ASSERT_TRUE(query.next());
  EXPECT_EQ(std::get<int64_t>(query.cell(0)), 200);
  EXPECT_EQ(std::get<int64_t>(query.cell(1)), 200);
  EXPECT_EQ(std::get<int64_t>(query.cell(2)), 100);
}

TEST_F(QueryTest, CountsOperationsInTheQueueOfTheirStream) {
  TempTrace file;
  TraceBuilder builder;
  builder.stream("a").kernel("k", 0, 100);
  builder.write(file);
  Database(file.path(), SQLITE_OPEN_READWRITE)
      .run(
          "INSERT INTO operation(id, process_id, stream_id, submitted_ns, completed_ns)"
          " VALUES (0, 0, 0, 10, 50), (1, 0, 0, 20, 50), (2, 0, 0, 50, NULL), (3, 0, 0, NULL, 60)");
  Query query(file, "SELECT stream_name, at_ns, depth FROM v_queue_depth ORDER BY at_ns, depth");
  std::vector<std::pair<int64_t, int64_t>> depths;
  while (query.next()) {
    EXPECT_EQ(std::get<std::string_view>(query.cell(0)), "a");
    depths.emplace_back(std::get<int64_t>(query.cell(1)), std::get<int64_t>(query.cell(2)));
  }
  EXPECT_EQ(depths, (std::vector<std::pair<int64_t, int64_t>>{
                        {10, 1}, {20, 2}, {50, 1}, {50, 2}, {50, 3}}));
}

TEST_F(QueryTest, PutsTasksOfAGpuOnTheTraceClock) {
  TempTrace file;
  TraceBuilder builder;
  test::StreamBuilder stream = builder.stream("a");
  stream.kernel("other", 0, 100).kernel("workers", 1000, 2000);
  const Int launch = builder.columns().op.call_number[stream.last_op()];
  const Id queue =
      builder.add(TaskQueue{.process_id = 0, .name_id = builder.intern("tree"), .on_device = 1});
  const Id run =
      builder.add(TaskRun{.task_queue_id = queue, .thread_id = 0, .call_number = launch});
  const Id lost = builder.add(TaskRun{.task_queue_id = queue, .thread_id = 0});
  builder.add(Task{.task_queue_id = queue,
                   .task_run_id = run,
                   .number = 7,
                   .worker = 3,
                   .sm = 5,
                   .offset_ns = 20,
                   .duration_ns = 30});
  builder.add(Task{.task_queue_id = queue,
                   .task_run_id = lost,
                   .number = 8,
                   .offset_ns = 20,
                   .duration_ns = 30});
  builder.add(
      Task{.task_queue_id = queue, .number = 9, .thread_id = 0, .start_ns = 400, .duration_ns = 1});
  builder.write(file);
  EXPECT_THAT(
      query_rows(file,
                 "SELECT queue, task, sm, thread, start_ns, end_ns, op FROM v_task ORDER BY id"),
      ElementsAre("tree|7|5|NULL|1020|1050|1", "tree|8|NULL|NULL|NULL|NULL|NULL",
                  "tree|9|NULL|0|400|401|NULL"));
}

TEST_F(QueryTest, RefusesEverythingButReading) {
  for (const char* sql :
       {"DELETE FROM op", "INSERT INTO mark(id) VALUES(7)", "UPDATE op SET kind = 1",
        "DROP TABLE op", "CREATE TABLE t(x)", "CREATE TEMP TABLE t(x)",
        "ATTACH '/tmp/x.sqlite' AS x", "VACUUM", "VACUUM INTO '/tmp/x.sqlite'", "BEGIN",
        "SAVEPOINT s", "PRAGMA journal_mode=DELETE", "PRAGMA user_version=7",
        "PRAGMA writable_schema=1", "PRAGMA trusted_schema=1", "REINDEX", "ANALYZE",
        "SELECT load_extension('x')", "PRAGMA journal_mode"}) {
    EXPECT_THAT(error_of(sql), HasSubstr("only reading is allowed")) << sql;
  }
}

TEST_F(QueryTest, AllowsReadOnlyStatements) {
  EXPECT_THAT(rows("PRAGMA user_version"), ElementsAre(std::to_string(kFormatVersion)));
  EXPECT_EQ(rows("PRAGMA table_info(op)").size(), 15u);
  EXPECT_EQ(rows("SELECT name FROM pragma_table_info('op')").size(), 15u);
  EXPECT_FALSE(rows("EXPLAIN QUERY PLAN SELECT * FROM v_op").empty());
  EXPECT_THAT(rows("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) "
                   "SELECT sum(i) FROM n"),
              ElementsAre("6"));
}

TEST_F(QueryTest, ExplainsErrors) {
  EXPECT_THAT(error_of("SELECT color FROM op"), HasSubstr("no such column: color"));
  EXPECT_THAT(error_of("SELECT 1; SELECT 2"), HasSubstr("more than one statement"));
  EXPECT_THAT(error_of("UPDATE sqlite_schema SET sql = ''"), HasSubstr("may not be modified"));
  EXPECT_THAT(error_of(" -- nothing"), HasSubstr("is empty"));
  EXPECT_THAT(error_of("SELECT 1; /* fine */ ; -- too"), "no error");
}

TEST_F(QueryTest, CanBeInterruptedFromAnotherThread) {
  Query query(
      file_,
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n");
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    query.interrupt();
  });
  EXPECT_THROW((void)query.next(), Error);
  other.join();
}

TEST_F(QueryTest, HonorsAnInterruptBeforeItRuns) {
  Query query(file_, "SELECT 1");
  query.interrupt();
  EXPECT_THROW((void)query.next(), Error);
}

}  // namespace
}  // namespace streamscope::trace
