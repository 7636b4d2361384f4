// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The formats in which a trace can be explained and two can be compared. To add one: a file with
// its function, a line in exporters.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/sections/document.h"

namespace streamscope::report {

struct Options {
  By by = By::kStream;
  bool color = false;          ///< ANSI colors, text format only
  size_t width = 0;            ///< columns of the terminal to fit text into; 0: no limit
  bool show_possible = false;  ///< list what is only possible, instead of one line for all of it
};

struct DiffVerdict;

struct Exporter {
  std::string_view name;  ///< as in --format
  std::string_view summary;
  std::string (*write)(const trace::Trace& trace, const Summary& summary, const Options& options);
  /// nullptr: not a format of comparisons.
  std::string (*write_diff)(const DiffVerdict& verdict, const TextStyle& look);
};

std::span<const Exporter> exporters();
/// nullptr if there is no such format.
const Exporter* find_exporter(std::string_view name);

std::string write_text(const trace::Trace& trace, const Summary& summary, const Options& options);
std::string write_markdown(const trace::Trace& trace, const Summary& summary,
                           const Options& options);
/// One self-contained page. Without folders of absolute paths.
std::string write_html(const trace::Trace& trace, const Summary& summary, const Options& options);
std::string write_json(const trace::Trace& trace, const Summary& summary, const Options& options);

}  // namespace streamscope::report
