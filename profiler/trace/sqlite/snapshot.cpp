// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "snapshot.h"

#include "open.h"

namespace streamscope::trace {
namespace {

// A transaction sees the file as of its first read.
void begin(Database& database) {
  database.run("BEGIN");
  database.integer("PRAGMA schema_version");
  database.integer("SELECT count(*) FROM sqlite_schema");
}

// Derived tables arrive by another file that replaces the trace: connections opened later may be to
// that one.
bool has_moved(const Database& database) {
  int moved = 0;
  const int code = sqlite3_file_control(database.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return code != SQLITE_OK || moved != 0;
}

}  // namespace

std::vector<std::unique_ptr<Database>> snapshot(std::unique_ptr<Database> first, size_t count) {
  constexpr int kTries = 3;
  std::vector<std::unique_ptr<Database>> connections;
  connections.push_back(std::move(first));
  std::unique_ptr<Database> witness;
  try {
    if (count > 1) witness = open_again(*connections[0]);
    while (connections.size() < count) connections.push_back(open_again(*connections[0]));
    for (int i = 0; count > 1 && i < kTries; ++i) {
      // Outside a transaction this changes with every commit of other connections.
      const int64_t before = witness->integer("PRAGMA data_version");
      for (const auto& connection : connections) begin(*connection);
      if (witness->integer("PRAGMA data_version") == before && !has_moved(*connections[0]))
        return connections;
      for (const auto& connection : connections) connection->run("COMMIT");
    }
  } catch (const Error&) {
    // One connection is enough, only slower; if it fails, it reports why.
    if (sqlite3_get_autocommit(connections[0]->get()) == 0) connections[0]->run("COMMIT");
  }
  connections.resize(1);
  begin(*connections[0]);
  return connections;
}

}  // namespace streamscope::trace
