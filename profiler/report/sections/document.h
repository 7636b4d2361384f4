// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A report as headings, remarks and tables, independent of the output format.
#pragma once

#include <string>
#include <vector>

#include "trace/model.h"

namespace streamscope::trace {
struct Trace;
}

namespace streamscope::report {

struct Info;
struct Summary;

/// What a report is broken down by.
enum class By { kStream, kNvtx, kKernel };

struct Column {
  std::string name;
  bool right = false;      ///< aligned to the right: numbers
  std::string group = {};  ///< neighbors of one group share a heading

  /// The heading where groups have none of their own.
  std::string heading() const { return group.empty() ? name : group + ": " + name; }
};

enum class SectionKind {
  kOther,
  kFindings,  ///< the HTML page shows them with pictures instead
  kAnswer,    ///< of a job: what costs most, what would help
  kRanks,     ///< of a job, one row each, which begins with the number
};

struct Section {
  std::string title;
  SectionKind kind = SectionKind::kOther;
  std::vector<std::string> remarks;  ///< sentences above the table
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::vector<double>>
      keys;                  ///< what cells of `rows` are sorted by; empty: their texts
  std::vector<size_t> pale;  ///< indexes of rows that come second
  std::vector<std::string> footnotes;
};

struct Notice {
  trace::Severity severity;
  std::string text;
  std::string advice;

  std::string line() const { return advice.empty() ? text : text + " " + advice; }
};

struct Document {
  std::string headline;
  std::vector<Notice> notices;  ///< losses: shown first
  std::vector<Section> sections;
};

/// `show_possible`: lists possible findings one by one instead of in one line.
Document compose(const trace::Trace& trace, const Summary& summary, By by,
                 bool show_possible = false);
/// The losses of a trace, to be shown first.
std::vector<Notice> notices_of(const trace::Trace& trace, const Info& info);

/// The style of a text.
struct TextStyle {
  bool color = false;  ///< ANSI colors
  size_t width = 0;    ///< columns of the terminal to fit it into; 0: no limit
};
std::string to_text(const Document& document, const TextStyle& look);
/// GitHub Markdown; texts are escaped, so that none of them acts as Markdown or HTML.
std::string to_markdown(const Document& document);

}  // namespace streamscope::report
