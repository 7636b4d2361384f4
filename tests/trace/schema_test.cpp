// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// schema.sql, tables.def and the vocabulary describe the same columns; this compares them.
#include "trace/schema/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ring/losses.h"
#include "support/golden.h"
#include "trace/loss.h"
#include "trace/read/reader.h"
#include "trace/schema/formats.h"
#include "trace/schema/own_schema.h"
#include "trace/schema/stored_terms.h"
#include "trace/sqlite/sqlite.h"
#include "trace/tables.h"

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

// The tables without their comments, then the numbers and names that they store.
std::string definition(const std::vector<std::string>& tables) {
  std::string text;
  for (const std::string& sql : tables)
    text += std::regex_replace(sql, std::regex(" *--[^\n]*"), "") + ";\n";
  text = std::regex_replace(text, std::regex("\n( *\n)+"), "\n");
  for (const StoredTerms& stored : kStoredTerms) {
    text.append(stored.table).append(".").append(stored.column).append(":");
    for (const Term& term : stored.terms)
      text.append(" ").append(std::to_string(term.number)).append(" ").append(term.name);
    text += "\n";
  }
  return text;
}

using SchemaGolden = Schema;

TEST_F(SchemaGolden, IsThatOfItsFormat) {
  const Format& format = kFormats.back();
  const std::string name = "trace/format-" + std::to_string(format.number) + ".txt";
  if (!format.first_release.empty() && std::getenv("STREAMSCOPE_UPDATE_GOLDEN"))
    GTEST_SKIP() << name << " is released and stays";
  test::expect_golden(
      name, definition(column_of("SELECT sql FROM sqlite_schema WHERE type = 'table'", 0)));
  if (HasFailure() && !format.first_release.empty()) {
    ADD_FAILURE() << "StreamScope " << format.first_release << " was released with format "
                  << format.number << ": raise kFormatVersion, add the new format to formats.h, "
                  << "then target update-golden";
  }
}

TEST_F(SchemaGolden, IsKeptForEveryFormat) {
  int number = 0;
  for (const Format& format : kFormats) {
    EXPECT_EQ(format.number, ++number) << "formats.h";
    EXPECT_TRUE(!format.first_release.empty() || number == kFormatVersion)
        << "formats.h: format " << number << " was replaced, but is in no release";
    EXPECT_TRUE(std::filesystem::exists(std::string(STREAMSCOPE_GOLDEN_DIR) + "/trace/format-" +
                                        std::to_string(number) + ".txt"));
  }
  EXPECT_NE(schema_sql().find("format version " + std::to_string(kFormatVersion) + ":"),
            std::string::npos);
}

TEST_F(Schema, ListsEveryValueOfTheVocabulary) {
  for (const StoredTerms& stored : kStoredTerms) {
    const std::string table(stored.table), column(stored.column);
    const bool by_name = stored.form == StoredTerms::kName;
    const std::string text =
        by_name ? database_.text("SELECT sql FROM sqlite_schema WHERE name = '" + table + "'")
                : comment(table, column);
    if (text.ends_with("numbered as event_wait.binding")) continue;
    for (const Term& term : stored.terms) {
      std::string entry(term.name);
      if (!by_name) {
        entry = std::to_string(term.number) + " " + entry;
        if (!term.meaning.empty()) entry.append(" (").append(term.meaning).append(")");
      }
      const size_t at = text.find(entry);
      ASSERT_NE(at, text.npos) << table << "." << column << ": '" << entry << "' in: " << text;
      EXPECT_TRUE(at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0) << entry;
    }
  }
}

TEST_F(Schema, LeavesNothingToReplace) {
  for (const std::string& sql : column_of("SELECT coalesce(sql, '') FROM sqlite_schema", 0))
    EXPECT_EQ(sql.find_first_of("{}"), sql.npos) << sql;
}

TEST_F(Schema, NamesEveryValueInItsViews) {
  const auto view = [&](const std::string& name) {
    return database_.text("SELECT sql FROM sqlite_schema WHERE name = '" + name + "'");
  };
  const std::pair<const char*, Terms> kViews[] = {
      {"v_op", kOpKinds},
      {"v_op", kCopyKinds},
      {"v_api_call", kCallKinds},
      {"v_edge", kEdgeKinds},
      {"v_wait", kWaitCauses},
      {"v_api_call", kHostSyncCalls},
      {"v_critical_path", kPathStepKinds},
  };
  for (const auto& [name, terms] : kViews) {
    for (const Term& term : terms) {
      const std::string when =
          "WHEN " + std::to_string(term.number) + " THEN '" + std::string(term.name) + "'";
      EXPECT_NE(view(name).find(when), std::string::npos) << name << ": " << when;
    }
  }
}

// The compiler writes a value that has no enumerator as a number in parentheses.
template <auto kValue>
constexpr bool has_enumerator() {
  constexpr std::string_view kText = __PRETTY_FUNCTION__;
  return kText.substr(kText.rfind("kValue = ") + 9, 1) != "(";
}
template <class Enum, int... kNumbers>
void expect_terms(Terms terms, int besides, std::integer_sequence<int, kNumbers...>) {
  const auto check = [&](int number, bool exists) {
    const bool listed = std::ranges::count(terms, number, &Term::number) == 1;
    EXPECT_EQ(listed, exists && number != besides) << terms.front().name << ", " << number;
  };
  (check(kNumbers, has_enumerator<static_cast<Enum>(kNumbers)>()), ...);
}
/// `besides`: an enumerator that is never stored.
template <class Enum>
void expect_terms(Terms terms, int besides = -1) {
  static_assert(std::is_enum_v<Enum>);  // rows have some of these names, too
  expect_terms<Enum>(terms, besides, std::make_integer_sequence<int, 64>());
}

TEST(Terms, AreThoseOfTheEnumerations) {
  expect_terms<AccessKind>(kAccessKinds);
  expect_terms<AccessSource>(kAccessSources);
  expect_terms<AllocationKind>(kAllocationKinds);
  expect_terms<AllocationKind>(kMemoryPools);
  expect_terms<Binding>(kBindings);
  expect_terms<CallKind>(kCallKinds);
  expect_terms<Confidence>(kConfidences);
  expect_terms<CopyKind>(kCopyKinds);
  expect_terms<EdgeKind>(kEdgeKinds);
  expect_terms<FindingSeverity>(kFindingSeverities);
  expect_terms<FrameKind>(kFrameKinds);
  expect_terms<HangEdgeKind>(kHangEdgeKinds);
  expect_terms<HangNodeKind>(kHangNodeKinds);
  expect_terms<HostSyncKind>(kHostSyncCalls);
  expect_terms<HostSyncKind>(kHostSyncKinds);
  expect_terms<IterationSource>(kIterationSources, static_cast<int>(IterationSource::kNone));
  expect_terms<KernelSignals>(kKernelSignals);
  expect_terms<MemoryKind>(kMemoryKinds);
  expect_terms<OpKind>(kOpKinds);
  expect_terms<OperationState>(kOperationStates);
  expect_terms<Outcome>(kOutcomes);
  expect_terms<PathStepKind>(kPathStepKinds);
  expect_terms<PoolKind>(kPoolKinds);
  expect_terms<ProbeKind>(kProbeKinds);
  expect_terms<ProcessClock>(kProcessClocks);
  expect_terms<RangeKind>(kRangeKinds);
  expect_terms<RecordFlag>(kRecordFlags);
  expect_terms<Severity>(kSeverities);
  expect_terms<StreamKind>(kStreamKinds);
  expect_terms<SyncAct>(kSyncActs);
  expect_terms<Tier>(kTiers);
  expect_terms<TimelineAct>(kTimelineActs);
  expect_terms<streamscope::WaitCause>(kShownWaitCauses);
  expect_terms<streamscope::WaitCause>(kWaitCauses);
}

TEST(Terms, HaveNoGaps) {
  for (const StoredTerms& stored : kStoredTerms) {
    int32_t number = stored.terms.front().number;
    for (const Term& term : stored.terms) {
      EXPECT_EQ(term.number, number++) << stored.table << "." << stored.column;
      EXPECT_EQ(name_of(stored.terms, term.number), term.name);
    }
    EXPECT_EQ(name_of(stored.terms, number), "unknown");
    EXPECT_EQ(name_of(stored.terms, stored.terms.front().number - 1), "unknown");
  }
  EXPECT_EQ(copy_kind_name(kNoSmall), "unknown");
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
