// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "markup.h"

#include <regex>

#include "analysis/labels.h"

namespace streamscope::report {

std::string escape_markup(std::string_view text) {
  std::string result;
  for (const char c : analysis::printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string without_folders(const std::string& text) {
  static const std::regex path(R"((^|[\s"'(])/(?:[^\s/:"']+/)+)");
  return std::regex_replace(text, path, "$1");
}

}  // namespace streamscope::report
