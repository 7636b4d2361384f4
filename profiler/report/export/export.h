// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A trace in the formats of other tools: `streamscope export`. To add one: a file with its
// function, a line in export_formats.cpp.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "trace/query.h"
#include "trace/reader.h"

namespace streamscope::report {

struct ExportOptions {
  std::string view = "v_op";  ///< csv: which view or table
  /// Only what runs in [first, second).
  std::optional<std::pair<trace::Ns, trace::Ns>> range;
  bool redact = true;               ///< leave out the command lines of the processes
  trace::Id around = trace::kNoId;  ///< dot: only this op and what it depends on or holds up
};

struct ExportFormat {
  std::string_view name;  ///< as in --to
  std::string_view summary;
  /// Throws Error if there is nothing to export, or too much for the format.
  std::string (*write)(const trace::Trace& trace, const ExportOptions& options);
};

std::span<const ExportFormat> export_formats();
/// nullptr if there is no such format.
const ExportFormat* find_export_format(std::string_view name);

std::string export_chrome(const trace::Trace& trace, const ExportOptions& options);
std::string export_perfetto(const trace::Trace& trace, const ExportOptions& options);
std::string export_dot(const trace::Trace& trace, const ExportOptions& options);
std::string export_csv(const trace::Trace& trace, const ExportOptions& options);

/// True if [start, end) is known and touches the range asked for.
bool is_wanted(const ExportOptions& options, trace::Ns start_ns, trace::Ns end_ns);
/// Throws the Error of an export without content.
[[noreturn]] void refuse_empty(const trace::Trace& trace, const ExportOptions& options);

/// The rows of a query as CSV (RFC 4180, with a head), piece by piece.
void write_csv(trace::Query& query, const std::function<void(std::string_view)>& write);
/// A text as a cell of CSV: printable(), with its lines. One that a spreadsheet would take for a
/// formula (it begins with =, +, - or @ and is no number) gets an apostrophe in front; with
/// `is_number` it never does.
std::string csv_text(std::string_view text, bool is_number = false);
/// A value as text; NULL is empty.
std::string cell_text(const trace::Cell& cell);

}  // namespace streamscope::report
