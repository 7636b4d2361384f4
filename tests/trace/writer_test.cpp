// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "trace/write/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <random>
#include <thread>

#include "query_rows.h"
#include "thrown.h"
#include "trace/checks.h"
#include "trace/error.h"
#include "trace/read/reader.h"
#include "trace/sqlite/sqlite.h"
#include "trace_file.h"
#include "vocabulary/wait_cause.h"

namespace streamscope::trace {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bool exists(const std::filesystem::path& file, const char* suffix) {
  return std::filesystem::exists(file.string() + suffix);
}

// Values of all widths that SQLite stores differently, NULL, and ids of rows that exist.
class RandomFields {
 public:
  explicit RandomFields(uint64_t seed) : random_(seed) {}
  void fill(Id& field) { field = one_in(4) ? kNoId : static_cast<Id>(random_() % 20); }
  void fill(Small& field) {
    field = one_in(4) ? kNoSmall : static_cast<Small>(random_() >> shift(32) >> 32);
  }
  void fill(Int& field) { field = one_in(4) ? kNoInt : static_cast<Int>(random_() >> shift(64)); }

 private:
  bool one_in(int n) { return random_() % n == 0; }
  int shift(int bits) { return static_cast<int>(random_() % bits); }
  std::mt19937_64 random_;
};

// One function per table keeps each small; together they would take a minute to compile.
#define STREAMSCOPE_FILL(type, name) fields.fill(row.name);
#define STREAMSCOPE_SAME(type, name) same = same && columns.name[i] == row.name;
#define STREAMSCOPE_HELPERS(sql_name, Row, COLUMNS)                            \
  Row random_##sql_name(RandomFields& fields) {                                \
    Row row;                                                                   \
    COLUMNS(STREAMSCOPE_FILL)                                                  \
    Damage ignored;                                                            \
    check_row(0, row, ignored);                                                \
    return row;                                                                \
  }                                                                            \
  void write_##sql_name(Writer& writer, RandomFields& fields) {                \
    for (Id i = 0; i < 20; i++) {                                              \
      EXPECT_EQ(writer.append(random_##sql_name(fields)), i);                  \
      if (i == 7) writer.flush();                                              \
    }                                                                          \
    EXPECT_EQ(writer.count<Row>(), 20u);                                       \
  }                                                                            \
  void compare_##sql_name(const Row##Columns& columns, RandomFields& fields) { \
    ASSERT_EQ(columns.size(), 20u);                                            \
    for (Id i = 0; i < 20; i++) {                                              \
      Row row = random_##sql_name(fields);                                     \
      bool same = true;                                                        \
      COLUMNS(STREAMSCOPE_SAME)                                                \
      EXPECT_TRUE(same) << #sql_name << " row " << i;                          \
    }                                                                          \
  }
STREAMSCOPE_TABLES(STREAMSCOPE_HELPERS)

TEST(Writer, KeepsEveryColumnOfEveryTable) {
  TempTrace file;
  {
    Writer writer = Writer::create(file);
    for (int i = 0; i < 20; i++) writer.intern("text " + std::to_string(i));
    RandomFields fields(1);
#define STREAMSCOPE_WRITE(sql_name, Row, COLUMNS) write_##sql_name(writer, fields);
    STREAMSCOPE_TABLES(STREAMSCOPE_WRITE)
    writer.flush();  // the end would add names of kernels to the invented ones
  }
  Trace trace = read(file);
  RandomFields fields(1);
#define STREAMSCOPE_COMPARE(sql_name, Row, COLUMNS) compare_##sql_name(trace.sql_name, fields);
  STREAMSCOPE_TABLES(STREAMSCOPE_COMPARE)
}

TEST(Writer, ReplacesRowsBeforeAndAfterTheyWereStored) {
  TempTrace file;
  Writer writer = Writer::create(file);
  writer.intern("name");
  for (Small pid = 0; pid < 3; pid++) writer.append(Process{.os_pid = pid});
  writer.update(1, Process{.os_pid = 11});
  writer.flush();
  writer.update(0, Process{.os_pid = 10});
  writer.update(0, Process{.os_pid = 20, .name_id = 0});
  writer.append(Process{.os_pid = 3});
  writer.update(3, Process{.os_pid = 33});
  writer.finish(true);
  Trace trace = read(file);
  EXPECT_THAT(trace.process.os_pid, ElementsAre(20, 11, 2, 33));
  EXPECT_EQ(trace.process.name_id[0], 0u);
}

TEST(Writer, RefusesToReplaceAMissingRow) {
  TempTrace file;
  Writer writer = Writer::create(file);
  EXPECT_THROW(writer.update(0, Process{}), Error);
}

TEST(Writer, InternsTextsAndFillsReservedOnesLater) {
  TempTrace file;
  Writer writer = Writer::create(file);
  Id early = writer.reserve_string(), late = writer.reserve_string(),
     never = writer.reserve_string();
  EXPECT_EQ(writer.intern("gemm"), writer.intern("gemm"));
  writer.set_string(early, "early");
  writer.flush();
  writer.set_string(late, "late");
  EXPECT_EQ(writer.intern("late"), late);
  EXPECT_EQ(writer.intern("?"), writer.intern("?"));
  std::string odd = "with \0 inside, \xc3\xa9 and '"s;
  writer.intern(odd);
  writer.intern("");
  writer.finish(true);
  EXPECT_THAT(read(file).strings, ElementsAre("early", "late", "?", "gemm", "?", odd, ""));
  EXPECT_NE(never, late);
}

TEST(Writer, GivesKernelsTheirShortNamesAtTheEnd) {
  TempTrace file;
  Id late;
  {
    Writer writer = Writer::create(file);
    const Id gemm = writer.intern("void blas::gemm<float>(float*)");
    writer.append(Op{.kind = kKernel, .name_id = gemm});
    writer.append(Op{.kind = kKernel, .name_id = gemm});
    writer.append(Op{.kind = kHostFunction, .name_id = writer.intern("void notify(void*)")});
    writer.append(Op{.kind = kKernel});
    late = writer.reserve_string();
    const Id op = writer.append(Op{});
    writer.flush();
    writer.update(op, Op{.kind = kKernel, .name_id = late});
    writer.flush();
    EXPECT_EQ(read(file).kernel_name.size(), 0u);
  }  // as if it were killed
  Writer writer = Writer::resume(file);
  writer.set_string(late, "relu(float*)");
  writer.append(Op{.kind = kKernel, .name_id = writer.intern("sum")});
  writer.finish(true);
  const Trace trace = read(file);
  std::vector<std::string> names;
  for (Id id = 0; id < trace.kernel_name.size(); ++id) {
    names.emplace_back(trace.text(trace.kernel_name.name_id[id]));
    names.emplace_back(trace.text(trace.kernel_name.short_id[id]));
  }
  EXPECT_THAT(names, ElementsAre("void blas::gemm<float>(float*)", "gemm", "relu(float*)", "relu",
                                 "sum", "sum"));
}

TEST(Writer, DescribesItselfInMeta) {
  TempTrace file;
  Writer writer = Writer::create(file);
  writer.set_meta("tier", "times");
  writer.append(Op{.start_ns = 5, .end_ns = 70});
  writer.append(Mark{.start_ns = 60});
  writer.flush();
  EXPECT_FALSE(read(file).complete());
  EXPECT_EQ(read(file).meta.at("finished"), "0");
  writer.finish(true);
  Trace trace = read(file);
  EXPECT_TRUE(trace.complete());
  EXPECT_EQ(trace.meta.at("finished"), "1");
  EXPECT_EQ(trace.meta.at("duration_ns"), "70");
  EXPECT_EQ(trace.meta.at("tier"), "times");
  EXPECT_EQ(trace.meta.at("format_version"), std::to_string(kFormatVersion));
  EXPECT_THAT(trace.meta.at("producer"), HasSubstr("streamscope"));
  EXPECT_GT(std::stoll(trace.meta.at("trace_start_realtime_ns")), 1'600'000'000'000'000'000);
}

TEST(Writer, LeavesOnePlainPrivateFile) {
  TempTrace file;
  Writer writer = Writer::create(file);
  writer.append(Mark{});
  writer.flush();
  EXPECT_TRUE(exists(file, "-wal"));
  writer.finish(false);
  for (const char* suffix : {"-wal", "-shm", "-journal"})
    EXPECT_FALSE(exists(file, suffix)) << suffix;
  struct stat status;
  ASSERT_EQ(stat(file.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  Database database(file.path(), SQLITE_OPEN_READONLY);
  EXPECT_EQ(database.text("PRAGMA journal_mode"), "delete");
  EXPECT_EQ(database.text("PRAGMA integrity_check"), "ok");
  EXPECT_FALSE(read(file).complete());
}

TEST(Writer, WritesEveryPageOnceIntoAFileThatNobodyReads) {
  TempTrace file;
  Writer writer = Writer::create(file, {.read_meanwhile = false});
  for (Small flush = 0; flush < 3; flush++) {
    for (Small i = 0; i < 500; i++) writer.append(Process{.os_pid = flush * 500 + i});
    writer.flush();
    for (const char* suffix : {"-wal", "-shm", "-journal"}) EXPECT_FALSE(exists(file, suffix));
  }
  writer.finish(true);
  const Trace trace = read(file);
  ASSERT_EQ(trace.process.size(), 1500u);
  EXPECT_EQ(trace.process.os_pid[1234], 1234);
  EXPECT_EQ(trace.meta.at("finished"), "1");
}

TEST(Writer, IndexesStartsOnlyWhereIdsDoNotFollowThem) {
  TempTrace file;
  Writer writer = Writer::create(file);
  for (Ns i = 0; i < 2000; i++) {
    writer.append(ApiCall{.start_ns = i});
    writer.append(Op{.start_ns = i % 2 == 0 ? i : kUnknownNs});
    writer.append(Range{.start_ns = 2000 - i});
    writer.append(Mark{.start_ns = i});
    if (i % 100 == 0) writer.flush();
  }
  for (Ns i = 0; i < 10; i++) writer.append(Loss{.start_ns = -i});
  writer.update(100, ApiCall{.start_ns = 100, .end_ns = 120});  // stays in order
  writer.update(100, Mark{.start_ns = 1999});                   // does not
  writer.finish(true);
  EXPECT_THAT(
      query_rows(
          file,
          "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY 1"),
      ElementsAre("mark_start", "range_start"));
}

TEST(Writer, CanBeReadWhileItWrites) {
  TempTrace file;
  Writer writer = Writer::create(file);
  std::atomic<bool> done = false;
  size_t last = 0, looks = 0;
  std::string failure;
  std::thread reader([&] {
    while (!done) {
      try {
        Trace trace = read(file);
        if (trace.op.size() < last) failure = "rows vanished";
        if (trace.op.size() != trace.api_call.size()) failure = "half a transaction was seen";
        last = trace.op.size();
        looks++;
      } catch (const Error& error) {
        failure = error.what();
      }
    }
  });
  for (int i = 0; i < 200; i++) {
    for (int j = 0; j < 100; j++) {
      Id call = writer.append(ApiCall{.start_ns = i});
      writer.append(Op{.start_ns = i, .api_call_id = call});
    }
    writer.flush();
  }
  while (looks == 0) std::this_thread::yield();
  done = true;
  reader.join();
  EXPECT_EQ(failure, "");
  writer.finish(true);
  EXPECT_EQ(read(file).op.size(), 20'000u);
}

TEST(Writer, FinishesWhileSomebodyReads) {
  TempTrace file;
  Writer writer = Writer::create(file);
  writer.append(Mark{.start_ns = 1});
  writer.flush();
  Database other(file.path(), SQLITE_OPEN_READONLY);
  other.run("BEGIN; SELECT count(*) FROM mark");
  writer.append(Mark{.start_ns = 2});
  writer.finish(true);
  Trace trace = read(file);
  EXPECT_TRUE(trace.complete());
  EXPECT_EQ(trace.mark.size(), 2u);
}

TEST(Writer, NeverOverwritesUnlessRequested) {
  TempTrace file;
  file.write_text("precious");
  EXPECT_THAT(error_of([&] { Writer::create(file); }),
              AllOf(HasSubstr("exists already"), HasSubstr("--force")));
  EXPECT_EQ(std::filesystem::file_size(file.path()), 8u);
  Writer::create(file, {.overwrite = true}).finish(true);
  EXPECT_TRUE(read(file).complete());
}

TEST(Writer, RefusesLinksFoldersAndReadOnlyPlaces) {
  TempTrace target, link;
  std::filesystem::create_symlink(target.path(), link.path());
  EXPECT_THAT(error_of([&] { Writer::create(link); }), HasSubstr("exists already"));
  EXPECT_THAT(error_of([&] { Writer::create(link, {.overwrite = true}); }),
              HasSubstr("not a plain file"));
  EXPECT_FALSE(std::filesystem::exists(target.path()));
  EXPECT_THAT(error_of([&] {
                Writer::create(std::filesystem::temp_directory_path(), {.overwrite = true});
              }),
              HasSubstr("not a plain file"));
  EXPECT_THAT(error_of([] { Writer::create("/nowhere/at/all.sqlite"); }),
              HasSubstr("No such file or directory"));
}

TEST(Writer, ResumesWhatAKilledWriterLeft) {
  TempTrace file;
  pid_t child = fork();
  if (child == 0) {
    Writer writer = Writer::create(file);
    writer.intern("gemm");
    for (Ns i = 0; i < 500; i++) writer.append(Op{.name_id = 0, .start_ns = i});
    writer.flush();
    for (Ns i = 0; i < 500; i++) writer.append(Op{.start_ns = i});
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));

  Trace left = read(file);
  EXPECT_EQ(left.op.size(), 500u);
  EXPECT_FALSE(left.complete());
  EXPECT_THAT(error_of([&] { Writer::open_derived(file); }), HasSubstr("not finished"));

  Writer writer = Writer::resume(file);
  EXPECT_EQ(writer.count<Op>(), 500u);
  EXPECT_EQ(writer.intern("gemm"), 0u);
  EXPECT_EQ(writer.append(Op{.start_ns = 600}), 500u);
  writer.finish(false);
  Trace trace = read(file);
  EXPECT_EQ(trace.op.size(), 501u);
  EXPECT_EQ(trace.op.start_ns[500], 600);
  EXPECT_EQ(trace.meta.at("duration_ns"), "600");
  EXPECT_FALSE(exists(file, "-wal"));
}

TEST(Writer, ReplacesDerivedTablesOfAFinishedTrace) {
  TempTrace file;
  {
    Writer writer = Writer::create(file);
    writer.append(Op{.start_ns = 1});
    writer.append(Op{.start_ns = 2});
    writer.append(Edge{.kind = kHostEdge, .from_op_id = 0, .to_op_id = 1});
    writer.finish(true);
  }
  for (int round = 0; round < 2; round++) {
    Writer writer = Writer::open_derived(file);
    writer.clear<Edge>();
    EXPECT_EQ(writer.append(Edge{.kind = kEventEdge, .from_op_id = 0, .to_op_id = 1}), 0u);
    EXPECT_EQ(writer.append(Edge{.kind = kEventEdge, .from_op_id = 0, .to_op_id = 1}), 1u);
    writer.append(Finding{.detector_id = writer.intern("missing-wait")});
    writer.flush();
    if (round == 0) continue;  // given up: nothing happens
    writer.set_meta("analysis_version", 1);
    EXPECT_THAT(read(file).edge.kind, ElementsAre(kHostEdge));  // until it is finished
    writer.finish(false);
  }
  Trace trace = read(file);
  EXPECT_TRUE(trace.complete());
  EXPECT_EQ(trace.meta.at("analysis_version"), "1");
  EXPECT_THAT(trace.edge.kind, ElementsAre(kEventEdge, kEventEdge));
  EXPECT_EQ(trace.finding.size(), 1u);
  EXPECT_EQ(trace.op.size(), 2u);
  EXPECT_EQ(trace.meta.at("duration_ns"), "2");
}

TEST(Writer, ReplacesTheViewsOfADerivedTableWithIt) {
  TempTrace file;
  { Writer::create(file).finish(true); }
  int64_t views = 0;
  {
    Database database(file.path(), SQLITE_OPEN_READWRITE);
    views = database.integer("SELECT count(*) FROM sqlite_schema WHERE type = 'view'");
    database.run("DROP VIEW v_wait; CREATE VIEW v_wait AS SELECT 'as it was' AS cause");
  }
  {
    Writer writer = Writer::open_derived(file);
    writer.clear<WaitCause>();
    writer.append(WaitCause{
        .op_id = 0, .cause = static_cast<Small>(streamscope::WaitCause::kHost), .duration_ns = 5});
    writer.finish(true);
  }
  Database after(file.path(), SQLITE_OPEN_READONLY);
  sqlite3_db_config(after.get(), SQLITE_DBCONFIG_ENABLE_VIEW, 1, nullptr);
  EXPECT_EQ(after.integer("SELECT count(*) FROM v_wait WHERE cause = 'host' AND duration_ns = 5"),
            1);
  EXPECT_EQ(after.integer("SELECT count(*) FROM sqlite_schema WHERE type = 'view'"), views);
}

// A file size limit replaces a full disk: writes fail in the same way.
TEST(Writer, ReportsAFullDiskAndKeepsWhatItStored) {
  TempTrace file;
  pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    Writer writer = Writer::create(file);
    rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string message = error_of([&] {
      for (int i = 0; i < 100; i++) {
        for (Ns j = 0; j < 2000; j++)
          writer.append(Op{.start_ns = i * 1000 + j, .end_ns = i * 1000 + j});
        writer.flush();
      }
    });
    _exit(message.find("cannot be written") != message.npos &&
                  message.find("free space") != message.npos
              ? 0
              : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_GE(read(file).op.size(), 2000u);
  EXPECT_EQ(read(file).op.size() % 2000, 0u);
}

TEST(Writer, LeavesNoPartialFileBehind) {
  TempTrace file;
  pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {20'000, 20'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string message = error_of([&] { Writer::create(file); });
    _exit(message == "no error" ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    EXPECT_FALSE(exists(file, suffix)) << suffix;
}

}  // namespace
}  // namespace streamscope::trace
