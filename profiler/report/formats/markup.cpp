// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "markup.h"

#include <algorithm>

#include "analysis/labels.h"

namespace streamscope::report {

std::string replaced(std::string_view text,
                     std::initializer_list<std::pair<char, std::string_view>> replacements) {
  std::string result;
  for (const char c : text) {
    const auto* found =
        std::ranges::find(replacements, c, &std::pair<char, std::string_view>::first);
    if (found == replacements.end()) {
      result += c;
    } else {
      result += found->second;
    }
  }
  return result;
}

std::string escape_markup(std::string_view text) {
  return replaced(analysis::printable(text),
                  {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}});
}

std::string without_folders(const std::string& text) {
  constexpr std::string_view kBefore = " \t\n\v\f\r\"'(", kNoName = " \t\n\v\f\r\"':/";
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool begins = at == 0 || kBefore.find(text[at - 1]) != kBefore.npos;
    size_t last = at;  // the slash before the path's last part
    for (size_t slash = at; begins && text[at] == '/';) {
      const size_t next = text.find_first_of(kNoName, slash + 1);
      if (next == text.npos || next == slash + 1 || text[next] != '/') break;
      last = slash = next;
    }
    if (last == at) {
      result += text[at];
    } else {
      at = last;
    }
  }
  return result;
}

}  // namespace streamscope::report
