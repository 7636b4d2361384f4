// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Traces whose schema contains more, or something else, than a recorder writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <iterator>

#include "query_rows.h"
#include "support/trace_builder.h"
#include "thrown.h"
#include "trace/read/reader.h"
#include "trace/sqlite/foreign_tables.h"
#include "trace/sqlite/sqlite.h"
#include "trace/write/writer.h"
#include "trace_file.h"

namespace streamscope::trace {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// As an attacker would: without our own protection.
void tamper(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, ("PRAGMA writable_schema=ON;" + sql).c_str(), nullptr, nullptr,
                         &message),
            SQLITE_OK)
      << message;
  sqlite3_free(message);
  sqlite3_close(database);
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

class HostileSchema : public testing::Test {
 protected:
  HostileSchema() {
    test::TraceBuilder builder;
    builder.stream("math").kernel("one", 100, 200).kernel("two", 200, 300);
    builder.write(file_);
  }
  TempTrace file_;
};

TEST_F(HostileSchema, ATriggerKeepsWritersAway) {
  tamper(file_, "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM op; END");
  const std::string before = bytes_of(file_);
  EXPECT_THAT(error_of([&] { Writer::open_derived(file_); }),
              AllOf(HasSubstr("has a trigger on table meta"), HasSubstr("not changed")));
  EXPECT_THAT(error_of([&] { Writer::resume(file_); }), HasSubstr("has a trigger on table meta"));
  EXPECT_TRUE(bytes_of(file_) == before);
  EXPECT_EQ(read(file_).op.size(), 2u);
}

TEST_F(HostileSchema, NoTriggerRunsOnAnyConnection) {
  tamper(file_, "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM op; END");
  Database database(file_, SQLITE_OPEN_READWRITE);
  database.run("INSERT INTO meta VALUES('new', 1)");
  EXPECT_EQ(database.integer("SELECT count(*) FROM op"), 2);
}

TEST_F(HostileSchema, OnlyOurOwnTablesAreRead) {
  const std::string others[] = {
      "DROP TABLE string; CREATE VIRTUAL TABLE string USING fts5(id, value)",
      "DROP TABLE string; CREATE VIEW string AS SELECT 0 AS id, 'x' AS value",
      "ALTER TABLE string RENAME TO other; CREATE VIEW string AS SELECT * FROM other",
      // NOLINTBEGIN(bugprone-suspicious-missing-comma)
      "UPDATE sqlite_schema SET sql = 'CREATE TABLE string(id INTEGER PRIMARY KEY, value TEXT "
      "GENERATED ALWAYS AS (hex(id)))' WHERE name = 'string'",
      "UPDATE sqlite_schema SET sql = replace(sql, 'kind INTEGER', 'kind INTEGER DEFAULT "
      "(random())') WHERE name = 'op'",
      // NOLINTEND(bugprone-suspicious-missing-comma)
      "UPDATE sqlite_schema SET sql = replace(sql, 'kind INTEGER', 'kind TEXT') WHERE name = 'op'",
      "DROP TABLE meta; CREATE TABLE meta(key TEXT PRIMARY KEY, value)",
      "DROP TABLE task; CREATE VIEW Task AS SELECT 0 AS id",
  };
  const std::string good = bytes_of(file_);
  for (const std::string& other : others) {
    TempTrace file;
    file.write_text(good);
    tamper(file, other);
    EXPECT_THAT(error_of([&] { read(file); }),
                AllOf(HasSubstr("is damaged: table"), HasSubstr("differs from StreamScope's")))
        << other;
    EXPECT_THAT(error_of([&] { Writer::open_derived(file); }),
                HasSubstr("differs from StreamScope's"))
        << other;
  }
}

TEST_F(HostileSchema, ForeignTablesInATraceAreLeftAlone) {
  tamper(file_, "CREATE TABLE notes(text); INSERT INTO notes VALUES('mine')");
  EXPECT_EQ(read(file_).op.size(), 2u);
  {
    Writer writer = Writer::open_derived(file_);
    writer.clear<Finding>();
    writer.finish(true);
  }
  EXPECT_EQ(Database(file_, SQLITE_OPEN_READONLY).text("SELECT text FROM notes"), "mine");
}

TEST_F(HostileSchema, ViewsAreThoseOfThisVersion) {
  tamper(file_,
         "DROP VIEW v_op; CREATE VIEW v_op AS SELECT 'forged' AS name;"
         "DROP VIEW StringIds; CREATE TABLE StringIds(id, value)");
  EXPECT_THAT(query_rows(file_, "SELECT name FROM v_op ORDER BY id"),
              testing::ElementsAre("one", "two"));
  EXPECT_THAT(query_rows(file_, "SELECT count(*) > 0 FROM stringids"), testing::ElementsAre("1"));
  EXPECT_THAT(error_of([&] { query_rows(file_, "SELECT name FROM main.v_op"); }),
              HasSubstr("prohibited"));
}

TEST_F(HostileSchema, ForeignViewsDoNotRun) {
  tamper(file_, "CREATE VIEW mine AS SELECT 1");
  EXPECT_THAT(error_of([&] { query_rows(file_, "SELECT * FROM mine"); }), HasSubstr("prohibited"));
}

TEST_F(HostileSchema, NoConnectionTrustsASchema) {
  Database database(file_, SQLITE_OPEN_READWRITE);
  const auto is_on = [&](int option) {
    int on = -1;
    sqlite3_db_config(database.get(), option, -1, &on);
    return on;
  };
  EXPECT_EQ(is_on(SQLITE_DBCONFIG_DEFENSIVE), 1);
  for (const int option : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                           SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER,
                           SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_ENABLE_FKEY})
    EXPECT_EQ(is_on(option), 0) << option;
  EXPECT_THAT(error_of([&] { database.run("ATTACH ':memory:' AS other"); }),
              HasSubstr("too many attached"));
  EXPECT_THAT(error_of([&] { database.run("UPDATE sqlite_schema SET sql = ''"); }),
              HasSubstr("may not be modified"));
}

}  // namespace
}  // namespace streamscope::trace
