// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "reader.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "error.h"
#include "open.h"
#include "sqlite.h"
#include "tables.h"

namespace streamscope::trace {
namespace {

constexpr uint64_t kRowsPerProgress = 1 << 16;
constexpr char kAgain[] = "record it again";

template <class T>
concept HasStarts = requires(const T& columns) {
  columns.start_ns;
};
template <class T>
concept HasEnds = requires(const T& columns) {
  columns.end_ns;
};

class Loader {
 public:
  Loader(const Database& database, const ReadOptions& options, Trace& trace)
      : database_(database), options_(options), trace_(trace) {
    // A row takes four bytes at least, which bounds what a forged highest id can make us reserve.
    most_rows_ = static_cast<uint64_t>(database.integer("PRAGMA page_count")) *
                 static_cast<uint64_t>(database.integer("PRAGMA page_size")) / 4;
  }

  void load() {
    total_rows_ = row_count("string");
    for (const TableInfo& table : tables()) total_rows_ += row_count(table.name);
    load_meta();
    load_strings();
#define STREAMSCOPE_LOAD(sql_name, Row, COLUMNS) load_table(TableIndex::k##Row, trace_.sql_name);
    STREAMSCOPE_TABLES(STREAMSCOPE_LOAD)
#undef STREAMSCOPE_LOAD
#define STREAMSCOPE_CHECK(sql_name, Row, COLUMNS) check(#sql_name, trace_.sql_name);
    STREAMSCOPE_TABLES(STREAMSCOPE_CHECK)
#undef STREAMSCOPE_CHECK
    report();
  }

 private:
  uint64_t row_count(const std::string& table) const {
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

  void expect_id(const char* table, int64_t id, size_t expected) const {
    if (id != static_cast<int64_t>(expected) || expected >= kNoId) {
      damaged(std::string("row ") + std::to_string(id) + " of table " + table +
              " stands where row " + std::to_string(expected) + " should");
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

  // sqlite3_column_int64 answers 0 for NULL, so the type is asked for only then.
  template <class T>
  T value(sqlite3_stmt* statement, int column, const char* name) const {
    int64_t value = sqlite3_column_int64(statement, column);
    if (value == 0 && sqlite3_column_type(statement, column) == SQLITE_NULL)
      return detail::none<T>();
    if constexpr (!std::is_same_v<T, Int>) {
      if (value < static_cast<int64_t>(std::numeric_limits<T>::min()) ||
          value > static_cast<int64_t>(std::numeric_limits<T>::max())) {
        damaged(std::string("column ") + name + " holds " + std::to_string(value));
      }
    }
    return static_cast<T>(value);
  }

#define STREAMSCOPE_RESERVE(type, name) columns.name.reserve(rows);
#define STREAMSCOPE_READ(type, name) \
  columns.name.push_back(value<type>(statement.get(), ++column, #name));
#define STREAMSCOPE_LOAD(sql_name, Row, COLUMNS)                                \
  void load_columns(Statement& statement, size_t rows, Row##Columns& columns) { \
    COLUMNS(STREAMSCOPE_RESERVE)                                                \
    while (statement.step()) {                                                  \
      expect_id(#sql_name, statement.integer(0), columns.row_count);            \
      int column = 0;                                                           \
      COLUMNS(STREAMSCOPE_READ)                                                 \
      columns.row_count++;                                                      \
      count_row();                                                              \
    }                                                                           \
  }
  STREAMSCOPE_TABLES(STREAMSCOPE_LOAD)
#undef STREAMSCOPE_LOAD
#undef STREAMSCOPE_READ
#undef STREAMSCOPE_RESERVE

  template <class Columns>
  void load_table(TableIndex index, Columns& columns) {
    const TableInfo& table = tables()[static_cast<size_t>(index)];
    std::string sql = "SELECT id";
    for (const ColumnInfo& column : table.columns) sql += std::string(",") + column.name;
    Statement statement(database_, sql + " FROM " + table.name + " ORDER BY id");
    load_columns(statement, row_count(table.name), columns);
  }

  size_t size_of(std::string_view table) const {
    if (table == "string") return trace_.strings.size();
#define STREAMSCOPE_SIZE(sql_name, Row, COLUMNS) \
  if (table == #sql_name) return trace_.sql_name.size();
    STREAMSCOPE_TABLES(STREAMSCOPE_SIZE)
#undef STREAMSCOPE_SIZE
    return 0;
  }

  // Whoever works on a Trace indexes columns by ids without a second look, so every id must lead
  // somewhere.
  void check_ids(const char* table, const char* column, const std::vector<Id>& ids) const {
    const char* target = referenced_table(table, column);
    if (target == nullptr) return;
    Id most = 0;
    for (Id id : ids) most = std::max(most, id + 1);  // kNoId + 1 is 0
    if (most > size_of(target)) {
      damaged(std::string(table) + "." + column + " names row " + std::to_string(most - 1) +
              " of table " + target + ", which has " + std::to_string(size_of(target)));
    }
  }
  template <class T>
  void check_ids(const char*, const char*, const std::vector<T>&) const {}

#define STREAMSCOPE_CHECK_COLUMN(type, name) check_ids(table, #name, columns.name);
#define STREAMSCOPE_CHECK(sql_name, Row, COLUMNS)                    \
  void check(const char* table, const Row##Columns& columns) const { \
    COLUMNS(STREAMSCOPE_CHECK_COLUMN)                                \
  }
  STREAMSCOPE_TABLES(STREAMSCOPE_CHECK)
#undef STREAMSCOPE_CHECK
#undef STREAMSCOPE_CHECK_COLUMN

  const Database& database_;
  const ReadOptions& options_;
  Trace& trace_;
  uint64_t most_rows_ = 0;
  uint64_t total_rows_ = 0;
  uint64_t rows_ = 0;
};

Ns latest(const std::vector<Ns>& times) {
  return times.empty() ? kUnknownNs : *std::max_element(times.begin(), times.end());
}

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

bool Trace::complete() const {
  auto found = meta.find("complete");
  return found != meta.end() && found->second == "1";
}

Ns Trace::end_ns() const {
  Ns last = 0;
  auto look = [&](const auto& columns) {
    if constexpr (HasStarts<decltype(columns)>) last = std::max(last, latest(columns.start_ns));
    if constexpr (HasEnds<decltype(columns)>) last = std::max(last, latest(columns.end_ns));
  };
  look(api_call);
  look(op);
  look(event_record);
  look(event_wait);
  look(host_sync);
  look(range);
  look(mark);
  return last;
}

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
  return {"v_op", "v_api_call", "v_edge", "v_wait", "v_overlap", "v_critical_path"};
}

}  // namespace streamscope::trace
