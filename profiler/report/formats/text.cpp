// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "exporter.h"
#include "table.h"

namespace streamscope::report {
namespace {

// Colors by meaning; the text carries the same information.
class Paint {
 public:
  explicit Paint(bool color) : color_(color) {}
  std::string bold(const std::string& text) const { return wrap("1", text); }
  std::string dim(const std::string& text) const { return wrap("2", text); }
  std::string severity(trace::Severity severity, const std::string& text) const {
    switch (severity) {
      case trace::Severity::kError:
      case trace::Severity::kDataLoss:
        return wrap("1;31", text);
      case trace::Severity::kNotice:
        return wrap("33", text);
      default:
        return dim(text);
    }
  }

 private:
  std::string wrap(const char* code, const std::string& text) const {
    return color_ ? "\x1b[" + std::string(code) + "m" + text + "\x1b[0m" : text;
  }
  bool color_;
};

}  // namespace

std::string to_text(const Document& document, const TextStyle& look) {
  const Paint paint(look.color);
  const size_t width = look.width;
  std::string text;
  const auto paragraph = [&](const std::string& words, auto decorate) {
    for (const std::string& line : wrapped(words, width > 2 ? width - 2 : width))
      text += "  " + decorate(line) + "\n";
  };
  for (const std::string& line : wrapped(document.headline, width)) text += paint.bold(line) + "\n";
  for (const Notice& notice : document.notices) {
    const std::string mark(trace::to_string(notice.severity));
    paragraph(mark + ": " + notice.line(),
              [&](const std::string& line) { return paint.severity(notice.severity, line); });
  }
  for (const Section& section : document.sections) {
    text += "\n" + paint.bold(section.title) + "\n";
    for (const std::string& remark : section.remarks) {
      paragraph(remark, [&](const std::string& line) { return line; });
    }
    for (const Table::Line& line : lay_out(section.columns, section.rows, width).lines) {
      text += (line.head ? paint.dim(line.text) : line.text) + "\n";
    }
    for (const std::string& footnote : section.footnotes) {
      paragraph(footnote, [&](const std::string& line) { return paint.dim(line); });
    }
  }
  return text;
}

std::string write_text(const trace::Trace& trace, const Summary& summary, const Options& options) {
  return to_text(compose(trace, summary, options.by, options.show_possible), options.look);
}

}  // namespace streamscope::report
