// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "change.h"

namespace streamscope::analysis {

void Change::add(const Change& other) {
  for (Marks Change::*marks :
       {&Change::without_wait, &Change::without_sync, &Change::without_op, &Change::deferred_sync,
        &Change::no_barrier_op, &Change::no_barrier_record, &Change::no_barrier_wait,
        &Change::prompt_op, &Change::async_op, &Change::page_locked_op, &Change::untimed_record,
        &Change::spread_stream, &Change::graph_op, &Change::beside_op, &Change::instant_op})
    (this->*marks).add(other.*marks);
  cuts.add(other.cuts);
  narrowed_sync.insert(other.narrowed_sync.begin(), other.narrowed_sync.end());
  length_ns.insert(other.length_ns.begin(), other.length_ns.end());
  held_only_by.insert(other.held_only_by.begin(), other.held_only_by.end());
  more_copy_engines += other.more_copy_engines;
}

}  // namespace streamscope::analysis
