// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "derive.h"

#include <string>

#include "trace/writer.h"

namespace streamscope::analysis {
namespace {

constexpr char kVersionKey[] = "analysis_version";
constexpr size_t kFlushAboveBytes = 16 << 20;

}  // namespace

void write_derived_tables(const Trace& trace, const Edges& edges) {
  trace::Writer writer = trace::Writer::open_derived(trace.file);
  writer.clear<trace::Edge>();
  for (const trace::Edge& edge : edges.rows()) {
    writer.append(edge);
    if (writer.buffered_bytes() > kFlushAboveBytes) writer.flush();
  }
  writer.set_meta(kVersionKey, kAnalysisVersion);
  writer.finish(trace.complete());
}

bool has_derived_tables(const Trace& trace) {
  const auto found = trace.meta.find(kVersionKey);
  return found != trace.meta.end() && found->second == std::to_string(kAnalysisVersion);
}

}  // namespace streamscope::analysis
