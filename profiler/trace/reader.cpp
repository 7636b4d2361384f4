// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "reader.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "checks.h"
#include "error.h"
#include "last_instant.h"
#include "open.h"
#include "sqlite.h"
#include "tables.h"

namespace streamscope::trace {
namespace {

constexpr uint64_t kRowsPerProgress = 1 << 16;
constexpr char kAgain[] = "record it again";

// A column of a Trace, of whichever type.
struct ColumnTarget {
  ColumnTarget(const char* column, std::vector<Id>& ids) : name(column), ids(&ids) {}
  ColumnTarget(const char* column, std::vector<Small>& smalls) : name(column), smalls(&smalls) {}
  ColumnTarget(const char* column, std::vector<Int>& ints) : name(column), ints(&ints) {}

  void reserve(size_t rows) {
    if (ids != nullptr) ids->reserve(rows);
    if (smalls != nullptr) smalls->reserve(rows);
    if (ints != nullptr) ints->reserve(rows);
  }

  const char* name;
  std::vector<Id>* ids = nullptr;
  std::vector<Small>* smalls = nullptr;
  std::vector<Int>* ints = nullptr;
};

struct TableTarget {
  const char* name;
  size_t* row_count;
  std::vector<ColumnTarget> columns;
};

// The columns of a Trace by table, in the order of tables.def.
std::vector<TableTarget> targets_of(Trace& trace) {
  std::vector<TableTarget> targets;
#define STREAMSCOPE_COLUMN_TARGET(type, name) {#name, columns.name},
#define STREAMSCOPE_TARGET(sql_name, Row, COLUMNS)                                            \
  {                                                                                           \
    Row##Columns& columns = trace.sql_name;                                                   \
    targets.push_back({#sql_name, &columns.row_count, {COLUMNS(STREAMSCOPE_COLUMN_TARGET)}}); \
  }
  STREAMSCOPE_TABLES(STREAMSCOPE_TARGET)
#undef STREAMSCOPE_TARGET
#undef STREAMSCOPE_COLUMN_TARGET
  return targets;
}

class Loader {
 public:
  Loader(const Database& database, const ReadOptions& options, Trace& trace)
      : database_(database), options_(options), trace_(trace), targets_(targets_of(trace)) {
    if (!options.only.empty()) {
      std::erase_if(targets_, [&](const TableTarget& table) {
        return std::ranges::find(options.only, std::string_view(table.name)) == options.only.end();
      });
    }
    // A row takes four bytes at least, which bounds what a forged highest id can make us reserve.
    most_rows_ = static_cast<uint64_t>(database.integer("PRAGMA page_count")) *
                 static_cast<uint64_t>(database.integer("PRAGMA page_size")) / 4;
  }

  void load() {
    total_rows_ = row_count("string");
    for (const TableTarget& table : targets_) total_rows_ += row_count(table.name);
    load_meta();
    load_strings();
    for (TableTarget& table : targets_) load_table(table);
    for (const TableTarget& table : targets_) check_ids(table);
    check(trace_, damage_);
    check_hang_objects();
    add_losses(damage_, trace_);
    report();
  }

 private:
  uint64_t row_count(const std::string& table) const {
    if (added_later(table) && stored_columns(table).empty()) return 0;
    int64_t count = database_.integer("SELECT coalesce(max(id), -1) + 1 FROM " + table);
    return static_cast<uint64_t>(std::clamp<int64_t>(count, 0, static_cast<int64_t>(most_rows_)));
  }

  [[noreturn]] void damaged(const std::string& what) const {
    throw Error(database_.file(), "is damaged: " + what, kAgain);
  }

  void load_meta() {
    Statement statement(database_, "SELECT key, value FROM meta");
    while (statement.step()) {
      trace_.meta.emplace(std::string(statement.text(0)), std::string(statement.text(1)));
    }
  }

  void load_strings() {
    trace_.strings.reserve(row_count("string"));
    Statement statement(database_, "SELECT id, value FROM string ORDER BY id");
    while (statement.step()) {
      expect_id("string", statement.integer(0), trace_.strings.size());
      trace_.strings.emplace_back(statement.text(1));
      count_row();
    }
  }

  std::set<std::string, std::less<>> stored_columns(const std::string& table) const {
    std::set<std::string, std::less<>> names;
    Statement statement(database_, "SELECT name FROM pragma_table_info('" + table + "')");
    while (statement.step()) names.emplace(statement.text(0));
    return names;
  }

  void load_table(TableTarget& table) {
    std::string sql = "SELECT id";
    uint64_t rows = row_count(table.name);
    const std::set<std::string, std::less<>> stored = stored_columns(table.name);
    if (added_later(table.name) && stored.empty()) return;
    for (ColumnTarget& column : table.columns) {
      sql += grown_later(table.name) && !stored.contains(column.name)
                 ? ",NULL"
                 : std::string(",") + column.name;
      column.reserve(rows);
    }
    Statement statement(database_, sql + " FROM " + table.name + " ORDER BY id");
    while (statement.step()) {
      expect_id(table.name, statement.integer(0), *table.row_count);
      Cell cell{statement.get(), 0, table.name, *table.row_count};
      for (ColumnTarget& column : table.columns) {
        cell.index++;
        if (column.ids != nullptr) {
          column.ids->push_back(value<Id>(cell, column.name));
        } else if (column.smalls != nullptr) {
          column.smalls->push_back(value<Small>(cell, column.name));
        } else {
          column.ints->push_back(value<Int>(cell, column.name));
        }
      }
      ++*table.row_count;
      count_row();
    }
  }

  void expect_id(const char* table, int64_t id, size_t expected) const {
    if (id != static_cast<int64_t>(expected) || expected >= kNoId) {
      damaged(std::string("row ") + std::to_string(id) + " of table " + table +
              " stands where row " + std::to_string(expected) + " should");
    }
  }

  struct Cell {
    sqlite3_stmt* statement;
    int index;
    const char* table;
    size_t row;
  };

  // sqlite3_column_int64 answers 0 for NULL and for texts, so the type is asked for only then.
  template <class T>
  T value(const Cell& cell, const char* column) {
    const int64_t value = sqlite3_column_int64(cell.statement, cell.index);
    if (value == 0) {
      const int type = sqlite3_column_type(cell.statement, cell.index);
      if (type == SQLITE_NULL) return detail::none<T>();
      if (type != SQLITE_INTEGER) return impossible<T>(cell, column, "no integer");
    }
    // What stands for NULL in memory cannot be stored.
    if (value < int64_t{std::numeric_limits<T>::min()} ||
        value > int64_t{std::numeric_limits<T>::max()} || value == int64_t{detail::none<T>()})
      return impossible<T>(cell, column, std::to_string(value));
    return static_cast<T>(value);
  }

  template <class T>
  T impossible(const Cell& cell, const char* column, const std::string& value) {
    if constexpr (std::is_same_v<T, Id>)
      damaged("column " + std::string(column) + " of table " + cell.table + " holds " + value);
    damage_.add(cell.table, cell.row, column, value);
    return detail::none<T>();
  }

  bool is_read(std::string_view name) const {
    return name == "string" || std::ranges::any_of(targets_, [&](const TableTarget& table) {
             return table.name == name;
           });
  }

  size_t size_of(std::string_view name) const {
    if (name == "string") return trace_.strings.size();
    for (const TableTarget& table : targets_) {
      if (table.name == name) return *table.row_count;
    }
    return 0;
  }

  // Whoever works on a Trace indexes columns by ids without a second look, so every id must lead
  // somewhere.
  void check_ids(const TableTarget& table) const {
    for (const ColumnTarget& column : table.columns) {
      const char* target =
          column.ids == nullptr ? nullptr : referenced_table(table.name, column.name);
      if (target == nullptr || !is_read(target)) continue;
      Id most = 0;
      for (Id id : *column.ids) most = std::max(most, id + 1);  // kNoId + 1 is 0
      if (most <= size_of(target)) continue;
      damaged(std::string(table.name) + "." + column.name + " names row " +
              std::to_string(most - 1) + " of table " + target + ", which has " +
              std::to_string(size_of(target)));
    }
  }

  // The table that hang_node.object_id leads into depends on the row.
  void check_hang_objects() {
    HangNodeColumns& nodes = trace_.hang_node;
    for (Id row = 0; row < nodes.size(); ++row) {
      const std::string_view target = hang_object_table(nodes.kind[row]);
      if (nodes.object_id[row] == kNoId || !is_read(target) ||
          nodes.object_id[row] < size_of(target))
        continue;
      damage_.add("hang_node", row, "object_id", nodes.object_id[row]);
      nodes.object_id[row] = kNoId;
    }
  }

  void count_row() {
    if (++rows_ % kRowsPerProgress == 0) report();
  }

  void report() const {
    if (!options_.progress) return;
    double fraction =
        total_rows_ == 0 ? 1.0 : static_cast<double>(rows_) / static_cast<double>(total_rows_);
    if (!options_.progress(std::min(fraction, 1.0)))
      throw Error(database_.file(), "reading was cancelled");
  }

  const Database& database_;
  const ReadOptions& options_;
  Trace& trace_;
  std::vector<TableTarget> targets_;
  uint64_t most_rows_ = 0;
  uint64_t total_rows_ = 0;
  uint64_t rows_ = 0;
  Damage damage_;
};

}  // namespace

Trace read(const std::filesystem::path& file, const ReadOptions& options) {
  std::unique_ptr<Database> database = open_trace(file);
  Trace trace;
  trace.file = file;
  // One transaction, so that all tables are of the same instant while the trace is being recorded.
  database->run("BEGIN");
  try {
    Loader(*database, options, trace).load();
  } catch (const Error& error) {
    // The only SQL here is ours, so what SQLite has against it is the fault of the file.
    if ((error.code() & 0xff) != SQLITE_ERROR) throw;
    throw Error(file, "is damaged: " + error.cause(), kAgain, error.code());
  }
  return trace;
}

Trace::Trace() = default;
Trace::Trace(const Trace&) = default;
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(const Trace&) = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

bool Trace::complete() const {
  auto found = meta.find("complete");
  return found != meta.end() && found->second == "1";
}

Ns Trace::end_ns() const { return last_instant(*this, mark); }

Id Trace::process_of_thread(Id thread_id) const {
  return thread_id < thread.size() ? thread.process_id[thread_id] : kNoId;
}

Id Trace::process_of_stream(Id stream_id) const {
  if (stream_id >= stream.size()) return kNoId;
  Id context_id = stream.context_id[stream_id];
  return context_id < context.size() ? context.process_id[context_id] : kNoId;
}

Id Trace::device_of_stream(Id stream_id) const {
  if (stream_id >= stream.size()) return kNoId;
  Id context_id = stream.context_id[stream_id];
  return context_id < context.size() ? context.device_id[context_id] : kNoId;
}

std::vector<std::string> stable_views() {
  return {"v_op",      "v_api_call",    "v_edge", "v_wait",
          "v_overlap", "v_queue_depth", "v_task", "v_critical_path"};
}

}  // namespace streamscope::trace
