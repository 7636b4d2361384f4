// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Talks to the recorder of a process that is being recorded, from another program: through the
// control file of its run, which is found by the process's mapped rings.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "rings_folder.h"
#include "trace/write/hang_report.h"

namespace streamscope::record {

/// Move-only; thread-compatible.
class Recorder {
 public:
  /// Throws Error if the process is not being recorded, or its recorder is gone.
  static Recorder of(pid_t process);

  /// Why the process hangs, or that it does not. The program keeps running; takes up to some
  /// seconds. Throws Error if there is no answer.
  trace::HangReport explain() const;
  /// Dumps a flight recorder; returns the file. Throws Error.
  std::filesystem::path dump() const;
  /// The folder of its rings.
  const std::filesystem::path& rings() const { return rings_; }
  /// The trace that it writes; on demand the part that it writes or has written.
  std::filesystem::path trace_file() const { return control_->trace_file; }
  /// It is off until somebody asks (record --start-later).
  bool is_on_demand() const { return control_->on_demand != 0; }
  /// Throws Error if it is not.
  void expect_on_demand() const;

 private:
  Recorder() = default;
  void request(std::atomic<uint32_t>& asked, const std::atomic<uint32_t>& answered) const;

  pid_t process_ = 0;
  std::filesystem::path rings_;
  MappedControl control_;
};

}  // namespace streamscope::record
