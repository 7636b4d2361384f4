// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "exporter.h"

#include "report/html/job_page.h"
#include "report/sections/diff_document.h"
#include "report/sections/job_diff.h"

namespace streamscope::report {
namespace {

constexpr Exporter kExporters[] = {
    {"text", "for the terminal", write_text,
     [](const DiffVerdict& verdict, const TextStyle& look) {
       return to_text(diff_document(verdict), look);
     },
     [](const JobReport& report, const TextStyle& look) {
       return to_text(job_document(report), look);
     },
     [](const JobDiff& diff, const TextStyle& look) {
       return to_text(job_diff_document(diff), look);
     }},
    {"markdown", "for issues and merge requests", write_markdown,
     [](const DiffVerdict& verdict, const TextStyle&) {
       return to_markdown(diff_document(verdict));
     },
     [](const JobReport& report, const TextStyle&) { return to_markdown(job_document(report)); },
     [](const JobDiff& diff, const TextStyle&) { return to_markdown(job_diff_document(diff)); }},
    {"html", "one page with a timeline, for everybody", write_html, nullptr,
     [](const JobReport& report, const TextStyle&) { return job_html(report); }, nullptr},
    {"json", "for programs", write_json,
     [](const DiffVerdict& verdict, const TextStyle&) { return diff_json(verdict); },
     [](const JobReport& report, const TextStyle&) { return job_json(report); },
     [](const JobDiff& diff, const TextStyle&) { return job_diff_json(diff); }},
};

}  // namespace

std::span<const Exporter> exporters() { return kExporters; }

}  // namespace streamscope::report
