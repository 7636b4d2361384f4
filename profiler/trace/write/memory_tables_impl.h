// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What MemoryTables and Query share.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "memory_tables.h"
#include "trace/sqlite/sqlite.h"

namespace streamscope::trace {

struct MemoryTables::Impl {
  std::unique_ptr<Database> database;
  std::map<std::string, Statement> inserts;  // by table; destroyed before the database
};

}  // namespace streamscope::trace
