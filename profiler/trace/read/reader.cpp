// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "reader.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <optional>

#include "table_part.h"
#include "trace/checks.h"
#include "trace/error.h"
#include "trace/sqlite/open.h"
#include "trace/sqlite/snapshot.h"
#include "trace/tables.h"
#include "vocabulary/threads.h"

namespace streamscope::trace {
namespace {

constexpr uint64_t kRowsPerPart = 1 << 16;
// From here on a thread and its connection save more than they cost.
constexpr uint64_t kFewestRowsPerThread = 4 * kRowsPerPart;
constexpr size_t kMostThreads = 8;

// The columns of a Trace by table, in the order of tables.def.
std::vector<StoredTable> tables_of(Trace& trace) {
  std::vector<StoredTable> tables;
#define STREAMSCOPE_COLUMN_TARGET(type, name) {#name, &columns.name},
#define STREAMSCOPE_TARGET(sql_name, Row, COLUMNS)            \
  {                                                           \
    Row##Columns& columns = trace.sql_name;                   \
    tables.push_back({#sql_name,                              \
                      &columns.row_count,                     \
                      block_check(TableIndex::k##Row),        \
                      {COLUMNS(STREAMSCOPE_COLUMN_TARGET)}}); \
  }
  STREAMSCOPE_TABLES(STREAMSCOPE_TARGET)
#undef STREAMSCOPE_TARGET
#undef STREAMSCOPE_COLUMN_TARGET
  return tables;
}

class Loader {
 public:
  Loader(std::unique_ptr<Database> database, const ReadOptions& options, Trace& trace)
      : file_(database->file()), options_(options), trace_(trace), tables_(tables_of(trace)) {
    if (!options.only.empty()) {
      const auto others = std::ranges::stable_partition(tables_, [&](const StoredTable& table) {
        return std::ranges::find(options.only, std::string_view(table.name)) != options.only.end();
      });
      others_.assign(others.begin(), others.end());
      tables_.erase(others.begin(), others.end());
    }
    // One transaction, so that all tables are from the same instant while the trace is being
    // recorded.
    connections_ = snapshot(std::move(database), 1);
    count_rows();
    const uint64_t threads =
        std::min<uint64_t>({processor_count(), kMostThreads, total_rows_ / kFewestRowsPerThread});
    if (threads > 1) {
      connections_[0]->run("COMMIT");
      connections_ = snapshot(std::move(connections_[0]), threads);
      count_rows();
    }
  }

  void load() {
    load_meta();
    load_strings();
    plan_parts();
    read_parts();
    for (size_t i = 0; i < tables_.size(); ++i) count_read(i);
    for (size_t i = 0; i < tables_.size(); ++i) check_ids(i);
    for (size_t i = 0; i < tables_.size(); ++i) join(i);
    if (options_.count_others) {
      for (const StoredTable& table : others_) *table.row_count = row_count(table.name).value_or(0);
    }
    check_hang_objects();
    add_losses(damage_, trace_);
    trace_.pack();
    report();
  }

 private:
  const Database& database() const { return *connections_[0]; }

  void count_rows() {
    // A row takes at least four bytes, which limits what a forged highest id can make us reserve.
    most_rows_ = static_cast<uint64_t>(database().integer("PRAGMA page_count")) *
                 static_cast<uint64_t>(database().integer("PRAGMA page_size")) / 4;
    total_rows_ = row_count("string").value_or(0);
    stored_rows_.clear();
    for (const StoredTable& table : tables_)
      total_rows_ += stored_rows_.emplace_back(row_count(table.name)).value_or(0);
  }

  // By the highest id; nothing if the table is empty.
  std::optional<uint64_t> row_count(const std::string& table) const {
    Statement statement(database(), "SELECT max(id) FROM " + table);
    if (!statement.step() || statement.is_null(0)) return std::nullopt;
    const auto most = static_cast<int64_t>(most_rows_);
    return static_cast<uint64_t>(std::clamp<int64_t>(statement.integer(0), -1, most - 1) + 1);
  }

  [[noreturn]] void damaged(const std::string& what) const {
    throw Error(file_, "is damaged: " + what, kRecordAgain);
  }

  void load_meta() {
    Statement statement(database(), "SELECT key, value FROM meta");
    while (statement.step()) {
      trace_.meta.emplace(std::string(statement.text(0)), std::string(statement.text(1)));
    }
  }

  void load_strings() {
    trace_.strings.reserve(row_count("string").value_or(0));
    Statement statement(database(), "SELECT id, value FROM string ORDER BY id");
    while (statement.step()) {
      const size_t expected = trace_.strings.size();
      if (statement.integer(0) != static_cast<int64_t>(expected) || expected >= kNoId) {
        damaged("row " + std::to_string(statement.integer(0)) +
                " of table string appears where row " + std::to_string(expected) + " is expected");
      }
      trace_.strings.emplace_back(statement.text(1));
      if (++rows_ % kRowsPerPart == 0) report();
    }
  }

  // Splits each table into parts; the last one reads to the end, wherever that is. Most tables of a
  // trace are empty.
  void plan_parts() {
    parts_.resize(tables_.size());
    for (size_t i = 0; i < tables_.size(); ++i) {
      if (!stored_rows_[i]) continue;
      uint64_t from = 0;
      for (; from + kRowsPerPart < *stored_rows_[i]; from += kRowsPerPart)
        parts_[i].push_back({.from = from, .to = from + kRowsPerPart});
      parts_[i].push_back({.from = from});
      for (size_t part = 0; part < parts_[i].size(); ++part) work_.push_back({i, part});
    }
  }

  // This thread reads too, and is the only one to report progress.
  void read_parts() {
    std::vector<std::future<void>> others;
    for (size_t i = 1; i < connections_.size(); ++i)
      others.push_back(run_beside([this, i] { read_parts_by(*connections_[i], [] {}); }));
    read_parts_by(*connections_[0], [this] { report(); });
    others.clear();
    if (failure_) std::rethrow_exception(failure_);
  }

  template <class Report>
  void read_parts_by(const Database& database, Report report_progress) {
    try {
      for (size_t next = next_++; next < work_.size(); next = next_++) {
        TablePart& part = parts_[work_[next].table][work_[next].part];
        read_part(database, tables_[work_[next].table], part);
        rows_ += part.rows;
        report_progress();
      }
    } catch (...) {
      next_ = work_.size();  // the others stop too
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  void count_read(size_t index) {
    for (const TablePart& part : parts_[index]) {
      *tables_[index].row_count += part.rows;
      damage_.add(part.damage);
    }
  }

  void join(size_t index) {
    const StoredTable& table = tables_[index];
    for (size_t column = 0; column < table.columns.size(); ++column) {
      std::visit([&](auto* target) { join_column(parts_[index], column, *target); },
                 table.columns[column].target);
    }
    parts_[index].clear();
  }

  template <class T>
  static void join_column(std::vector<TablePart>& parts, size_t column, Column<T>& target) {
    std::vector<Packed<T>> values;
    values.reserve(parts.size());
    for (TablePart& part : parts)
      values.push_back(std::move(std::get<Packed<T>>(part.columns[column].values)));
    if (!values.empty()) target = Column<T>(Packed<T>::joined(values));
  }

  // Rows of a table; nothing if it is not read.
  std::optional<uint64_t> size_of(std::string_view name) const {
    if (name == "string") return trace_.strings.size();
    for (const StoredTable& table : tables_) {
      if (table.name == name) return *table.row_count;
    }
    return std::nullopt;
  }

  // Users of a Trace index columns by ids without checks, so every id must refer to an existing
  // row.
  void check_ids(size_t index) const {
    const StoredTable& table = tables_[index];
    for (size_t column = 0; column < table.columns.size(); ++column) {
      const char* name = table.columns[column].name;
      const bool holds_ids = std::holds_alternative<Column<Id>*>(table.columns[column].target);
      const char* target = holds_ids ? referenced_table(table.name, name) : nullptr;
      const std::optional<uint64_t> size = target == nullptr ? std::nullopt : size_of(target);
      if (!size) continue;
      uint64_t most = 0;
      for (const TablePart& part : parts_[index])
        most = std::max(most, part.columns[column].ids_end);
      if (most <= *size) continue;
      damaged(std::string(table.name) + "." + name + " names row " + std::to_string(most - 1) +
              " of table " + target + ", which has " + std::to_string(*size));
    }
  }

  // The table that hang_node.object_id refers to depends on the row.
  void check_hang_objects() {
    if (!size_of("hang_node")) return;
    const HangNodeColumns& nodes = trace_.hang_node;
    for (Id row = 0; row < nodes.size(); ++row) {
      const auto size = size_of(hang_object_table(nodes.kind[row]));
      if (nodes.object_id[row] == kNoId || !size || nodes.object_id[row] < *size) continue;
      damage_.add("hang_node", row, "object_id", nodes.object_id[row]);
      trace_.hang_node.object_id[row] = kNoId;
    }
  }

  void report() const {
    if (!options_.progress) return;
    const uint64_t rows = rows_;
    double fraction =
        total_rows_ == 0 ? 1.0 : static_cast<double>(rows) / static_cast<double>(total_rows_);
    if (!options_.progress(std::min(fraction, 1.0))) throw Error(file_, "reading was cancelled");
  }

  struct Work {
    size_t table, part;
  };

  const std::filesystem::path file_;
  const ReadOptions& options_;
  Trace& trace_;
  std::vector<std::unique_ptr<Database>> connections_;
  std::vector<StoredTable> tables_, others_;
  std::vector<std::optional<uint64_t>> stored_rows_;  // by table; nothing to read in some
  std::vector<std::vector<TablePart>> parts_;         // by table
  std::vector<Work> work_;
  std::atomic<size_t> next_ = 0;  // of work_
  std::mutex mutex_;
  std::exception_ptr failure_;
  Damage damage_;
  uint64_t most_rows_ = 0;
  uint64_t total_rows_ = 0;
  std::atomic<uint64_t> rows_ = 0;
};

}  // namespace

Trace read(const std::filesystem::path& file, const ReadOptions& options) {
  Trace trace;
  trace.file = file;
  try {
    Loader(open_trace(file), options, trace).load();
  } catch (const Error& error) {
    // The only SQL here is ours, so any SQL error is the fault of the file.
    if ((error.code() & 0xff) != SQLITE_ERROR) throw;
    throw Error(file, "is damaged: " + error.cause(), kRecordAgain, error.code());
  }
#ifdef __GLIBC__
  // Otherwise the memory that the threads freed stays in their own heaps.
  malloc_trim(0);
#endif
  return trace;
}

Trace::Trace() = default;
Trace::Trace(const Trace&) = default;
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(const Trace&) = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

void Trace::pack() {
#define STREAMSCOPE_PACK(sql_name, Row, COLUMNS) sql_name.pack();
  STREAMSCOPE_TABLES(STREAMSCOPE_PACK)
#undef STREAMSCOPE_PACK
}

bool Trace::complete() const {
  auto found = meta.find("complete");
  return found != meta.end() && found->second == "1";
}

Ns Trace::end_ns() const {
  Ns last = 0;
  const auto look = [&](const Column<Ns>& column) {
    for (const Ns at : column) last = std::max(last, at);
  };
  const auto look_both = [&](const auto& table) {
    look(table.start_ns);
    look(table.end_ns);
  };
  look_both(api_call);
  look_both(op);
  look_both(event_record);
  look_both(event_wait);
  look_both(host_sync);
  look_both(range);
  look(mark.start_ns);
  return last;
}

namespace {
Id value_at(const Column<Id>& column, Id row) { return row < column.size() ? column[row] : kNoId; }
}  // namespace

Id Trace::process_of_thread(Id thread_id) const { return value_at(thread.process_id, thread_id); }

Id Trace::process_of_stream(Id stream_id) const {
  return value_at(context.process_id, value_at(stream.context_id, stream_id));
}

Id Trace::device_of_stream(Id stream_id) const {
  return value_at(context.device_id, value_at(stream.context_id, stream_id));
}

std::vector<std::string> stable_views() {
  return {"v_op",      "v_api_call",    "v_edge", "v_wait",
          "v_overlap", "v_queue_depth", "v_task", "v_critical_path"};
}

}  // namespace streamscope::trace
