// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What all HTML pages have in common: how they begin, and their sections. Internal to report.
#pragma once

#include <string>

#include "report/sections/document.h"

namespace streamscope::report {

/// A text of the document: escaped, without folders.
std::string prose(const std::string& text);
/// A region of its own that scrolls sideways.
std::string scrolling(const std::string& title, const std::string& content);
std::string section_of(const Section& section);
/// Up to the notices; the page goes on in <main>.
std::string page_begin(const Document& document);

}  // namespace streamscope::report
