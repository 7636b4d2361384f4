// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What was sampled of the threads of one process.
#pragma once

#include "objects.h"
#include "record/drain/flat_map.h"
#include "record/drain/run_state.h"
#include "record/samples/sampler.h"
#include "record/symbols/stacks.h"
#include "ring/record.h"

namespace streamscope::record {

/// Samples become rows of table host_sample. Thread-compatible.
class HostSamples {
 public:
  HostSamples(RunState& run, Objects& objects, Stacks& stacks)
      : run_(run), objects_(objects), stacks_(stacks) {}

  void describe(const ring::ThreadRecord& record);
  /// Where a thread's Python frames are; nothing for other threads.
  PythonThread python(uint32_t tid) const;
  void add(const HostSample& sample);

 private:
  RunState& run_;
  Objects& objects_;
  Stacks& stacks_;
  FlatMap<uint32_t, PythonThread> python_;  // by thread
};

}  // namespace streamscope::record
