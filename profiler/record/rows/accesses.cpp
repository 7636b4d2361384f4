// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "accesses.h"

#include <algorithm>
#include <iterator>

namespace streamscope::record {

void Accesses::describe(const ring::AccessRecord& record, uint32_t tid) {
  trace::Access row;
  row.process_id = process_;
  row.thread_id = objects_.thread(tid);
  row.source = record.source;
  row.operation_id = operations_.id(record.operation);
  if (record.call_number != ring::kNone32) row.call_number = record.call_number;
  row.start_ns = run_.to_ns(record.begin, record.flags);
  if (record.writes >> ring::kSignalsShift != 0)
    row.signals = static_cast<trace::Small>(record.writes >> ring::kSignalsShift);
  const bool has_ranges = record.ranges[0].bytes != 0 || record.ranges[1].bytes != 0;
  if (!has_ranges && record.source == static_cast<uint8_t>(AccessSource::kObserved)) {
    if (record.rows == 0) row.bytes = 0;
    run_.writer.append(row);
  }
  for (size_t i = 0; i < std::size(record.ranges); ++i) {
    if (record.ranges[i].bytes == 0) continue;
    trace::Access range = row;
    const int bits = record.writes >> i;
    range.writes =
        static_cast<trace::Small>((bits & ring::kWrittenAtomically) != 0 ? AccessKind::kUpdated
                                  : (bits & ring::kWritten) != 0         ? AccessKind::kWritten
                                                                         : AccessKind::kRead);
    range.address = static_cast<trace::Int>(record.ranges[i].address);
    range.bytes = static_cast<trace::Int>(record.ranges[i].bytes);
    if (record.rows > 1) {
      range.rows = record.rows;
      range.pitch_bytes = record.pitch[i];
    }
    run_.writer.append(range);
  }
}

void Accesses::describe(const ring::KernelArgumentsRecord& record, uint32_t tid) {
  for (size_t i = 0; i < std::min(std::size(record.values), size_t{record.count}); ++i) {
    run_.writer.append(trace::Access{.process_id = process_,
                                     .thread_id = objects_.thread(tid),
                                     .source = static_cast<trace::Small>(AccessSource::kParameter),
                                     .address = static_cast<trace::Int>(record.values[i]),
                                     .call_number = record.call_number,
                                     .parameter = record.parameters[i]});
  }
}

}  // namespace streamscope::record
