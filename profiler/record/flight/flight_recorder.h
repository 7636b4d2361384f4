// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A recording of which only the newest part is kept, in the rings of the program, until a dump is
// requested: a dump processes a copy of the rings like any other recording.
//
// Rings overwrite their oldest records. Those to which later ones refer are read in time and kept
// (drain/known_facts.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "record/drain/known_facts.h"
#include "record/drain/process_identity.h"
#include "ring/ring.h"

namespace streamscope::record {

/// Thread-compatible. Throws Error if a dump cannot be written.
class FlightRecorder {
 public:
  explicit FlightRecorder(std::filesystem::path rings) : rings_(std::move(rings)) {}

  /// Finds new rings and reads their content; returns the largest share of a ring that was new.
  double step();
  /// True once after the program has requested a dump.
  bool take_request() { return std::exchange(requested_, false); }
  /// Changes whenever the program does something.
  uint64_t moved() const { return moved_; }
  bool all_finished() const;
  bool saw_anything() const { return !lanes_.empty(); }
  /// Creates a folder `to` with a copy of the current rings, to be drained into a trace.
  void copy_to(const std::filesystem::path& to);
  /// Answers to the writer's questions since the last call, with their process.
  std::vector<std::pair<uint32_t, ring::AnswerRecord>> take_answers() {
    return std::exchange(answers_, {});
  }

 private:
  struct Lane {
    ring::Consumer ring;
    uint64_t read = 0;                            // records seen
    std::optional<ring::CallRecord> latest_call;  // of these
    bool is_latest_sure = true;                   // false: later ones were overwritten unseen
  };
  void scan();
  void look(Lane& lane);
  static ring::CollectingRecord lost_until(const Lane& lane,
                                           const std::vector<ring::Record>& records,
                                           uint64_t oldest);

  std::filesystem::path rings_;
  std::vector<Lane> lanes_;
  std::set<std::string> opened_;
  FactsOfProcesses facts_;
  std::vector<std::pair<uint32_t, ring::AnswerRecord>> answers_;
  uint64_t moved_ = 0;
  bool requested_ = false;
};

}  // namespace streamscope::record
