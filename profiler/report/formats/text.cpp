// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "exporter.h"
#include "table.h"

namespace streamscope::report {
namespace {

// The terminal's code of a color by meaning; the text carries the same information.
constexpr const char kPlain[] = "", kBold[] = "1", kDim[] = "2";

const char* color_of(trace::Severity severity) {
  if (severity >= trace::Severity::kDataLoss) return "1;31";
  return severity == trace::Severity::kNotice ? "33" : kDim;
}

}  // namespace

std::string to_text(const Document& document, const TextStyle& look) {
  const size_t width = look.width;
  std::string text;
  const auto add_line = [&](std::string_view line, const char* color) {
    text += look.color && *color ? fmt::format("\x1b[{}m{}\x1b[0m\n", color, line)
                                 : fmt::format("{}\n", line);
  };
  const auto add_paragraph = [&](const std::string& words, const char* color) {
    for (const std::string& line : wrapped(words, width > 2 ? width - 2 : width)) {
      text += "  ";
      add_line(line, color);
    }
  };
  for (const std::string& line : wrapped(document.headline, width)) add_line(line, kBold);
  for (const Notice& notice : document.notices) {
    add_paragraph(fmt::format("{}: {}", trace::to_string(notice.severity), notice.line()),
                  color_of(notice.severity));
  }
  for (const Section& section : document.sections) {
    text += "\n";
    add_line(section.title, kBold);
    for (const std::string& remark : section.remarks) add_paragraph(remark, kPlain);
    for (const TableLine& line : lay_out(section.columns, section.rows, width))
      add_line(line.text, line.head ? kDim : kPlain);
    for (const std::string& footnote : section.footnotes) add_paragraph(footnote, kDim);
  }
  return text;
}

std::string write_text(const trace::Trace& trace, const Summary& summary, const Options& options) {
  return to_text(compose(trace, summary, options.by, options.show_possible), options.look);
}

}  // namespace streamscope::report
