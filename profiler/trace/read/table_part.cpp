// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "table_part.h"

#include <algorithm>
#include <array>
#include <exception>
#include <limits>

namespace streamscope::trace {
namespace {

constexpr size_t kBlock = Packed<Int>::kBlock;

[[noreturn]] void damaged(const Database& database, const std::string& what) {
  throw Error(database.file(), "is damaged: " + what, kRecordAgain);
}

// Receives the rows of a SELECT as the arguments of an aggregate function, so that values need not
// pass through a result row. Collects a block of every column, then packs it.
class Sink {
 public:
  Sink(const Database& database, const StoredTable& table, TablePart& part)
      : database_(database), table_(table), part_(part), block_(table.columns.size()) {
    for (const StoredColumn& column : table.columns) {
      part.columns.push_back(std::visit(
          [](auto* target) {
            return ColumnPart{
                Packed<typename std::remove_pointer_t<decltype(target)>::value_type>()};
          },
          column.target));
    }
  }

  void take(sqlite3_value** values) {
    const int64_t id = sqlite3_value_int64(values[0]);
    const uint64_t expected = part_.from + part_.rows;
    if (id != static_cast<int64_t>(expected) || expected >= kNoId) {
      damaged(database_, "row " + std::to_string(id) + " of table " + table_.name +
                             " appears where row " + std::to_string(expected) + " is expected");
    }
    for (size_t i = 0; i < block_.size(); ++i)
      block_[i][filled_] =
          std::visit([&](auto* target) { return value_of(*target, values[i + 1], i); },
                     table_.columns[i].target);
    ++part_.rows;
    if (++filled_ == kBlock) close_block();
  }

  void finish() {
    if (filled_ > 0) close_block();
    for (ColumnPart& column : part_.columns)
      std::visit([](auto& values) { values.finish(); }, column.values);
  }

  // The exception that take() threw, which must not pass through SQLite.
  std::exception_ptr failure;

 private:
  // In 64 bits, kNoInt for NULL and for impossible values.
  template <class T>
  Int value_of(const Column<T>&, sqlite3_value* cell, size_t column) {
    // This is 0 for NULL and for texts, so the type is checked only then.
    const int64_t value = sqlite3_value_int64(cell);
    if (value == 0) {
      const int type = sqlite3_value_type(cell);
      if (type == SQLITE_NULL) return kNoInt;
      if (type != SQLITE_INTEGER) return impossible<T>(column, "no integer");
    }
    // The value that represents NULL in memory cannot be stored.
    if (value < int64_t{std::numeric_limits<T>::min()} ||
        value > int64_t{std::numeric_limits<T>::max()} || value == int64_t{detail::none<T>()})
      return impossible<T>(column, std::to_string(value));
    return value;
  }

  template <class T>
  Int impossible(size_t column, const std::string& value) {
    const char* name = table_.columns[column].name;
    if constexpr (std::is_same_v<T, Id>)
      damaged(database_,
              std::string("column ") + name + " of table " + table_.name + " holds " + value);
    part_.damage.add(table_.name, part_.from + part_.rows, name, value);
    return kNoInt;
  }

  void close_block() {
    std::array<Int*, kMostColumns> columns;
    for (size_t i = 0; i < block_.size(); ++i) columns[i] = block_[i].data();
    table_.check(columns.data(), filled_, part_.from + part_.rows - filled_, part_.damage);
    for (size_t i = 0; i < block_.size(); ++i) {
      std::visit([&](auto& values) { pack(i, values); }, part_.columns[i].values);
    }
    filled_ = 0;
  }

  template <class T>
  void pack(size_t column, Packed<T>& values) {
    const std::span<const Int> block(block_[column].data(), filled_);
    if constexpr (std::is_same_v<T, Int>) {
      values.add_block(block);
    } else {
      std::array<T, kBlock> narrow;
      for (size_t i = 0; i < block.size(); ++i)
        narrow[i] = block[i] == kNoInt ? detail::none<T>() : static_cast<T>(block[i]);
      values.add_block({narrow.data(), filled_});
      if constexpr (std::is_same_v<T, Id>) {
        uint64_t& end = part_.columns[column].ids_end;
        for (size_t i = 0; i < filled_; ++i)
          end = narrow[i] == kNoId ? end : std::max(end, uint64_t{narrow[i]} + 1);
      }
    }
  }

  const Database& database_;
  const StoredTable& table_;
  TablePart& part_;
  std::vector<std::array<Int, kBlock>> block_;  // by column
  size_t filled_ = 0;
};

void take_row(sqlite3_context* context, int, sqlite3_value** values) {
  auto& sink = *static_cast<Sink*>(sqlite3_user_data(context));
  try {
    sink.take(values);
  } catch (...) {
    sink.failure = std::current_exception();
    sqlite3_result_error_code(context, SQLITE_ABORT);
  }
}

void end_rows(sqlite3_context*) {}

}  // namespace

void read_part(const Database& database, const StoredTable& table, TablePart& part) {
  Sink sink(database, table, part);
  const int code =
      sqlite3_create_function_v2(database.get(), "take_row", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                 &sink, nullptr, take_row, end_rows, nullptr);
  if (code != SQLITE_OK) database.fail(code);
  std::string sql = "SELECT take_row(id";
  for (const StoredColumn& column : table.columns) sql += std::string(",") + column.name;
  // By row, in table order: an index may contain all requested columns, in another order.
  sql += std::string(") FROM ") + table.name + " NOT INDEXED";
  if (part.from > 0) sql += " WHERE id >= " + std::to_string(part.from);
  if (part.to != kToEnd)
    sql += (part.from > 0 ? " AND id < " : " WHERE id < ") + std::to_string(part.to);
  try {
    Statement(database, sql).step();
  } catch (const Error&) {
    if (sink.failure) std::rethrow_exception(sink.failure);
    throw;
  }
  sink.finish();
  if (part.to != kToEnd && part.from + part.rows != part.to) {
    damaged(database, "row " + std::to_string(part.from + part.rows) + " of table " + table.name +
                          " is missing");
  }
}

}  // namespace streamscope::trace
