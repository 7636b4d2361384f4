// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The blocks of PyTorch's caching allocator in one process, as rows of `allocation`.
#pragma once

#include <vector>

#include "identity.h"
#include "objects.h"
#include "record/drain/run_state.h"
#include "record/symbols/stacks.h"
#include "ring/record.h"

namespace streamscope::record {

class EarlierRows;

/// Thread-compatible.
class TensorBlocks {
 public:
  TensorBlocks(RunState& run, Objects& objects, Stacks& stacks, trace::Id process)
      : run_(run), objects_(objects), stacks_(stacks), process_(process) {}

  void describe(const ring::TensorBlockRecord& record, uint32_t tid);
  void restore(EarlierRows& rows);

 private:
  RunState& run_;
  Objects& objects_;
  Stacks& stacks_;
  trace::Id process_;
  HandleLives lives_;                            // by address
  std::vector<Stored<trace::Allocation>> rows_;  // by life
};

}  // namespace streamscope::record
