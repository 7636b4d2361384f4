// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "trace/read/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "support/sanitized.h"
#include "support/trace_builder.h"
#include "trace/error.h"
#include "trace/sqlite/sqlite.h"
#include "trace/write/writer.h"
#include "trace_file.h"

namespace streamscope::trace {
namespace {

using test::TraceBuilder;
using testing::AllOf;
using testing::HasSubstr;

std::string error_reading(const std::filesystem::path& file) {
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

TEST(Reader, SkipsTablesThatAreNotRequested) {
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

TEST(Reader, ReportsWhyAFileIsNotATrace) {
  TempTrace file;
  EXPECT_THAT(error_reading(file), HasSubstr("does not exist"));
  EXPECT_THAT(error_reading(std::filesystem::temp_directory_path()), HasSubstr("is a folder"));
  EXPECT_THAT(error_reading("/dev/null"), HasSubstr("not a plain file"));
  file.write_text("");
  EXPECT_THAT(error_reading(file), HasSubstr("is empty"));
  file.write_text("hello");
  EXPECT_THAT(error_reading(file), HasSubstr("is not a SQLite file"));
  file.write_text("  {\"traceEvents\": []}");
  EXPECT_THAT(error_reading(file),
              AllOf(HasSubstr("looks like JSON"), HasSubstr("streamscope import")));
  file.write_text("version https://git-lfs.github.com/spec/v1\n");
  EXPECT_THAT(error_reading(file), HasSubstr("git lfs pull"));
}

TEST(Reader, NamesForeignDatabases) {
  TempTrace other, nsys;
  Database(other.path(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
      .run("CREATE TABLE bookmark(url)");
  EXPECT_THAT(error_reading(other), HasSubstr("database of another program"));
  Database(nsys.path(), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
      .run("CREATE TABLE StringIds(id, value)");
  EXPECT_THAT(error_reading(nsys),
              AllOf(HasSubstr("Nsight Systems"), HasSubstr("streamscope import")));
}

TEST(Reader, RefusesANewerFormat) {
  TempTrace file;
  TraceBuilder().write(file);
  Database(file.path(), SQLITE_OPEN_READWRITE).run("PRAGMA user_version = 99");
  EXPECT_THAT(error_reading(file),
              AllOf(HasSubstr("trace format 99"), HasSubstr("newer streamscope")));
  Database(file.path(), SQLITE_OPEN_READWRITE).run("PRAGMA user_version = 0");
  EXPECT_THAT(error_reading(file), HasSubstr("trace format 0"));
}

TEST(Reader, RefusesAFileOfAnUnreleasedVersion) {
  TempTrace file;
  TraceBuilder().write(file);
  Database(file.path(), SQLITE_OPEN_READWRITE)
      .run("PRAGMA application_id = " + std::to_string(kUnreleasedApplicationId));
  EXPECT_THAT(error_reading(file),
              AllOf(HasSubstr("before the first release"), HasSubstr("record it again")));
}

TEST(Reader, DetectsATruncatedFile) {
  TempTrace file;
  TraceBuilder().write(file);
  std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) / 2);
  EXPECT_THAT(error_reading(file), AllOf(HasSubstr("is truncated"), HasSubstr("record it again")));
}

TEST(Reader, RefusesDanglingIds) {
  for (const char* damage :
       {"UPDATE op SET stream_id = 77", "UPDATE op SET stream_id = -1",
        "UPDATE op SET name_id = 1 << 40", "UPDATE op SET name_id = 'gemm'", "UPDATE op SET id = 5",
        "DELETE FROM string WHERE id = 0", "DROP TABLE graph", "DROP TABLE access",
        "ALTER TABLE op DROP COLUMN channel", "ALTER TABLE graph_node DROP COLUMN call_number",
        "UPDATE op SET id = 1 << 60"}) {
    TempTrace file;
    TraceBuilder builder;
    builder.stream("s").kernel("k", 10, 20);
    builder.write(file);
    Database(file.path(), SQLITE_OPEN_READWRITE)
        .run(std::string("PRAGMA legacy_alter_table=ON;") + damage);
    EXPECT_THAT(error_reading(file), HasSubstr("is damaged")) << damage;
  }
}

// Large enough for several threads and many parts.
constexpr Id kManyRows = test::kSanitized ? 300'000 : 600'000, kManyOps = kManyRows / 2;

void write_many(const std::filesystem::path& file) {
  Writer writer = Writer::create(file);
  writer.append(Process{.os_pid = 1});
  writer.append(Thread{.process_id = 0});
  for (Id i = 0; i < kManyRows; ++i) {
    writer.append(ApiCall{.thread_id = 0, .start_ns = 10 * Ns{i}, .end_ns = 10 * Ns{i} + 5});
    if (i % 2 == 0) writer.append(Op{.kind = kKernel, .api_call_id = i, .channel = 3});
    if (writer.buffered_bytes() > (16 << 20)) writer.flush();
  }
  writer.finish(true);
}

TEST(Reader, ReadsLargeTablesInParts) {
  TempTrace file;
  write_many(file);
  double last = 0;
  const Trace trace = read(file, {.progress = [&](double fraction) {
                             EXPECT_GE(fraction, last);
                             last = fraction;
                             return true;
                           }});
  EXPECT_EQ(last, 1);
  ASSERT_EQ(trace.api_call.size(), kManyRows);
  ASSERT_EQ(trace.op.size(), kManyOps);
  for (Id i = 0; i < kManyRows; ++i) ASSERT_EQ(trace.api_call.start_ns[i], 10 * Ns{i});
  for (Id i = 0; i < kManyOps; ++i) ASSERT_EQ(trace.op.api_call_id[i], 2 * i);
  EXPECT_EQ(trace.op.channel[kManyOps - 1], 3);
  EXPECT_EQ(trace.op.bytes[12'345], kNoInt);

  const auto cancel = [](double fraction) { return fraction < 0.5; };
  EXPECT_THROW((void)read(file, {.progress = cancel}), Error);
}

TEST(Reader, DetectsDamageInAnyPartOfALargeTable) {
  TempTrace file;
  write_many(file);
  const auto change = [&](const std::string& sql) {
    Database(file.path(), SQLITE_OPEN_READWRITE).run(sql);
  };
  constexpr Id kLate = kManyOps - 10'000;
  const std::string late = std::to_string(kLate);
  change("UPDATE op SET kind = 99 WHERE id IN (70000, " + late + ", " +
         std::to_string(kManyOps - 1) + ")");
  const Trace trace = read(file);
  EXPECT_EQ(trace.op.kind[kLate], kNoSmall);
  ASSERT_EQ(trace.loss.size(), 1u);
  EXPECT_EQ(trace.loss.count[0], 3);
  EXPECT_THAT(trace.text(trace.loss.detail_id[0]), HasSubstr("row 70000, kind = 99"));
  change("UPDATE op SET api_call_id = 600000 WHERE id = 131072");
  EXPECT_THAT(error_reading(file), HasSubstr("op.api_call_id names row 600000"));
  change("UPDATE op SET api_call_id = 0 WHERE id = 131072");
  change("DELETE FROM op WHERE id = 131071");  // the last one of a part
  EXPECT_THAT(error_reading(file), HasSubstr("row 131071 of table op is missing"));
  change("DELETE FROM op WHERE id = " + late);
  change("INSERT INTO op (id) VALUES (131071)");
  EXPECT_THAT(error_reading(file),
              HasSubstr("row " + std::to_string(kLate + 1) + " of table op appears where row " +
                        late + " is expected"));
}

TEST(Reader, CountsTheRowsOfTablesThatItDoesNotRead) {
  TraceBuilder builder;
  builder.stream("math").kernel("gemm", 200, 350).kernel("relu", 400, 450);
  TempTrace file;
  builder.write(file);
  const Trace trace = read(file, {.only = {"stream"}, .count_others = true});
  EXPECT_EQ(trace.stream.size(), 1u);
  EXPECT_EQ(trace.stream.generation[0], 0);
  EXPECT_EQ(trace.op.size(), 2u);
  EXPECT_EQ(trace.op.start_ns[1], kUnknownNs);
}

// Each flush adds as many calls as ops, so every instant of the file has as many of both.
TEST(Reader, ReadsOneInstantWhileTheTraceGrows) {
  constexpr Id kSome = test::kSanitized ? 200'000 : 400'000;  // when it is read first
  TempTrace file;
  Writer writer = Writer::create(file);
  writer.append(Process{.os_pid = 1});
  writer.append(Thread{.process_id = 0});
  std::atomic<bool> done = false;
  std::atomic<Id> rows = 0;
  std::thread recorder([&] {
    while (!done && rows < (test::kSanitized ? 4 : 10) * kSome) {
      for (Id i = 0; i < 50'000; ++i) {
        writer.append(ApiCall{.thread_id = 0, .start_ns = Ns{rows}});
        writer.append(Op{.kind = kKernel, .api_call_id = rows++});
      }
      writer.flush();
    }
  });
  while (rows < kSome) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) {
    const Trace trace = read(file);
    EXPECT_GE(trace.op.size(), kSome - 100'000);
    EXPECT_EQ(trace.op.size(), trace.api_call.size());
    EXPECT_EQ(trace.op.api_call_id[trace.op.size() - 1], trace.op.size() - 1);
  }
  done = true;
  recorder.join();
}

TEST(Reader, LeavesTheFileUnchanged) {
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
