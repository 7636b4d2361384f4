// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "lod.h"
#include "trace/ns_math.h"

#include <algorithm>
#include <limits>

namespace streamscope::analysis {
namespace {

constexpr unsigned kShift = 2;  // four cells form one of the next level

// Distance from the first start, the origin of all cells; never overflows.
uint64_t since(Ns from, Ns at) { return static_cast<uint64_t>(at) - static_cast<uint64_t>(from); }

uint64_t duration_ns(const Trace& trace, Id op) {
  return since(trace.op.start_ns[op], trace.op.end_ns[op]);
}

// Adds an op, as a cell of its own, to the cells of its stream. Ops come in time order.
class CellsOfStream {
 public:
  CellsOfStream(const Trace& trace, std::vector<trace::Lod>& rows, trace::Small level, Ns origin,
                unsigned width_bits)
      : trace_(trace), rows_(rows), level_(level), origin_(origin), width_bits_(width_bits) {}

  void add(trace::Lod part) {
    const uint64_t cell = since(origin_, part.start_ns) >> width_bits_;
    if (first_ || cell != cell_) {
      part.level = level_;
      rows_.push_back(part);
      cell_ = cell;
      first_ = false;
      return;
    }
    trace::Lod& row = rows_.back();
    row.end_ns = std::max(row.end_ns, part.end_ns);
    trace::add_to(row.busy_ns, part.busy_ns);
    row.count += part.count;
    if (duration_ns(trace_, part.longest_op_id) > duration_ns(trace_, row.longest_op_id))
      row.longest_op_id = part.longest_op_id;
  }

 private:
  const Trace& trace_;
  std::vector<trace::Lod>& rows_;
  const trace::Small level_;
  const Ns origin_;
  const unsigned width_bits_;
  uint64_t cell_ = 0;
  bool first_ = true;
};

// Rows of the finest level, built from the ops.
std::vector<trace::Lod> finest_level(const Trace& trace, const StreamOps& stream_ops,
                                     unsigned width_bits) {
  std::vector<trace::Lod> rows;
  for (Id stream = 0; stream < stream_ops.stream_count(); ++stream) {
    CellsOfStream cells(trace, rows, 0, stream_ops.first_start_ns(), width_bits);
    Ns reach = stream_ops.first_start_ns();  // ops of a stream may overlap; busy time counts once
    for (const Id op : stream_ops.ops(stream)) {
      if (!is_timed(trace, op)) continue;
      trace::Lod part{.stream_id = stream,
                      .start_ns = trace.op.start_ns[op],
                      .end_ns = trace.op.end_ns[op],
                      .busy_ns = 0,
                      .count = 1,
                      .longest_op_id = op};
      if (part.end_ns > reach) {
        const uint64_t busy = since(std::max(reach, part.start_ns), part.end_ns);
        part.busy_ns = static_cast<Ns>(
            std::min<uint64_t>(busy, static_cast<uint64_t>(std::numeric_limits<Ns>::max())));
        reach = part.end_ns;
      }
      cells.add(part);
    }
  }
  return rows;
}

std::vector<trace::Lod> next_level(const Trace& trace, const std::vector<trace::Lod>& below,
                                   Ns origin, unsigned width_bits) {
  std::vector<trace::Lod> rows;
  for (size_t i = 0; i < below.size();) {
    CellsOfStream cells(trace, rows, below[i].level + 1, origin, width_bits);
    const Id stream = below[i].stream_id;
    for (; i < below.size() && below[i].stream_id == stream; ++i) cells.add(below[i]);
  }
  return rows;
}

}  // namespace

std::vector<trace::Lod> level_of_detail(const Trace& trace, const StreamOps& stream_ops) {
  std::vector<trace::Lod> result;
  if (stream_ops.first_start_ns() == kUnknownNs) return result;
  const uint64_t span = since(stream_ops.first_start_ns(), stream_ops.last_end_ns()) + 1;
  size_t streams = 0;
  for (Id stream = 0; stream < stream_ops.stream_count(); ++stream)
    streams += stream_ops.ops(stream).empty() ? 0 : 1;
  const uint64_t cells =
      std::clamp<uint64_t>(kMaxLodRows / std::max<size_t>(streams, 1), 64, kMaxLodCells);
  unsigned width_bits = 0;
  while (width_bits < 63 && span >> width_bits > cells) ++width_bits;

  std::vector<trace::Lod> level = finest_level(trace, stream_ops, width_bits);
  size_t below = trace.op.size();
  while (!level.empty() && level.size() * 2 <= below) {
    result.insert(result.end(), level.begin(), level.end());
    if (span >> width_bits <= kCoarsestLodCells) break;
    below = level.size();
    width_bits = std::min(width_bits + kShift, 63U);
    level = next_level(trace, level, stream_ops.first_start_ns(), width_bits);
  }
  for (trace::Lod& row : result) {
    row.kind = trace.op.kind[row.longest_op_id];
    row.detail = trace.op.detail[row.longest_op_id];
  }
  return result;
}

}  // namespace streamscope::analysis
