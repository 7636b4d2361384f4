// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "exporter.h"

namespace streamscope::report {
namespace {

constexpr Exporter kExporters[] = {
    {"text", "for the terminal", write_text},
    {"markdown", "for issues and merge requests", write_markdown},
    {"html", "one page with a timeline, for everybody", write_html},
    {"json", "for programs", write_json},
};

}  // namespace

std::span<const Exporter> exporters() { return kExporters; }

const Exporter* find_exporter(std::string_view name) {
  for (const Exporter& exporter : kExporters) {
    if (exporter.name == name) return &exporter;
  }
  return nullptr;
}

}  // namespace streamscope::report
