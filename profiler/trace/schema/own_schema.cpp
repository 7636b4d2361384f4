// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "own_schema.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <set>
#include <vector>

#include "trace/tables.h"

namespace streamscope::trace {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Without comments, and with single spaces only where two words would otherwise merge; quoted text
// is kept.
std::string condensed(std::string_view sql) {
  std::string result;
  bool space = false;
  for (size_t i = 0; i < sql.size(); ++i) {
    const bool line = sql.substr(i).starts_with("--");
    if (line || sql.substr(i).starts_with("/*")) {
      const size_t end = line ? sql.find('\n', i) : sql.find("*/", i + 2);
      if (end == sql.npos) break;
      i = line ? end : end + 1;
      space = true;
    } else if (sql[i] == '\'' || sql[i] == '"') {
      const size_t end = std::min(sql.find(sql[i], i + 1), sql.size() - 1);
      if (space && !result.empty() && is_word(result.back())) result += ' ';
      space = false;
      result += sql.substr(i, end + 1 - i);
      i = end;
    } else if (std::isspace(static_cast<unsigned char>(sql[i]))) {
      space = true;
    } else {
      const bool after_word = !result.empty() && (is_word(result.back()) || result.back() == '\'');
      if (space && after_word && is_word(sql[i])) result += ' ';
      space = false;
      result += sql[i];
    }
  }
  return result;
}

// The statement that begins at `begin`, up to its semicolon. Those in comments and in quoted text
// do not end it.
std::string_view statement_at(std::string_view sql, size_t begin) {
  size_t end = sql.find(';', begin);
  while (end < sql.size() &&
         sqlite3_complete(std::string(sql.substr(begin, end + 1 - begin)).c_str()) == 0)
    end = sql.find(';', end + 1);
  return sql.substr(begin, std::min(end, sql.size()) + 1 - begin);
}

struct ViewStatement {
  std::string_view name, sql;
};
std::vector<ViewStatement> views_of(std::string_view schema) {
  constexpr std::string_view kCreate = "\nCREATE VIEW ";
  std::vector<ViewStatement> views;
  for (size_t at = schema.find(kCreate); at != schema.npos; at = schema.find(kCreate, at + 1)) {
    const size_t name = at + kCreate.size();
    views.push_back(
        {schema.substr(name, schema.find(' ', name) - name), statement_at(schema, at + 1)});
  }
  return views;
}

// A table of ours: the statement that creates it, as stored in a file and condensed.
struct Own {
  std::string_view sql;
  std::string condensed;
};
const std::map<std::string, Own, std::less<>>& own_tables() {
  static const std::map<std::string, Own, std::less<>> kOwn = [] {
    std::map<std::string, Own, std::less<>> all;
    const auto add = [&](const char* name) {
      std::string_view sql = create_table_sql(name);
      sql.remove_suffix(1);
      all[name] = {sql, condensed(sql)};
    };
    for (const char* name : {"meta", "string"}) add(name);
    for (const TableInfo& info : tables()) add(info.name);
    return all;
  }();
  return kOwn;
}

// Files are opened often, and most tables have exactly our text.
bool is_own(const Own& own, std::string_view stored_sql) {
  return stored_sql == own.sql || condensed(stored_sql) == own.condensed;
}

// Compares names as SQLite does.
std::string lower_case(std::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

// A view of ours, and the statement that creates it in memory.
struct OwnView {
  std::string_view name;
  std::string sql;
};
const std::vector<OwnView>& own_views() {
  static const std::vector<OwnView> kViews = [] {
    std::vector<OwnView> views;
    for (const std::string_view schema : {schema_sql(), nsys_views_sql()}) {
      for (const ViewStatement& view : views_of(schema)) {
        std::string sql = condensed(view.sql);
        views.push_back({view.name, sql.insert(std::string_view("CREATE").size(), " TEMP")});
      }
    }
    return views;
  }();
  return kViews;
}

}  // namespace

std::string_view create_table_sql(std::string_view table) {
  const std::string_view schema = schema_sql();
  return statement_at(schema, schema.find("CREATE TABLE " + std::string(table) + " ("));
}

std::string create_views_sql(std::string_view table, std::string_view schema) {
  const std::regex name("\\b" + std::string(table) + "\\b");
  std::string result;
  for (const ViewStatement& view : views_of(schema)) {
    if (!std::regex_search(view.sql.begin(), view.sql.end(), name)) continue;
    result.append("DROP VIEW IF EXISTS ").append(view.name).append(";").append(view.sql);
  }
  return result;
}

void expect_own_tables(const Database& database) {
  std::set<std::string_view> seen;
  // Each statement locks the file again, so one for all.
  Statement statement(database, "SELECT name, type, sql FROM sqlite_schema");
  while (statement.step()) {
    const std::string name(statement.text(0));
    const auto own = own_tables().find(lower_case(name));
    if (own == own_tables().end() || !seen.insert(own->first).second) continue;
    if (name != own->first || statement.text(1) != "table" ||
        !is_own(own->second, statement.text(2))) {
      throw Error(database.file(),
                  "is damaged: table " + own->first + " differs from StreamScope's",
                  "record it again");
    }
  }
  for (const auto& [name, own] : own_tables()) {
    if (!seen.contains(name))
      throw Error(database.file(), "is damaged: table " + name + " is missing", "record it again");
  }
}

void expect_no_triggers(const Database& database) {
  Statement statement(database, "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger'");
  if (!statement.step()) return;
  throw Error(database.file(),
              "has a trigger on table " + std::string(statement.text(1)) +
                  ", which no recording creates, so it is not changed",
              "record it again, or remove the trigger if you know what it does");
}

void make_own_views(Database& database) {
  database.run("PRAGMA temp_store=MEMORY");
  for (const OwnView& view : own_views()) database.run(view.sql);
}

bool names_own_view(std::string_view sql) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  return std::ranges::any_of(own_views(), [&](const OwnView& view) {
    return !std::ranges::search(sql, view.name, same).empty();
  });
}

}  // namespace streamscope::trace
