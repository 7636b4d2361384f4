// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A report as headings, remarks and tables of text, before it becomes terminal text, Markdown or
// anything else.
#pragma once

#include <string>
#include <vector>

#include "summary.h"

namespace streamscope::report {

/// What a report is broken down by.
enum class By { kStream, kNvtx, kKernel };

struct Column {
  std::string name;
  bool right = false;      ///< aligned to the right: numbers
  std::string group = {};  ///< neighbors of one group stand under a common head
};

enum class SectionKind {
  kOther,
  kFindings,  ///< in the HTML page they have pictures instead
};

struct Section {
  std::string title;
  SectionKind kind = SectionKind::kOther;
  std::vector<std::string> remarks;  ///< sentences above the table
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> footnotes;
};

struct Notice {
  trace::Severity severity;
  std::string text;
  std::string advice;
};

struct Document {
  std::string headline;
  std::vector<Notice> notices;  ///< losses: read before anything else
  std::vector<Section> sections;
};

/// `show_possible`: lists the possible findings instead of one line for all of them.
Document compose(const trace::Trace& trace, const Summary& summary, By by,
                 bool show_possible = false);
/// The losses of a trace, to be read before anything else.
std::vector<Notice> notices_of(const trace::Trace& trace, const Info& info);

/// How a text is to look.
struct TextStyle {
  bool color = false;  ///< ANSI colors
  size_t width = 0;    ///< columns of the terminal to fit it into; 0: no limit
};
std::string to_text(const Document& document, const TextStyle& look);
/// GitHub's Markdown; nothing in the texts acts as Markdown or HTML.
std::string to_markdown(const Document& document);

}  // namespace streamscope::report
