// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The formats of reports and of comparisons of two traces. To add one: add a file with its function
// and a line in exporters.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/sections/document.h"

namespace streamscope::report {

struct Options {
  By by = By::kStream;
  TextStyle look;              ///< text format only
  bool show_possible = false;  ///< list possible findings one by one, not in one line
};

struct DiffVerdict;
struct JobDiff;
struct JobReport;

using Write = std::string(const trace::Trace& trace, const Summary& summary,
                          const Options& options);

struct Exporter {
  std::string_view name;  ///< as in --format
  std::string_view summary;
  Write* write;
  /// nullptr if the format does not support comparisons.
  std::string (*write_diff)(const DiffVerdict& verdict, const TextStyle& look);
  std::string (*write_job)(const JobReport& report, const TextStyle& look);
  /// nullptr where write_diff is.
  std::string (*write_job_diff)(const JobDiff& diff, const TextStyle& look);
};

std::span<const Exporter> exporters();

Write write_text, write_markdown, write_json;
/// One self-contained page. Omits the folders of absolute paths.
Write write_html;

}  // namespace streamscope::report
