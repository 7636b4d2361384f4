// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The analysis of a job as tables, for SQL: `streamscope query DIR` and `export --to sqlite`.
// docs/ranks.md describes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/sections/job_document.h"
#include "trace/write/memory_tables.h"

namespace streamscope::report {

trace::MemoryTables job_tables(const JobReport& report);
/// As a SQLite file.
std::string export_job_tables(const JobReport& report);

/// CREATE statements, and the tables that they create.
std::string_view job_schema();
std::vector<std::string> job_table_names();

}  // namespace streamscope::report
