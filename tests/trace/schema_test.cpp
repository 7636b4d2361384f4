// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// schema.sql, tables.def and the enumerations of model.h define the same three times; this compares
// them.
#include "trace/schema/schema.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "ring/calls.h"
#include "ring/losses.h"
#include "trace/loss.h"
#include "trace/read/reader.h"
#include "trace/schema/own_schema.h"
#include "trace/sqlite/sqlite.h"
#include "trace/tables.h"
#include "vocabulary/copy_kind.h"
#include "vocabulary/wait_cause.h"

namespace streamscope::trace {
namespace {

class Schema : public testing::Test {
 protected:
  Schema() : database_(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) {
    database_.run(std::string(schema_sql()) + std::string(nsys_views_sql()));
  }
  std::vector<std::string> column_of(const std::string& sql, int column) {
    std::vector<std::string> texts;
    Statement statement(database_, sql);
    while (statement.step()) texts.emplace_back(statement.text(column));
    return texts;
  }
  // The comment after a column, its continuation lines included.
  std::string comment(const std::string& table, const std::string& column) {
    std::string sql = database_.text("SELECT sql FROM sqlite_schema WHERE name = '" + table + "'");
    std::smatch match;
    std::regex pattern("\n  " + column + " INTEGER[^-]*-- ([^\n]*(\n {20,}-- [^\n]*)*)");
    EXPECT_TRUE(std::regex_search(sql, match, pattern)) << table << "." << column;
    return std::regex_replace(match[1].str(), std::regex("\n *-- "), " ");
  }
  template <class Enum>
  void expect_same_names(const std::string& table, const std::string& column, int count) {
    std::string text = comment(table, column);
    for (int i = 0; i <= count; i++) {
      std::string name(to_string(static_cast<Enum>(i)));
      std::string entry = std::to_string(i) + " " + name;
      bool found = std::regex_search(text, std::regex("(^|[^0-9])" + entry + "($|[ ,;(])"));
      EXPECT_EQ(found, i < count) << table << "." << column << ": '" << entry << "' in: " << text;
    }
  }
  Database database_;
};

TEST_F(Schema, HasExactlyTheTablesOfTheDefinitionPlusStringAndMeta) {
  std::set<std::string> expected = {"meta", "string"};
  for (const TableInfo& table : tables()) expected.insert(table.name);
  auto names = column_of("SELECT name FROM sqlite_schema WHERE type = 'table'", 0);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), expected);
}

TEST_F(Schema, HasTheColumnsOfTheDefinitionInItsOrder) {
  for (const TableInfo& table : tables()) {
    std::vector<std::string> expected = {"id"};
    for (const ColumnInfo& column : table.columns) expected.push_back(column.name);
    std::string pragma = "PRAGMA table_info(" + std::string(table.name) + ")";
    EXPECT_EQ(column_of(pragma, 1), expected) << table.name;
    for (const std::string& type : column_of(pragma, 2)) EXPECT_EQ(type, "INTEGER") << table.name;
  }
}

TEST_F(Schema, ReferencesTheTablesThatTheReaderChecksAgainst) {
  for (const TableInfo& table : tables()) {
    std::map<std::string, std::string> declared;
    Statement keys(database_, "PRAGMA foreign_key_list(" + std::string(table.name) + ")");
    while (keys.step()) declared[std::string(keys.text(3))] = keys.text(2);
    for (const ColumnInfo& column : table.columns) {
      const char* target =
          column.type == ColumnType::kId ? referenced_table(table.name, column.name) : nullptr;
      EXPECT_EQ(declared[column.name], target == nullptr ? "" : target)
          << table.name << "." << column.name;
    }
  }
}

TEST_F(Schema, DescribesEveryTableColumnAndView) {
  Statement objects(database_, "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL");
  while (objects.step()) {
    std::string type(objects.text(0)), name(objects.text(1)), sql(objects.text(2));
    std::regex head(type == "table" ? "CREATE TABLE \\w+ \\(\n  -- \\w[^]*"
                                    : "CREATE VIEW [^-]* AS\n  -- \\w[^]*");
    EXPECT_TRUE(std::regex_match(sql, head)) << name;
    if (type != "table") continue;
    for (const std::string& column : column_of("PRAGMA table_info(" + name + ")", 1)) {
      std::regex line("\n  " + column + "( [^\n]*)? +-- \\S[^\n]*");
      EXPECT_TRUE(std::regex_search(sql, line)) << name << "." << column;
    }
  }
}

TEST_F(Schema, ListsTheNumbersOfTheEnumerations) {
  expect_same_names<OpKind>("op", "kind", kGraphLaunch + 1);
  expect_same_names<StreamKind>("stream", "kind", kUnknownStream + 1);
  expect_same_names<Binding>("event_wait", "binding", kUnknownHistory + 1);
  expect_same_names<HostSyncKind>("host_sync", "kind", kSynchronousCopy + 1);
  expect_same_names<EdgeKind>("edge", "kind", kMemoryEdge + 1);
  for (size_t i = 0; i < kWaitCauses.size(); ++i) {
    const std::string entry = std::to_string(i) + " " + std::string(kWaitCauses[i].stored);
    EXPECT_NE(comment("wait_cause", "cause").find(entry), std::string::npos) << entry;
  }
  expect_same_names<Severity>("loss", "severity", static_cast<int>(Severity::kError) + 1);
  std::string directions = comment("op", "detail");
  for (Small i = 0; i <= 10; i++) {
    std::string entry = std::to_string(i) + " " + std::string(copy_kind_name(i));
    EXPECT_NE(directions.find(entry), std::string::npos) << entry;
  }
  EXPECT_EQ(copy_kind_name(14), "unknown");
  EXPECT_EQ(to_string(static_cast<OpKind>(-1)), "unknown");
}

TEST(CopyKinds, HaveTheNumbersOfTheirNames) {
  const auto name = [](CopyKind kind) { return copy_kind_name(static_cast<Small>(kind)); };
  EXPECT_EQ(name(CopyKind::kHostToDevice), "HtoD");
  EXPECT_EQ(name(CopyKind::kArrayToHost), "AtoH");
  EXPECT_EQ(name(CopyKind::kHostToHost), "HtoH");
  EXPECT_EQ(name(CopyKind::kPeer), "PtoP");
  EXPECT_EQ(name(CopyKind::kPagesBetweenDevices), "pages DtoD");
  EXPECT_FALSE(is_migration(static_cast<Small>(CopyKind::kPeer)));
  EXPECT_TRUE(is_migration(static_cast<Small>(CopyKind::kPagesToDevice)));
  EXPECT_FALSE(is_migration(kNoSmall));
}

TEST_F(Schema, NumbersTheKindsOfCallsLikeTheRings) {
  std::string kinds = comment("api_call", "kind");
  std::string last = std::to_string(static_cast<int>(CallKind::kModuleLoad));
  EXPECT_TRUE(kinds.ends_with(" " + last + " module_load")) << kinds;
  EXPECT_NE(kinds.find("0 other, 1 launch, 2 memcpy"), std::string::npos);
  std::string record = std::to_string(static_cast<int>(CallKind::kEventRecord));
  EXPECT_NE(kinds.find(" " + record + " event_record,"), std::string::npos);
  // The view gives a name to every number that the column may hold.
  std::string view = database_.text("SELECT sql FROM sqlite_schema WHERE name = 'v_api_call'");
  std::regex entry("([0-9]+) (\\w+)");
  for (std::sregex_iterator it(kinds.begin(), kinds.end(), entry), end; it != end; ++it) {
    std::string when = "WHEN " + (*it)[1].str() + " THEN '" + (*it)[2].str() + "'";
    EXPECT_NE(view.find(when), std::string::npos) << when;
  }
}

TEST_F(Schema, HasTheStableViews) {
  auto views =
      column_of("SELECT name FROM sqlite_schema WHERE type = 'view' AND name GLOB 'v_*'", 0);
  EXPECT_EQ(views, stable_views());
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_ENABLE_VIEW, 1, nullptr);
  for (const std::string& view : views) {
    EXPECT_EQ(database_.integer("SELECT count(*) FROM " + view), 0) << view;
  }
}

TEST(ViewsOfATable, EndAtTheirOwnSemicolon) {
  const std::string view =
      "CREATE VIEW v_op (id, text) AS\n  -- Every op;\n  -- with a text.\n  SELECT id, ';\n' FROM "
      "op;";
  const std::string other = "CREATE VIEW v_operation (id) AS\n  SELECT id FROM operation;";
  EXPECT_EQ(create_views_sql("op", "-- Views\n" + view + "\n\n" + other + "\n"),
            "DROP VIEW IF EXISTS v_op;" + view);
}

TEST(Loss, KnowsEveryKindThatACollectorReports) {
  std::set<std::string_view> names;
  for (const LossInfo& kind : loss_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name << " is there twice";
    EXPECT_FALSE(kind.meaning.empty()) << kind.name;
  }
  uint16_t number = 1;
  for (; number < 1000; number++) {
    const std::string_view reported = ring::loss_name(static_cast<ring::Loss>(number));
    if (reported.empty()) break;
    EXPECT_TRUE(names.contains(reported)) << reported;
  }
  EXPECT_EQ(number, static_cast<uint16_t>(ring::Loss::kNotObserved) + 1);
  EXPECT_EQ(loss_info("never-heard-of").severity, Severity::kDataLoss);
}

}  // namespace
}  // namespace streamscope::trace
