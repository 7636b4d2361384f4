// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Replaces what schema.sql has in braces by lists of the vocabulary.
#include <stdexcept>
#include <string>
#include <vector>

#include "schema.h"
#include "schema_template.h"
#include "stored_terms.h"

namespace streamscope::trace {
namespace {

constexpr size_t kWidth = 128;  // of lines, as those of schema.sql

StoredTerms terms_of(std::string_view name) {
  const size_t dot = name.find('.');
  const std::optional<StoredTerms> found =
      dot == name.npos ? std::nullopt : stored_terms(name.substr(0, dot), name.substr(dot + 1));
  if (!found) throw std::logic_error("stored_terms.h does not have {" + std::string(name) + "}");
  return *found;
}

// "0 exact (record_id is the record), 1 never_recorded (...), ...", or only the names.
std::string list_of(const StoredTerms& stored) {
  std::string text;
  for (const Term& term : stored.terms) {
    if (!text.empty()) text += ", ";
    if (stored.form != StoredTerms::kName) text += std::to_string(term.number) + " ";
    text += term.name;
    if (stored.form != StoredTerms::kName && !term.meaning.empty())
      text.append(" (").append(term.meaning).append(")");
  }
  return text;
}

// Fills lines from `column` on, the first of which is begun. A line after the first starts with
// `prefix`.
std::string wrapped(const std::vector<std::string>& pieces, size_t column,
                    std::string_view prefix) {
  const std::string next = "\n" + std::string(column, ' ') + std::string(prefix);
  std::string text;
  size_t used = column + prefix.size();
  for (const std::string& piece : pieces) {
    if (!text.empty() && used + 1 + piece.size() > kWidth) {
      text += next;
      used = column + prefix.size();
    } else if (!text.empty()) {
      text += ' ';
      ++used;
    }
    text += piece;
    used += piece.size();
  }
  return text;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; (at = text.find_first_not_of(' ', at)) != text.npos;) {
    const size_t end = std::min(text.find(' ', at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// CASE kind WHEN 0 THEN 'kernel' ... END
std::string case_of(Terms terms, std::string_view expression, size_t column) {
  const std::string head = "CASE " + std::string(expression) + " ";
  std::vector<std::string> pieces;
  for (const Term& term : terms)
    pieces.push_back("WHEN " + std::to_string(term.number) + " THEN '" + std::string(term.name) +
                     "'");
  pieces.back() += " END";
  return head + wrapped(pieces, column + head.size(), "");
}

// `text` begins in `column`; of a comment, at its first word.
std::string without_braces(std::string_view text, size_t column) {
  std::string result;
  size_t at = 0;
  for (size_t open; (open = text.find('{', at)) != text.npos;) {
    result += text.substr(at, open - at);
    const size_t close = text.find('}', open);
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    const size_t colon = inside.find(": ");
    const StoredTerms& stored = terms_of(inside.substr(0, colon));
    result += colon == inside.npos
                  ? list_of(stored)
                  : case_of(stored.terms, inside.substr(colon + 2), column + result.size());
    at = close + 1;
  }
  return result.append(text.substr(at));
}

std::string_view next_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  return line;
}

// A comment is filled up again to the width of a line, with its continuation: the lines after it
// that have only a comment, in the same column.
std::string expanded(std::string_view rest) {
  constexpr std::string_view kComment = "-- ";
  std::string result;
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    const size_t column = line.find(kComment);
    if (column == line.npos) {
      result.append(without_braces(line, 0)).append("\n");
      continue;
    }
    const std::string start = std::string(column, ' ') + std::string(kComment);
    std::string text(line.substr(start.size())), lines(line);
    while (rest.starts_with(start)) {
      const std::string_view more = next_line(rest);
      text.append(" ").append(more.substr(start.size()));
      lines.append("\n").append(more);
    }
    if (text.find('{') == text.npos) {
      result += lines;
    } else {
      result.append(line.substr(0, start.size()))
          .append(wrapped(words_of(without_braces(text, 0)), column, kComment));
    }
    result += '\n';
  }
  return result;
}

}  // namespace

std::string_view schema_sql() {
  static const std::string kText = expanded(schema_template());
  return kText;
}

std::string_view nsys_views_sql() {
  static const std::string kText = expanded(nsys_views_template());
  return kText;
}

}  // namespace streamscope::trace
