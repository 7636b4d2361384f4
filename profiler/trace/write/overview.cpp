// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "overview.h"

#include <vector>

#include "copy_rows.h"
#include "trace/read/reader.h"
#include "trace/tables.h"
#include "writer.h"

namespace streamscope::trace {

size_t write_overview(const std::filesystem::path& file, Small finest_level,
                      const std::filesystem::path& out) {
  ReadOptions options;
  options.only = {"process", "thread", "device", "context", "stream", "lod"};
  const Trace trace = read(file, options);
  const LodColumns& lod = trace.lod;
  std::vector<Id> cells;
  for (Id cell = 0; cell < lod.size(); ++cell)
    if (lod.level[cell] >= finest_level) cells.push_back(cell);
  if (cells.empty()) return 0;
  Writer writer = Writer::create(out, {.read_meanwhile = false});
  copy_rows(trace, writer, {});
  for (const Id cell : cells) {
    Lod row;
#define STREAMSCOPE_CELL(type, name) row.name = lod.name[cell];
    STREAMSCOPE_LOD_COLUMNS(STREAMSCOPE_CELL)
#undef STREAMSCOPE_CELL
    row.longest_op_id = kNoId;  // the copy has no ops
    writer.append(row);
  }
  for (const char* key :
       {"tier", "trace_start_realtime_ns", "imported_from", "analysis_version", "duration_ns"}) {
    if (const auto found = trace.meta.find(key); found != trace.meta.end())
      writer.set_meta(key, found->second);
  }
  writer.finish(true);
  return cells.size();
}

}  // namespace streamscope::trace
