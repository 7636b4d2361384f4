// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Prints docs/detectors.md, generated from the table of detectors and the head comments of their
// files:
//   detectors_doc profiler/analysis/detectors > docs/detectors.md      (target update-docs)
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>

#include "detector.h"

namespace {

using namespace streamscope::analysis;

constexpr std::string_view kHead = R"(# Detectors

This page is produced from `profiler/analysis/detectors`; change the comments there, then run
`cmake --build build --target update-docs`. `streamscope detectors --json` lists the same rules.

Each detector answers *found*, *clean*, *not evaluated at this tier* (it needs data that this recording or its format does not contain)
or *not evaluable* (expected data is missing: drops, a late start, ambiguity). A finding is *certain*, *suspected* (evidence is incomplete)
or *possible* (from indirect evidence, such as kernel parameters). `streamscope check` fails on certain findings, treats a rule with
suspected ones as *not evaluable*, and never fails on possible ones. Possible findings are notes, whatever the severity of the rule: one
line gives their number, and `--show possible` lists them. [analysis.md](analysis.md) explains how order and gains are computed.

)";

// The description of each detector by number, from a line "// id (SS123): ..." to the next one.
std::map<std::string, std::string> texts_in(const std::filesystem::path& folder) {
  std::map<std::string, std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    std::string line, current;
    while (std::getline(file, line) && (line.empty() || line.starts_with("//"))) {
      static const std::regex opening(R"(// [a-z-]+ \((SS\d{3})\): (.*))");
      static const std::regex more(R"(//\s*(.*))");
      std::smatch match;
      if (std::regex_match(line, match, opening)) {
        current = match[1];
        if (!texts.emplace(current, match[2]).second)
          throw std::runtime_error(current + " is described twice");
      } else if (!current.empty() && std::regex_match(line, match, more)) {
        texts[current] += (match[1].length() == 0 ? "\n" : " ") + match[1].str();
      }
    }
  }
  return texts;
}

// Wraps lines at the same width as the other pages.
void print_wrapped(const std::string& text) {
  constexpr size_t kWidth = 120;
  size_t column = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (column > 0 && column + 1 + word.size() > kWidth) {
      std::cout << "\n";
      column = 0;
    }
    if (column > 0) std::cout << " ";
    column += word.size() + (column > 0);
    std::cout << word;
  }
  std::cout << "\n\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: detectors_doc FOLDER\n";
    return 2;
  }
  std::cout << kHead;
  const std::map<std::string, std::string> texts = texts_in(argv[1]);
  for (const Detector& detector : detectors()) {
    const auto text = texts.find(std::string(detector.number));
    if (text == texts.end()) {
      std::cerr << detector.id << " is described by no comment of " << argv[1] << "\n";
      return 1;
    }
    std::cout << "## " << detector.number << " " << detector.id << "\n\n";
    print_wrapped("**" + std::string(to_string(detector.severity)) +
                  "**: " + std::string(detector.title) +
                  ". Needs: " + to_string_of_evidence(detector.needs) + ".");
    std::string what = text->second;
    what[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(what[0])));
    print_wrapped(what);
  }
}
