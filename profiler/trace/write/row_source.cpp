// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "row_source.h"

#include <string>

namespace streamscope::trace {
namespace {

struct RowTable : sqlite3_vtab {
  const RowSource* source;
};

struct RowCursor : sqlite3_vtab_cursor {
  const ColumnInfo* columns;
  size_t row_bytes;
  const unsigned char* row;
  const unsigned char* end;
};

RowCursor& cursor_of(sqlite3_vtab_cursor* cursor) { return *static_cast<RowCursor*>(cursor); }

int connect(sqlite3* connection, void* source, int, const char* const*, sqlite3_vtab** table,
            char**) {
  std::string sql = "CREATE TABLE x(";
  for (size_t i = 0; i < kMostColumns; i++) sql += (i == 0 ? "c" : ",c") + std::to_string(i);
  int code = sqlite3_declare_vtab(connection, (sql + ")").c_str());
  if (code != SQLITE_OK) return code;
  auto* row_table = new RowTable{};
  row_table->source = static_cast<const RowSource*>(source);
  *table = row_table;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<RowTable*>(table);
  return SQLITE_OK;
}

int best_index(sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; }

int open_cursor(sqlite3_vtab*, sqlite3_vtab_cursor** cursor) {
  *cursor = new RowCursor{};
  return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete &cursor_of(cursor);
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* base, int, const char*, int, sqlite3_value**) {
  RowCursor& cursor = cursor_of(base);
  const RowSource& source = *static_cast<RowTable*>(base->pVtab)->source;
  cursor.columns = source.table->columns.data();
  cursor.row_bytes = source.table->row_bytes;
  cursor.row = source.begin;
  cursor.end = source.begin + source.count * source.table->row_bytes;
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* base) {
  RowCursor& cursor = cursor_of(base);
  cursor.row += cursor.row_bytes;
  return SQLITE_OK;
}

int eof(sqlite3_vtab_cursor* base) {
  const RowCursor& cursor = cursor_of(base);
  return cursor.row == cursor.end;
}

// A result that is not set is NULL, so the NULLs of a row, often half of it, cost one comparison
// each.
int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int index) {
  const RowCursor& cursor = cursor_of(base);
  const Int value = field_value(cursor.columns[index], cursor.row);
  if (value != kNoInt) sqlite3_result_int64(context, value);
  return SQLITE_OK;
}

int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* id) {
  *id = reinterpret_cast<intptr_t>(cursor_of(base).row);
  return SQLITE_OK;
}

// Without xCreate the table is eponymous: it exists under its module's name and in no schema.
constexpr sqlite3_module kModule = {.xConnect = connect,
                                    .xBestIndex = best_index,
                                    .xDisconnect = disconnect,
                                    .xOpen = open_cursor,
                                    .xClose = close_cursor,
                                    .xFilter = filter,
                                    .xNext = next,
                                    .xEof = eof,
                                    .xColumn = column,
                                    .xRowid = rowid};

}  // namespace

void register_row_source(Database& database, RowSource* source) {
  int code = sqlite3_create_module(database.get(), "rows", &kModule, source);
  if (code != SQLITE_OK) database.fail(code);
}

}  // namespace streamscope::trace
