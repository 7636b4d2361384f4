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
  for (size_t i = 0; i < std::size(record.ranges); ++i) {
    if (record.ranges[i].bytes == 0) continue;
    trace::Access range = row;
    range.writes = record.writes >> i & 1;
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
    run_.writer.append(
        trace::Access{.process_id = process_,
                      .thread_id = objects_.thread(tid),
                      .source = static_cast<trace::Small>(ring::AccessSource::kParameter),
                      .address = static_cast<trace::Int>(record.values[i]),
                      .call_number = record.call_number,
                      .parameter = record.parameters[i]});
  }
}

}  // namespace streamscope::record
