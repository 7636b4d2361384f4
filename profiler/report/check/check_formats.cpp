// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "check.h"

namespace streamscope::report {
namespace {

constexpr CheckFormat kFormats[] = {
    {"text", "for the terminal", write_check_text},
    {"json", "for programs", write_check_json},
    {"sarif", "SARIF 2.1.0, for code scanning", write_check_sarif},
    {"junit", "JUnit XML, for test reports", write_check_junit},
    {"github", "workflow commands, for GitHub annotations", write_check_github},
    {"markdown", "for job summaries", write_check_markdown},
};

}  // namespace

std::span<const CheckFormat> check_formats() { return kFormats; }

}  // namespace streamscope::report
