// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Runs a query for a test and gives its rows as texts, cells separated by '|'.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trace/read/query.h"

namespace streamscope::trace {

inline std::vector<std::string> query_rows(const std::filesystem::path& file,
                                           std::string_view sql) {
  struct Print {
    std::string operator()(std::monostate) const { return "NULL"; }
    std::string operator()(int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return std::to_string(value); }
    std::string operator()(std::string_view value) const { return std::string(value); }
    std::string operator()(Blob value) const {
      return "blob of " + std::to_string(value.bytes.size());
    }
  };
  std::vector<std::string> rows;
  Query query(file, sql);
  while (query.next()) {
    std::string row;
    for (size_t i = 0; i < query.columns().size(); i++) {
      row += (i == 0 ? "" : "|") + std::visit(Print(), query.cell(i));
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace streamscope::trace
