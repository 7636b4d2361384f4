// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/hang_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace streamscope::job {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// Touched by ranks that ask.
constexpr char kMarker[] = ".streamscope-hang";
// A recorder that explains its rank, or reads a large trace, writes nothing meanwhile.
constexpr std::chrono::milliseconds kLongPromise = 60s;
// After the end of a process, its exit code is known.
constexpr auto kEndSettles = 100ms;
// Reading traces takes at most this part of a recorder's time, unless its rank makes no progress.
constexpr int kLookShare = 10;
// A verdict that was followed by progress makes the next one wait longer, up to this factor.
constexpr double kMostVerdictPatience = 8;

int64_t wall_clock_ns(std::chrono::nanoseconds before = {}) {
  const auto now = std::chrono::system_clock::now() - before;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
}

void touch(const fs::path& file) {
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (opened < 0) return;
  (void)::futimens(opened, nullptr);
  ::close(opened);
}

// Opened first, as a network file system may otherwise answer from its cache. 0: no such file.
int64_t touched_ns(const fs::path& file) {
  const int opened = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (opened < 0) return 0;
  struct stat facts {};
  const bool known = ::fstat(opened, &facts) == 0;
  ::close(opened);
  return known ? int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec : 0;
}

// Nothing that a rank does by itself ends such a hang.
bool is_final(JobHangKind kind) {
  return kind == JobHangKind::kDeadRank || kind == JobHangKind::kMismatch ||
         kind == JobHangKind::kOrder;
}

}  // namespace

HangWatch::HangWatch(fs::path note, RankIdentity identity, Work work, HangWatchTimes times)
    : folder_(note.parent_path()),
      file_(std::move(note)),
      marker_(folder_ / kMarker),
      work_(std::move(work)),
      times_(times),
      moved_at_(Clock::now()) {
  note_.rank.identity = std::move(identity);
  marked_ns_ = touched_ns(marker_);
  // Who and where it is, should its host be gone when others ask.
  seen_.calls_are_missing = true;
  note_.more_follows = true;
  try {
    write(Clock::now());
  } catch (const std::exception&) {
  }
  written_at_ = {};
}

bool HangWatch::is_asked(Clock::time_point now) {
  if (now - folder_looked_at_ >= times_.between_looks) {
    folder_looked_at_ = now;
    const int64_t marked = touched_ns(marker_);
    // The marker is touched more often than it is forgotten.
    if (std::exchange(marked_ns_, marked) != marked)
      asked_until_ = now + 2 * times_.between_notes + times_.between_looks;
  }
  return now < asked_until_;
}

void HangWatch::step(const RankStatus& status) {
  const auto now = Clock::now();
  if (status.moved != status_.moved) {
    is_fresh_ = false;
    // What arrives with an answer is older than the question.
    if (!status.is_asking && !status_.is_asking) {
      moved_at_ = now;
      if (std::exchange(reported_, false))
        patience_ = std::min(2 * patience_, kMostVerdictPatience);
    }
  }
  status_ = status;
  const bool asks = status.is_watched && !status.has_ended && now - moved_at_ >= times_.quiet_s;
  const bool begins = asks && !asks_, stops = asks_ && !asks;
  asks_ = asks;
  if (begins) {
    asks_since_ = now;
    is_fresh_ = false;  // the explanation of a hang needs some time without progress
    work_.ask();
    status_.is_asking = true;  // until the next step says so
  }
  const bool is_due = now - written_at_ >= times_.between_notes;
  // What is known about the end arrives within a moment.
  const bool is_over = status.has_ended && (status.is_final || now - moved_at_ >= kEndSettles);
  const bool may_look =
      is_over ||
      (!status_.is_asking && (now >= next_look_ || (asks && now - moved_at_ >= times_.verdict_s)));
  try {
    if (status.has_ended ? !is_over || is_fresh_ : !is_asked(now) && !asks && !stops) return;
    if (!is_fresh_ && may_look && (asks || is_over || is_due)) {
      look(now);
    } else if (is_due || stops) {
      note_.more_follows = asks && !is_fresh_;
      write(now);
      note_.more_follows = false;
    }
    if (!asks) return;
    if (begins || is_due) touch(marker_);
    if (is_fresh_) judge(now);
  } catch (const std::exception&) {  // also a lack of memory for a large trace
  }
}

void HangWatch::look(Clock::time_point now) {
  note_.more_follows = !status_.has_ended;
  if (note_.more_follows) write(now, kLongPromise);
  note_.more_follows = false;
  is_fresh_ = true;  // also if that fails
  seen_ = work_.look(asks_);
  const auto end = Clock::now();
  next_look_ = end + kLookShare * (end - now);
  write(end);
}

void HangWatch::write(Clock::time_point now, std::chrono::milliseconds promise) {
  const auto ms = [](auto duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  };
  written_at_ = now;
  RankIdentity identity = std::move(note_.rank.identity);
  note_.rank = seen_;
  note_.rank.identity = std::move(identity);
  if (status_.is_watched && !status_.has_ended && !asks_) {
    note_.rank.state = RankState::kRuns;
    note_.rank.reason = "makes progress";
  }
  note_.pid = status_.pid;
  note_.written_ns = wall_clock_ns();
  note_.progress_ns = wall_clock_ns(now - moved_at_);
  note_.asked_for_ms =
      asks_ ? static_cast<uint32_t>(std::max<int64_t>(ms(now - asks_since_), 1)) : 0;
  note_.renewed_within_ms = status_.has_ended ? 0 : static_cast<uint32_t>(promise.count());
  write_note(note_, file_);
}

void HangWatch::pause() {
  if (!asks_) return;
  try {
    note_.more_follows = true;
    write(Clock::now(), kLongPromise);
    note_.more_follows = false;
    is_fresh_ = false;  // the trace will say more
  } catch (const std::exception&) {
  }
}

// Less and less often, as the notes of a large job are many.
void HangWatch::judge(Clock::time_point now) {
  const auto quiet = now - moved_at_;
  if (reported_ ||
      now - judged_at_ < std::max<Clock::duration>(times_.between_looks / 2, quiet / 8))
    return;
  judged_at_ = now;
  bool waits = false;
  const std::vector<FoundNote> notes = read_notes(folder_);
  const std::vector<RankHang> ranks = ranks_in(folder_, notes, &waits);
  if (waits) return;
  JobHang hang = explain(ranks);
  if (hang.kind == JobHangKind::kNone || hang.kind == JobHangKind::kOnOneRank) return;
  bool hangs = is_final(hang.kind);
  for (const RankHang& rank : ranks) {
    if (!std::ranges::binary_search(hang.culprits, rank.identity.rank)) continue;
    if (rank.state == RankState::kRuns) return;
    hangs |= rank.state == RankState::kHangs;
  }
  if (!hangs && quiet < times_.verdict_s * patience_) return;
  reported_ = true;
  note_.verdict = hang.headline;
  write(now);
  const double quiet_s = std::chrono::duration<double>(quiet).count();
  work_.report((hangs ? std::string("the job hangs: ")
                      : fmt::format("the job has made no progress for {:.1f} s: ", quiet_s)) +
               text_of(hang, notes));
}

std::string text_of(const JobHang& hang, const std::vector<FoundNote>& notes) {
  std::string text = hang.headline + "\n";
  for (const std::string& line : hang.lines) text += "  " + line + "\n";
  for (const std::string& line : places_of(hang.culprits, notes)) text += "  " + line + "\n";
  return text;
}

}  // namespace streamscope::job
