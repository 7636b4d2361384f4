// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "exporter.h"
#include "markup.h"

namespace streamscope::report {
namespace {

// Names come from the recorded program: their characters must not act as Markdown or HTML.
std::string escaped(std::string_view text) {
  return replaced(text, {{'&', "&amp;"},
                         {'<', "&lt;"},
                         {'>', "&gt;"},
                         {'\\', "\\\\"},
                         {'|', "\\|"},
                         {'*', "\\*"},
                         {'_', "\\_"},
                         {'`', "\\`"},
                         {'[', "\\["},
                         {']', "\\]"},
                         {'#', "\\#"},
                         {'~', "\\~"}});
}

}  // namespace

std::string to_markdown(const Document& document) {
  std::string text = "**" + escaped(document.headline) + "**\n";
  if (!document.notices.empty()) text += "\n";
  for (const Notice& notice : document.notices) {
    text += "- **" + escaped(trace::to_string(notice.severity)) + "**: " + escaped(notice.line()) +
            "\n";
  }
  for (const Section& section : document.sections) {
    text += "\n### " + escaped(section.title) + "\n";
    for (const std::string& remark : section.remarks) text += "\n" + escaped(remark) + "\n";
    if (!section.rows.empty()) {
      text += "\n|";
      for (const Column& column : section.columns) text += " " + escaped(column.heading()) + " |";
      text += "\n|";
      for (const Column& column : section.columns) text += column.right ? " ---: |" : " --- |";
      text += "\n";
      for (const auto& row : section.rows) {
        text += "|";
        for (const std::string& cell : row) text += " " + escaped(cell) + " |";
        text += "\n";
      }
    }
    for (const std::string& footnote : section.footnotes) text += "\n" + escaped(footnote) + "\n";
  }
  return text;
}

std::string write_markdown(const trace::Trace& trace, const Summary& summary,
                           const Options& options) {
  return to_markdown(compose(trace, summary, options.by, options.show_possible));
}

}  // namespace streamscope::report
