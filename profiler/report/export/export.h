// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Converts a trace to the formats of other tools: `streamscope export`. To add one: add a file with
// its function and a line in export_formats.cpp.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "trace/read/query.h"
#include "trace/read/reader.h"

namespace streamscope::report {

struct ExportOptions {
  std::string view = "v_op";  ///< csv: which view
  /// Only ops and calls that run in [first, second).
  std::optional<std::pair<trace::Ns, trace::Ns>> range;
  bool redact = true;               ///< leave out the command lines of the processes
  trace::Id around = trace::kNoId;  ///< dot: only this op and the ops nearest to it
};

struct JobReport;

struct ExportFormat {
  std::string_view name;  ///< as in --to
  std::string_view summary;
  /// Throws Error if there is nothing to export, or too much for the format.
  std::string (*write)(const trace::Trace& trace, const ExportOptions& options);
  enum Ranks {
    kNoRanks,
    kOneFile,      ///< which gets one rank after the other; see export_job.h
    kFileForEach,  ///< FILE.RANK.et
  } ranks = kNoRanks;
  /// The same of a job as a whole; nullptr if the format does not support it.
  std::string (*write_job)(const JobReport& report) = nullptr;
};

std::span<const ExportFormat> export_formats();

std::string export_chakra(const trace::Trace& trace, const ExportOptions& options);
std::string export_chrome(const trace::Trace& trace, const ExportOptions& options);
std::string export_perfetto(const trace::Trace& trace, const ExportOptions& options);
std::string export_dot(const trace::Trace& trace, const ExportOptions& options);
std::string export_csv(const trace::Trace& trace, const ExportOptions& options);
/// Throws Error: a trace is such a file already.
std::string export_sqlite(const trace::Trace& trace, const ExportOptions& options);

/// True if [start, end) is known and overlaps the requested range.
bool is_wanted(const ExportOptions& options, trace::Ns start_ns, trace::Ns end_ns);
/// Throws the Error for an export without content.
[[noreturn]] void refuse_empty(const std::filesystem::path& origin, const ExportOptions& options);

/// The number of a process or thread in other formats. Two without a number must not become one.
int32_t exported_pid(const trace::Trace& trace, trace::Id process);
int32_t exported_tid(const trace::Trace& trace, trace::Id thread);

/// The rows of a query as CSV (RFC 4180, with a header), piece by piece.
void write_csv(trace::Query& query, const std::function<void(std::string_view)>& write);
/// A text as a cell of CSV: printable(), keeping its lines. A text that a spreadsheet takes for a
/// formula (it begins with =, +, - or @ and is not a number) gets an apostrophe in front, except
/// with `is_number`.
std::string csv_text(std::string_view text, bool is_number = false);
/// A value as text; NULL is empty.
std::string cell_text(const trace::Cell& cell);

}  // namespace streamscope::report
