// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Prints docs/trace-format.md, generated from the comments of schema.sql and nsys_views.sql as
// a trace has them;
// schema.sql describes their layout:
//   trace_format_doc > docs/trace-format.md      (target update-docs does that)
#include <iostream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "formats.h"
#include "schema.h"

namespace {

constexpr std::string_view kHead = R"(# The trace format

This page is produced from `profiler/trace/schema/schema.sql`, `profiler/trace/schema/nsys_views.sql` and the names in
`profiler/vocabulary`; change those, then run `cmake --build build --target update-docs`. The same comments are in every trace: `sqlite3 FILE .schema`.

)";

std::string trimmed(const std::string& text) {
  size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == text.npos ? "" : text.substr(begin, end - begin + 1);
}

// The text of a line that contains only a comment, or nothing.
bool is_comment(const std::string& line, std::string* text) {
  std::string content = trimmed(line);
  if (!content.starts_with("--")) return false;
  *text = trimmed(content.substr(2));
  return true;
}

// Identifiers are formatted as code, unless they already are; a bar would end the table cell.
std::string escaped(const std::string& text) {
  static const std::regex identifier(R"(\*?\w*_\w+(\.\w+)?|\w+\.\w+_\w+)");
  std::string result;
  bool code = false;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, '`'); code = !code) {
    result += code ? "`" + part + "`" : std::regex_replace(part, identifier, "`$&`");
  }
  return std::regex_replace(result, std::regex(R"(\|)"), R"(\|)");
}

class Printer {
 public:
  explicit Printer(std::string_view sql) : stream_(std::string(sql)) {}

  void print() {
    std::string line, text;
    while (std::getline(stream_, line)) {
      std::smatch match;
      if (line.starts_with("-- SPDX-")) continue;
      if (std::regex_match(line, match, std::regex("-- == (.*) =="))) {
        end_paragraph();
        std::cout << "## " << match[1] << "\n\n";
      } else if (is_comment(line, &text)) {
        text.empty() ? end_paragraph() : paragraph_.push_back(text);
      } else if (std::regex_match(line, match, std::regex("CREATE TABLE (\\w+) \\("))) {
        end_paragraph();
        print_table(match[1]);
      } else if (line.starts_with("CREATE VIEW ")) {
        end_paragraph();
        print_view(line);
      }
    }
  }

 private:
  struct Column {
    std::string name, type, reference, meaning;
  };

  void end_paragraph() {
    for (const std::string& line : paragraph_) std::cout << escaped(line) << "\n";
    if (!paragraph_.empty()) std::cout << "\n";
    paragraph_.clear();
  }

  void print_table(const std::string& name) {
    std::cout << "### `" << name << "`\n\n";
    std::vector<Column> columns;
    std::string line, text;
    while (std::getline(stream_, line) && !line.starts_with(")")) {
      if (is_comment(line, &text)) {
        if (columns.empty())
          paragraph_.push_back(text);
        else
          columns.back().meaning += " " + text;
        continue;
      }
      static const std::regex pattern(
          R"( *(\w+) ?([A-Z ]*?)(?: REFERENCES (\w+)\(id\))?,? +-- (.*))");
      std::smatch match;
      if (!std::regex_match(line, match, pattern)) throw std::runtime_error("cannot read: " + line);
      columns.push_back({match[1], trimmed(match[2]), match[3], match[4]});
    }
    end_paragraph();
    std::cout << "| column | type | meaning |\n| --- | --- | --- |\n";
    for (const Column& column : columns) {
      std::cout << "| `" << column.name << "` | " << column.type;
      if (!column.reference.empty()) std::cout << " → `" << column.reference << "`";
      std::cout << " | " << escaped(column.meaning) << " |\n";
    }
    std::cout << "\n";
  }

  void print_view(std::string head) {
    std::string line, text;
    while (!head.ends_with(" AS") && std::getline(stream_, line)) head += " " + trimmed(line);
    static const std::regex pattern(R"(CREATE VIEW (\w+) \( ?(.*)\) AS)");
    std::smatch match;
    if (!std::regex_match(head, match, pattern)) throw std::runtime_error("cannot read: " + head);
    std::cout << "### `" << match[1] << "`\n\n";
    while (std::getline(stream_, line) && is_comment(line, &text)) paragraph_.push_back(text);
    end_paragraph();
    std::cout << "Columns: `" << std::regex_replace(match[2].str(), std::regex("\""), "")
              << "`.\n\n";
    while (!line.ends_with(";") && std::getline(stream_, line)) {
    }
  }

  std::istringstream stream_;
  std::vector<std::string> paragraph_;
};

void print_formats() {
  std::cout << R"(## Versions of the format

The tables of a released format do not change; a change after a release makes a new format. `streamscope --version` prints the
format that it writes. A trace of a newer format is refused.

| format | first release |
| --- | --- |
)";
  for (const streamscope::trace::Format& format : streamscope::trace::kFormats) {
    std::cout << "| " << format.number << " | "
              << (format.first_release.empty() ? "not released yet" : format.first_release)
              << " |\n";
  }
}

}  // namespace

int main() {
  std::cout << kHead;
  Printer(streamscope::trace::schema_sql()).print();
  Printer(streamscope::trace::nsys_views_sql()).print();
  print_formats();
}
