// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// The part of a rank's recorder in finding out which rank a job hangs on: it writes a note of its
// rank while that makes no progress or another rank asks for it, and reads those of the others.
//
// A rank that makes no progress touches a file in the folder of the run each second. The other
// recorders notice that and write their notes too, so one that does not is gone.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "files/hang_note.h"
#include "job_hang.h"

namespace streamscope::job {

/// How a rank is at this moment, as its recorder sees it without reading the trace.
struct RankStatus {
  bool is_watched = false;  ///< it is being recorded; false: not yet, not now, or not any more
  bool has_ended = false;
  bool is_final = false;   ///< the trace is finished; nothing follows
  bool is_asking = false;  ///< its device is being asked how far it is, and has not answered
  int32_t pid = -1;
  uint64_t moved = 0;  ///< changes with its progress, its end, and what is known about that
};

/// Times that tests shorten.
struct HangWatchTimes {
  std::chrono::duration<double> quiet_s{1.2};  ///< without progress: it asks
  std::chrono::milliseconds between_notes{1000};
  std::chrono::milliseconds between_looks{500};  ///< at the folder
  std::chrono::duration<double> verdict_s{3};  ///< without progress: the job's verdict is reported
};

/// Thread-compatible. Errors of the folder are ignored: the recording comes first.
class HangWatch {
 public:
  using Clock = std::chrono::steady_clock;
  struct Work {
    /// Asks the device of the rank, which is about to be looked at, how far it is. Does not wait.
    std::function<void()> ask;
    /// Reads how the rank is from its trace, which may take long. `quiet`: it makes no progress.
    std::function<RankHang(bool quiet)> look;
    /// A verdict on the job, several lines. Once, until the rank makes progress again.
    std::function<void(const std::string&)> report;
  };
  /// `note`: the file to write, in the folder of the run. It gets a first note, which says who the
  /// rank is.
  HangWatch(std::filesystem::path note, RankIdentity identity, Work work,
            HangWatchTimes times = {});

  /// Called often; cheap while the rank makes progress.
  void step(const RankStatus& status);
  /// The caller will not call for some time.
  void pause();

 private:
  bool is_asked(Clock::time_point now);
  void look(Clock::time_point now);
  void write(Clock::time_point now, std::chrono::milliseconds promise = kNotePromise);
  void judge(Clock::time_point now);

  std::filesystem::path folder_, file_, marker_;
  Work work_;
  HangWatchTimes times_;
  HangNote note_;
  RankHang seen_;  // in the trace
  RankStatus status_;
  Clock::time_point moved_at_, written_at_{}, folder_looked_at_{}, asked_until_{};
  Clock::time_point asks_since_{}, next_look_{}, judged_at_{};
  int64_t marked_ns_ = 0;
  bool is_fresh_ = false;  // nothing has moved since
  bool asks_ = false, reported_ = false;
  double patience_ = 1;
};

/// What a recorder, or `streamscope hang`, prints: headline and lines, and which processes the
/// culprits are, as far as notes say.
std::string text_of(const JobHang& hang, const std::vector<FoundNote>& notes);

}  // namespace streamscope::job
