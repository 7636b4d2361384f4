// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "analysis/labels.h"
#include "export.h"
#include "report/formats/markup.h"
#include "trace/error.h"
#include "vocabulary/read_number.h"

namespace streamscope::report {
namespace {

constexpr size_t kPieceBytes = 1 << 20;

// What a spreadsheet takes for a formula: a text that begins with one of these, after spaces, and
// is not a number.
bool looks_like_formula(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  for (const char* start : {"=", "+", "-", "@", "＝", "＋", "－", "＠"}) {
    if (!text.starts_with(start)) continue;
    double number = 0;
    return read_number(text, number).ptr != text.data() + text.size();
  }
  return false;
}

std::string sql_name(std::string_view name) { return '"' + std::string(name) + '"'; }

}  // namespace

std::string csv_text(std::string_view raw, bool is_number) {
  std::string text = analysis::printable(raw, true);
  if (!is_number && looks_like_formula(text)) text.insert(0, 1, '\'');
  if (text.find_first_of(",;\"\n") == text.npos) return text;
  return '"' + replaced(text, {{'"', "\"\""}}) + '"';
}

std::string cell_text(const trace::Cell& cell) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string_view>(&cell)) return std::string(*text);
  std::string hex;
  if (const auto* blob = std::get_if<trace::Blob>(&cell)) {
    for (std::byte byte : blob->bytes) hex += fmt::format("{:02x}", std::to_integer<int>(byte));
  }
  return hex;
}

void write_csv(trace::Query& query, const std::function<void(std::string_view)>& write) {
  const size_t columns = query.columns().size();
  std::string text;
  for (size_t i = 0; i < columns; ++i) {
    if (i > 0) text += ',';
    text += csv_text(query.columns()[i]);
  }
  text += '\n';
  while (query.next()) {
    for (size_t i = 0; i < columns; ++i) {
      if (i > 0) text += ',';
      const trace::Cell cell = query.cell(i);
      const auto* raw = std::get_if<std::string_view>(&cell);
      text += raw ? csv_text(*raw) : cell_text(cell);
    }
    text += '\n';
    if (text.size() < kPieceBytes) continue;
    write(text);
    text.clear();
  }
  write(text);
}

std::string export_csv(const trace::Trace& trace, const ExportOptions& options) {
  const std::vector<std::string> views = trace::stable_views();
  if (std::find(views.begin(), views.end(), options.view) == views.end()) {
    throw Error("--view", "there is no view '" + options.view + "'",
                "docs/trace-format.md lists them; streamscope query reads everything else");
  }
  std::string sql = "SELECT * FROM " + sql_name(options.view);
  if (options.range) {
    trace::Query head(trace.file, sql + " LIMIT 0");
    const auto& columns = head.columns();
    for (const char* start : {"start_ns", "start"}) {
      if (std::find(columns.begin(), columns.end(), start) == columns.end()) continue;
      sql += fmt::format(" WHERE {0} >= {1} AND {0} < {2}", sql_name(start), options.range->first,
                         options.range->second);
      break;
    }
  }
  trace::Query query(trace.file, sql);
  std::string text;
  write_csv(query, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace streamscope::report
