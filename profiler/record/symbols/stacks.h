// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The call stacks of one process and the files that contain their addresses.
#pragma once

#include <string>
#include <vector>

#include "record/drain/flat_map.h"
#include "record/drain/run_state.h"
#include "record/hang/unwind.h"
#include "record/recovery/earlier_rows.h"
#include "record/samples/sampled_stack.h"
#include "ring/record.h"

namespace streamscope::record {

/// Frames are stored when they arrive, their names when the process has ended. Thread-compatible.
class Stacks {
 public:
  Stacks(RunState& run, trace::Id process) : run_(run), process_(process) {}

  /// Row of the stack with this CallRecord::stack; kNoId for 0. It may be described later.
  trace::Id id(uint32_t low_hash);
  void describe(const ring::ModuleRecord& module) { modules_.push_back(module); }
  struct Frame {
    uint64_t value;  ///< an address in the process, or a TextHash
    bool is_text;    ///< a Python frame, named by the collector
  };
  /// A whole stack, innermost frame first.
  void describe(uint64_t hash, const std::vector<Frame>& frames);
  /// A stack that was taken from outside and whose frames already have names. Returns its row.
  trace::Id add(const std::vector<SeenFrame>& frames);
  /// Row of a stack that a sampler took; native frames get their names at the end.
  trace::Id sampled(const SampledStack& stack);
  /// Names the frames that have arrived so far.
  void finish();

  /// Takes over the rows of an earlier writer.
  void restore(EarlierRows& rows);

 private:
  struct NativeFrame {
    trace::Id id;
    trace::StackFrame row;
    uint64_t address;         // in the process
    std::string module_path;  // known already
    bool exact = false;       // the address is that of the call, not of what follows it
  };
  const ring::ModuleRecord* module_of(uint64_t address) const;

  RunState& run_;
  trace::Id process_;
  FlatMap<uint32_t, trace::Id> stacks_;  // by low half of the hash
  FlatMap<uint64_t, uint8_t> described_;
  FlatMap<uint64_t, trace::Id> sampled_;  // by hash
  std::vector<ring::ModuleRecord> modules_;
  std::vector<NativeFrame> frames_;
};

}  // namespace streamscope::record
