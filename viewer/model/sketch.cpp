// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "sketch.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <vector>

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

constexpr int kMostPixels = 3;  // that a cell may be wide, on average

// Collects the cells of one level after the other, from the coarsest on, until those of the longest
// lane are narrow enough.
class CoarseCells {
 public:
  explicit CoarseCells(int width_px) : width_px_(width_px) {}

  /// False if what is there is enough, so that this cell is not needed.
  bool add(int64_t level, const trace::Op& cell) {
    if (!cells_.empty() && level != level_) {
      if (longest_ * kMostPixels >= width_px_) return false;
      cells_.clear();
      of_stream_.clear();
      longest_ = 0;
    }
    level_ = level;
    cells_.push_back(cell);
    longest_ = std::max(longest_, ++of_stream_[cell.stream_id]);
    return true;
  }
  const std::vector<trace::Op>& cells() const { return cells_; }

 private:
  const int64_t width_px_;
  int64_t level_ = 0, longest_ = 0;
  std::vector<trace::Op> cells_;
  std::map<trace::Id, int64_t> of_stream_;
};

}  // namespace

std::optional<trace::Trace> read_sketch(const std::filesystem::path& file, int width_px) {
  trace::ReadOptions options;
  options.only = {"process", "thread", "device", "context", "stream"};
  trace::Trace sketch = trace::read(file, options);
  if (!analysis::has_derived_tables(sketch)) return std::nullopt;
  // The levels lie one behind the other, the coarsest last, so only the end of the table is read.
  CoarseCells coarse(width_px);
  trace::Query rows(
      file, "SELECT level, stream_id, start_ns, busy_ns, kind, detail FROM lod ORDER BY id DESC");
  while (rows.next()) {
    trace::Op op;
    op.stream_id = static_cast<trace::Id>(integer(rows.cell(1), trace::kNoId));
    op.start_ns = integer(rows.cell(2), trace::kUnknownNs);
    op.end_ns = trace::sum_of(op.start_ns, integer(rows.cell(3), 0));
    op.kind = static_cast<trace::Small>(integer(rows.cell(4), trace::kNoSmall));
    op.detail = static_cast<trace::Small>(integer(rows.cell(5), trace::kNoSmall));
    if (!coarse.add(integer(rows.cell(0), 0), op)) break;
  }
  if (coarse.cells().empty()) return std::nullopt;
  for (trace::Op op : std::views::reverse(coarse.cells())) {
    trace::Damage shown_later;  // shown once the whole trace has been read
    trace::check_row(sketch.op.size(), op, shown_later);
    if (op.start_ns == trace::kUnknownNs || op.stream_id >= sketch.stream.size()) continue;
    sketch.op.append(op);
  }
  sketch.op.pack();
  return sketch;
}

}  // namespace streamscope::viewer
