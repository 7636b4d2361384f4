// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "snapshot.h"

#include "open.h"

namespace streamscope::trace {
namespace {

// A transaction sees the file as it is at its first reading.
void begin(Database& database) {
  database.run("BEGIN");
  database.integer("PRAGMA schema_version");
  database.integer("SELECT count(*) FROM sqlite_schema");
}

// Derived tables come with another file that takes the place of the trace: what was opened later
// may be that one.
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
      // Outside a transaction this changes with every commit of others.
      const int64_t before = witness->integer("PRAGMA data_version");
      for (const auto& connection : connections) begin(*connection);
      if (witness->integer("PRAGMA data_version") == before && !has_moved(*connections[0]))
        return connections;
      for (const auto& connection : connections) connection->run("COMMIT");
    }
  } catch (const Error&) {
    // One connection does as well, only slower; if it does not, it says why.
    if (sqlite3_get_autocommit(connections[0]->get()) == 0) connections[0]->run("COMMIT");
  }
  connections.resize(1);
  begin(*connections[0]);
  return connections;
}

}  // namespace streamscope::trace
