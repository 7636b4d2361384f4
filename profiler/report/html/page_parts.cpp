// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "page_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "page.h"
#include "report/formats/markup.h"

namespace streamscope::report {

std::string prose(const std::string& text) { return escape_markup(without_folders(text)); }

std::string scrolling(const std::string& title, const std::string& content) {
  return fmt::format(R"(<div class="scroll" tabindex="0" role="region" aria-label="{}">{}</div>)",
                     escape_markup(title), content);
}

namespace {

std::string table_of(const Section& section) {
  std::string text = "<table><thead><tr>";
  const auto number = [](bool right) { return right ? " class=\"number\"" : ""; };
  for (const Column& column : section.columns) {
    text += fmt::format("<th scope=\"col\"{}>{}</th>", number(column.right),
                        escape_markup(column.heading()));
  }
  text += "</tr></thead><tbody>\n";
  for (const auto& row : section.rows) {
    const auto index = static_cast<size_t>(&row - section.rows.data());
    const bool pale = std::ranges::find(section.pale, index) != section.pale.end();
    text += pale ? "<tr class=\"faint\">" : "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      const bool right = i < section.columns.size() && section.columns[i].right;
      text += fmt::format("<td{}>{}</td>", number(right), prose(row[i]));
    }
    text += "</tr>\n";
  }
  return scrolling(section.title, text + "</tbody></table>") + "\n";
}

}  // namespace

std::string section_of(const Section& section) {
  std::string text = "<section><h2>" + escape_markup(section.title) + "</h2>\n";
  for (const std::string& remark : section.remarks) text += "<p>" + prose(remark) + "</p>\n";
  if (!section.rows.empty()) text += table_of(section);
  for (const std::string& note : section.footnotes)
    text += "<p class=\"faint\">" + prose(note) + "</p>\n";
  return text + "</section>\n";
}

std::string page_begin(const Document& document) {
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{0}</title>\n<style>\n{1}</style>\n</head>\n"
      "<body>\n<main>\n<h1>{0}</h1>\n",
      prose(document.headline), page_css());
  for (const Notice& notice : document.notices) {
    text +=
        fmt::format("<p class=\"notice\"><strong>{}</strong>: {} {}</p>\n",
                    trace::to_string(notice.severity), prose(notice.text), prose(notice.advice));
  }
  return text;
}

}  // namespace streamscope::report
