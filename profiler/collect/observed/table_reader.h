// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reads and empties tables of a context and their spills, by kernels in a stream of its own
// (reader.cu).
#pragma once

#include <cuda.h>

#include <vector>

#include "collect/observed/table.h"

namespace streamscope::collect {

/// What a table contains, on the host.
struct Contents {
  std::vector<TouchRun> runs;
  std::vector<TouchSlot> granules;
  std::vector<TouchLaunch> launches;
  bool complete = false;
};

/// For one thread, with the context current.
class TableReader {
 public:
  /// All launches of the table have ended. False if the driver fails.
  bool read(const Table& table, Contents& contents);
  /// Why it fails.
  const char* failure() const;

 private:
  bool make();
  // Of a table or a spill, which begins there and is `empty` afterwards: appends what it contains,
  // and empties it. Reads so many slots at once, or less where their report has no room for them.
  bool take(TouchTable* from, const TouchTable& empty, uint64_t at_once, TouchReport& report,
            Contents& contents);
  bool report_slots(const TouchTable* from, TouchReport& report);

  CUfunction report_ = nullptr;
  CUfunction clear_ = nullptr;
  CUstream stream_ = nullptr;         // null: not made yet
  TouchReport empty_ = {};            // the report before it is filled
  TouchReport* report_at_ = nullptr;  // in device memory
};

}  // namespace streamscope::collect
