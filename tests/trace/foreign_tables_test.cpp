// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "trace/sqlite/foreign_tables.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <stdexcept>

#include "trace/error.h"
#include "trace_file.h"

namespace streamscope::trace {
namespace {

void make(const TempTrace& file, const char* sql) {
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(file.path().c_str(), &connection), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(connection, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(connection);
}

constexpr char kThings[] =
    "CREATE TABLE thing(kind, \"the \"\"name\"\"\", size);"
    "INSERT INTO thing VALUES (1, 'a', NULL), (2, 'b', 7), (1, NULL, '12');"
    "CREATE VIEW view_of_thing AS SELECT * FROM thing;";

TEST(ForeignTables, ShowEveryRowByTheNamesOfItsColumns) {
  const TempTrace file;
  make(file, kThings);
  ForeignTables tables(file);
  std::string seen;
  tables.each("thing", {"size", "the \"name\"", "color"}, [&](const ForeignRow& row) {
    EXPECT_TRUE(row.lacks(2));
    EXPECT_TRUE(row.is_null(2));
    seen += std::string(row.text(1)) + std::to_string(row.integer(0, -1)) + " ";
  });
  EXPECT_EQ(seen, "a-1 b7 12 ");
}

TEST(ForeignTables, ShowOnlyRowsWithAValue) {
  const TempTrace file;
  make(file, kThings);
  ForeignTables tables(file);
  int count = 0;
  const auto add = [&](const ForeignRow&) { ++count; };
  tables.each("thing", {"size"}, add, {{"kind", 1}});
  EXPECT_EQ(count, 2);
  tables.each("thing", {"size"}, add, {{"color", 1}});
  EXPECT_EQ(count, 2) << "no row has a value in a column that is missing";
}

TEST(ForeignTables, HaveNoRowsIfMissingOrNotATable) {
  const TempTrace file;
  make(file, kThings);
  ForeignTables tables(file);
  const auto never = [](const ForeignRow&) { FAIL(); };
  tables.each("nothing", {"size"}, never);
  tables.each("view_of_thing", {"size"}, never);
  EXPECT_FALSE(tables.was_read("thing"));
  EXPECT_EQ(tables.row_count("thing"), 3);
  EXPECT_EQ(tables.row_count("nothing"), 0);
  EXPECT_EQ(tables.highest_row("nothing"), 0);
}

TEST(ForeignTables, ReportTheHighestRowOfTablesWithRowNumbers) {
  const TempTrace file;
  make(file,
       "CREATE TABLE sparse(a); INSERT INTO sparse(rowid, a) VALUES (3, 1), (70, 2);"
       "CREATE TABLE empty(a); CREATE TABLE below(a); INSERT INTO below(rowid, a) VALUES (-5, 1);"
       "CREATE TABLE keyed(a PRIMARY KEY) WITHOUT ROWID; INSERT INTO keyed VALUES (9);");
  ForeignTables tables(file);
  EXPECT_EQ(tables.highest_row("sparse"), 70);
  for (const char* table : {"empty", "below", "keyed"}) EXPECT_EQ(tables.highest_row(table), 0);
}

TEST(ForeignTables, PropagateExceptionsOfTheReader) {
  const TempTrace file;
  make(file, kThings);
  ForeignTables tables(file);
  int count = 0;
  EXPECT_THROW(tables.each("thing", {"kind"},
                           [&](const ForeignRow&) {
                             if (++count == 2) throw std::out_of_range("enough");
                           }),
               std::out_of_range);
  EXPECT_EQ(count, 2);
  tables.each("thing", {"kind"}, [&](const ForeignRow&) { ++count; });
  EXPECT_EQ(count, 5);
}

TEST(ForeignTables, ReportTheProblemOfADamagedFile) {
  const TempTrace file;
  make(file, kThings);
  // Overwrites the root page of the table with garbage.
  ASSERT_EQ(truncate(file.path().c_str(), 8192), 0);
  std::fstream out(file.path(), std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(4096);
  out << std::string(4096, '\x55');
  out.close();
  EXPECT_THROW(
      {
        ForeignTables tables(file);
        tables.each("thing", {"kind"}, [](const ForeignRow&) {});
      },
      Error);
}

}  // namespace
}  // namespace streamscope::trace
