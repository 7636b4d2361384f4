// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "tensor_blocks.h"

#include "record/recovery/restore.h"

namespace streamscope::record {

void TensorBlocks::describe(const ring::TensorBlockRecord& record, uint32_t tid) {
  const bool begins = record.taken_back == 0;
  const uint32_t life = begins ? lives_.create(record.address, record.begin)
                               : lives_.destroy(record.address, record.begin, record.begin);
  if (life >= rows_.size())
    rows_.push_back(run_.add(trace::Allocation{.process_id = process_,
                                               .kind = trace::kTensorAllocation,
                                               .address = static_cast<trace::Int>(record.address),
                                               .bytes = static_cast<trace::Int>(record.bytes)}));
  trace::Allocation& row = rows_[life].row;
  const trace::Ns at = run_.to_ns(record.begin, record.flags);
  if (begins) {
    row.allocated_ns = at;
    row.alloc_thread_id = objects_.thread(tid);
    row.alloc_stack_id = stacks_.id(record.stack);
  } else {
    row.freed_ns = at;
  }
  run_.update(rows_[life]);
}

void TensorBlocks::restore(EarlierRows& rows) {
  rows.each<trace::Allocation>(process_, [&](trace::Id id, const trace::Allocation& row) {
    if (row.kind != trace::kTensorAllocation) return;
    lives_.restore(rows.life(process_, row.address, row.allocated_ns, row.freed_ns));
    rows_.push_back({row, id});
  });
}

}  // namespace streamscope::record
