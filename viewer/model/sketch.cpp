// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sketch.h"

#include "analysis/derive.h"
#include "trace/checks.h"
#include "trace/ns_math.h"
#include "trace/read/query.h"

namespace streamscope::viewer {
namespace {

int64_t integer(const trace::Cell& cell, int64_t none) {
  const auto* value = std::get_if<int64_t>(&cell);
  return value != nullptr ? *value : none;
}

// The coarsest level whose longest lane still has a cell per pixel; the finest if none has. A level
// has at most four times as many rows as the next coarser one, so the cells of one lane decide.
std::optional<int64_t> level_for(const std::filesystem::path& file, int width_px) {
  trace::Query levels(file,
                      "SELECT level, max(cells) FROM (SELECT level, count(*) AS cells FROM lod"
                      " GROUP BY level, stream_id) GROUP BY level ORDER BY level DESC");
  std::optional<int64_t> level;
  while (levels.next()) {
    level = integer(levels.cell(0), 0);
    if (integer(levels.cell(1), 0) >= width_px) break;
  }
  return level;
}

}  // namespace

std::optional<trace::Trace> read_sketch(const std::filesystem::path& file, int width_px) {
  trace::ReadOptions options;
  options.only = {"process", "thread", "device", "context", "stream"};
  trace::Trace sketch = trace::read(file, options);
  if (!analysis::has_derived_tables(sketch)) return std::nullopt;
  const std::optional<int64_t> level = level_for(file, width_px);
  if (!level) return std::nullopt;
  trace::Query cells(file,
                     "SELECT lod.stream_id, lod.start_ns, lod.busy_ns, op.kind, op.detail FROM lod"
                     " JOIN op ON op.id = lod.longest_op_id WHERE lod.level = " +
                         std::to_string(*level));
  while (cells.next()) {
    trace::Op op;
    op.stream_id = static_cast<trace::Id>(integer(cells.cell(0), trace::kNoId));
    op.start_ns = integer(cells.cell(1), trace::kUnknownNs);
    op.end_ns = trace::sum_of(op.start_ns, integer(cells.cell(2), 0));
    op.kind = static_cast<trace::Small>(integer(cells.cell(3), trace::kNoSmall));
    op.detail = static_cast<trace::Small>(integer(cells.cell(4), trace::kNoSmall));
    trace::Damage shown_later;  // shown once the whole trace has been read
    trace::check_row(sketch.op.size(), op, shown_later);
    if (op.start_ns == trace::kUnknownNs || op.stream_id >= sketch.stream.size()) continue;
    sketch.op.append(op);
  }
  sketch.op.pack();
  return sketch;
}

}  // namespace streamscope::viewer
