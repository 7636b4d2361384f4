// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The SQL that creates an empty trace: schema.sql and nsys_views.sql, built into the library, with
// the names of the vocabulary.
#pragma once

#include <string_view>

namespace streamscope::trace {

/// Tables and our own views.
std::string_view schema_sql();
/// Read-only views under the table names of an Nsight Systems export.
std::string_view nsys_views_sql();

}  // namespace streamscope::trace
