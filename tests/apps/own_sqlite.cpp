// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A program with its own database, open and in use while CUDA runs beside it.
//   own_sqlite [DATABASE]
#include <sqlite3.h>

#include "driver.h"

namespace {

void execute(sqlite3* database, const char* sql) {
  counted::expect(sql, SQLITE_OK, sqlite3_exec(database, sql, nullptr, nullptr, nullptr));
}

long long single_value(sqlite3* database, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  counted::expect(sql, SQLITE_OK, sqlite3_prepare_v2(database, sql, -1, &statement, nullptr));
  counted::expect(sql, SQLITE_ROW, sqlite3_step(statement));
  const long long value = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : ":memory:";
  sqlite3* database = nullptr;
  counted::expect("sqlite3_open", SQLITE_OK, sqlite3_open(path, &database));
  execute(database, "CREATE TABLE item(id INTEGER PRIMARY KEY, value INTEGER)");
  execute(database, "BEGIN");
  execute(database, "INSERT INTO item(value) VALUES (1), (2), (3)");
  driver::take_turns(driver::load(), 20);
  execute(database, "INSERT INTO item(value) SELECT value * 10 FROM item");
  execute(database, "COMMIT");
  counted::expect("sum of the items", 66, single_value(database, "SELECT sum(value) FROM item"));
  sqlite3_close(database);
  counted::note("sqlite", "\"" + std::string(sqlite3_libversion()) + "\"");
  counted::report("own_sqlite");
}
