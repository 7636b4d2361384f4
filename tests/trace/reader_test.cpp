// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "trace/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "support/trace_builder.h"
#include "trace/error.h"
#include "trace/sqlite.h"
#include "trace/writer.h"
#include "trace_file.h"

namespace streamscope::trace {
namespace {

using test::TraceBuilder;
using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::filesystem::path& file) {
  try {
    read(file);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Reader, ReadsWhatABuilderWrote) {
  TraceBuilder builder;
  builder.stream("copies").memcpy(test::kHtoD, 100, 200).record("loaded");
  builder.stream("math").wait("loaded").kernel("gemm", 200, 350).wait("nothing");
  builder.synchronize_device(40, 360).range("step", 0, 360);
  TempTrace file;
  builder.write(file);

  Trace trace = read(file);
  EXPECT_TRUE(trace.complete());
  EXPECT_EQ(trace.end_ns(), 360);
  EXPECT_EQ(trace.meta.at("duration_ns"), "360");
  ASSERT_EQ(trace.op.size(), 2u);
  EXPECT_EQ(trace.text(trace.op.name_id[1]), "gemm");
  EXPECT_EQ(trace.op.detail[1], kNoSmall);
  ASSERT_EQ(trace.event_wait.size(), 2u);
  EXPECT_EQ(trace.event_wait.record_id[0], 0u);
  EXPECT_EQ(trace.event_wait.binding[1], kNeverRecorded);
  EXPECT_EQ(trace.event_wait.record_id[1], kNoId);
  EXPECT_EQ(trace.process_of_stream(1), 0u);
  EXPECT_EQ(trace.device_of_stream(1), 0u);
  EXPECT_EQ(trace.process_of_thread(0), 0u);
  EXPECT_EQ(trace.process_of_stream(99), kNoId);
  EXPECT_EQ(trace.strings, builder.trace().strings);
}

TEST(Reader, LeavesOutTablesThatAreNotAskedFor) {
  TraceBuilder builder;
  builder.stream("copies").memcpy(test::kHtoD, 100, 200).record("loaded");
  builder.stream("math").wait("loaded").kernel("gemm", 200, 350);
  TempTrace file;
  builder.write(file);
  ReadOptions options;
  options.only = {"stream", "event_wait"};  // a wait names a record, which is not read
  const Trace trace = read(file, options);
  EXPECT_TRUE(trace.complete());
  EXPECT_EQ(trace.text(trace.stream.name_id[1]), "math");
  EXPECT_EQ(trace.event_wait.record_id[0], 0u);
  EXPECT_TRUE(trace.event_record.empty());
  EXPECT_TRUE(trace.op.empty());
}

TEST(Reader, ReportsProgressAndCanBeCancelled) {
  TempTrace file;
  TraceBuilder().write(file);
  double last = -1;
  read(file, {.progress = [&](double fraction) { return last = fraction, true; }});
  EXPECT_EQ(last, 1.0);
  EXPECT_THROW(read(file, {.progress = [](double) { return false; }}), Error);
}

TEST(Reader, SaysWhatIsWrongWithAFileThatIsNoTrace) {
  TempTrace file;
  EXPECT_THAT(error_of(file), HasSubstr("does not exist"));
  EXPECT_THAT(error_of(std::filesystem::temp_directory_path()), HasSubstr("is a folder"));
  EXPECT_THAT(error_of("/dev/null"), HasSubstr("not a plain file"));
  file.write_text("");
  EXPECT_THAT(error_of(file), HasSubstr("is empty"));
  file.write_text("hello");
  EXPECT_THAT(error_of(file), HasSubstr("is not a SQLite file"));
  file.write_text("  {\"traceEvents\": []}");
  EXPECT_THAT(error_of(file), AllOf(HasSubstr("looks like JSON"), HasSubstr("streamscope import")));
  file.write_text("version https://git-lfs.github.com/spec/v1\n");
  EXPECT_THAT(error_of(file), HasSubstr("git lfs pull"));
}

TEST(Reader, NamesForeignDatabases) {
  TempTrace other, nsys;
  Database(other.path(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
      .run("CREATE TABLE bookmark(url)");
  EXPECT_THAT(error_of(other), HasSubstr("database of another program"));
  Database(nsys.path(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
      .run("CREATE TABLE StringIds(id, value)");
  EXPECT_THAT(error_of(nsys), AllOf(HasSubstr("Nsight Systems"), HasSubstr("streamscope import")));
}

TEST(Reader, RefusesANewerFormat) {
  TempTrace file;
  TraceBuilder().write(file);
  Database(file.path(), SQLITE_OPEN_READWRITE).run("PRAGMA user_version = 99");
  EXPECT_THAT(error_of(file), AllOf(HasSubstr("trace format 99"), HasSubstr("newer streamscope")));
  Database(file.path(), SQLITE_OPEN_READWRITE).run("PRAGMA user_version = 0");
  EXPECT_THAT(error_of(file), HasSubstr("trace format 0"));
}

TEST(Reader, ReadsTheFirstFormatWithoutWhatCameLater) {
  TempTrace file;
  TraceBuilder().write(file);
  Database(file.path(), SQLITE_OPEN_READWRITE)
      .run(
          "PRAGMA user_version = 1; DROP TABLE timeline_point; DROP TABLE timeline;"
          "DROP VIEW v_task; DROP TABLE task; DROP TABLE task_run; DROP TABLE task_queue;"
          "INSERT INTO operation(id) VALUES (0), (1); DROP TABLE operation_dependency;"
          "CREATE TABLE operation_dependency(id INTEGER PRIMARY KEY,"
          " operation_id INTEGER REFERENCES operation(id),"
          " depends_on_operation_id INTEGER REFERENCES operation(id),"
          " inferred INTEGER, elided INTEGER);"
          "INSERT INTO operation_dependency VALUES (0, 1, 0, 0, 1)");
  const Trace trace = read(file.path());
  EXPECT_TRUE(trace.timeline.empty());
  EXPECT_TRUE(trace.task.empty());
  EXPECT_THAT(trace.operation_dependency.elided, testing::ElementsAre(1));
  EXPECT_THAT(trace.operation_dependency.elided_because, testing::ElementsAre(kNoSmall));
}

TEST(Reader, SeesThatAFileIsTruncated) {
  TempTrace file;
  TraceBuilder().write(file);
  std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) / 2);
  EXPECT_THAT(error_of(file), AllOf(HasSubstr("is truncated"), HasSubstr("record it again")));
}

TEST(Reader, RefusesIdsThatLeadNowhere) {
  for (const char* damage :
       {"UPDATE op SET stream_id = 77", "UPDATE op SET stream_id = -1",
        "UPDATE op SET name_id = 1 << 40", "UPDATE op SET name_id = 'gemm'", "UPDATE op SET id = 5",
        "DELETE FROM string WHERE id = 0", "DROP TABLE graph", "ALTER TABLE op DROP COLUMN channel",
        "UPDATE op SET id = 1 << 60"}) {
    TempTrace file;
    TraceBuilder builder;
    builder.stream("s").kernel("k", 10, 20);
    builder.write(file);
    Database(file.path(), SQLITE_OPEN_READWRITE)
        .run(std::string("PRAGMA legacy_alter_table=ON;") + damage);
    EXPECT_THAT(error_of(file), HasSubstr("is damaged")) << damage;
  }
}

TEST(Reader, TakesWhatAnOlderFileLacksForEmpty) {
  TempTrace file;
  TraceBuilder builder;
  builder.stream("s").memset(10, 20).writes(0x1000, 64);
  builder.add(GraphNode{.native_id = 5, .correlation_id = 7});
  builder.write(file);
  EXPECT_EQ(read(file).access.size(), 1u);
  Database(file.path(), SQLITE_OPEN_READWRITE)
      .run(
          "PRAGMA legacy_alter_table=ON; DROP TABLE access;"
          "ALTER TABLE graph_node DROP COLUMN correlation_id");
  const Trace trace = read(file);
  EXPECT_TRUE(trace.access.empty());
  EXPECT_EQ(trace.graph_node.correlation_id.at(0), kNoInt);
  EXPECT_EQ(trace.graph_node.native_id.at(0), 5);
}

TEST(Reader, LeavesTheFileAsItWas) {
  TempTrace file;
  TraceBuilder().write(file);
  auto before = std::filesystem::last_write_time(file.path());
  read(file);
  EXPECT_EQ(std::filesystem::last_write_time(file.path()), before);
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    EXPECT_FALSE(std::filesystem::exists(file.path().string() + suffix)) << suffix;
  }
}

}  // namespace
}  // namespace streamscope::trace
