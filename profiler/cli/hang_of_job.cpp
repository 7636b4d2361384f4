// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "hang_of_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <thread>

#include "analysis/analyses.h"
#include "analysis/labels.h"
#include "command.h"
#include "job/files/hang_note.h"
#include "job/files/nccl_dumps.h"
#include "job/files/run_folder.h"
#include "job/hang_state.h"
#include "job/hang_watch.h"
#include "terminal.h"
#include "trace/error.h"
#include "trace/loss.h"
#include "traces.h"

namespace streamscope::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using job::RankHang;
using job::RankState;

// A recorder that reads a large trace answers later.
constexpr auto kLongestWait = 10s;

// Once every recorder that is there has answered.
std::vector<job::FoundNote> notes_in(const fs::path& folder) {
  const auto until = std::chrono::steady_clock::now() + kLongestWait;
  for (;;) {
    std::vector<job::FoundNote> notes = job::read_notes(folder);
    bool waits = false;
    (void)job::ranks_of(notes, &waits);
    if (!waits || std::chrono::steady_clock::now() > until) return notes;
    std::this_thread::sleep_for(100ms);
  }
}

bool is_over(const RankHang& rank) {
  return rank.state == RankState::kEnded || rank.state == RankState::kDied ||
         rank.state == RankState::kLost;
}

bool is_asked(const std::vector<job::FoundNote>& notes) {
  return std::ranges::any_of(
      notes, [](const job::FoundNote& found) { return found.note.asked_for_ms > 0; });
}

// Those without a note, by their traces. `are_asked`: their recorders would have written one.
void add_traces(const fs::path& folder, bool are_asked, bool quiet,
                std::map<int32_t, RankHang>& ranks) {
  for (const job::RankIdentity& identity : job::read_run_folder(folder).ranks) {
    const auto known = ranks.find(identity.rank);
    if (known != ranks.end() && !known->second.identity.told_by.empty()) continue;
    const trace::Trace trace = load(folder / identity.trace, quiet);
    analysis::Analyses analyses(trace);
    RankHang rank = job::hang_state(analyses, identity);
    if (known != ranks.end() && are_asked && !is_over(rank) &&
        trace::is_unfinished(folder / identity.trace)) {
      rank.state = RankState::kLost;
      rank.reason = known->second.reason;
    }
    ranks[identity.rank] = std::move(rank);
  }
}

// `missing`: why there is no trace, where no rank has a note either.
std::map<int32_t, RankHang> ranks_in(const fs::path& folder,
                                     const std::vector<job::FoundNote>& notes, bool quiet,
                                     std::optional<Error>& missing) {
  std::map<int32_t, RankHang> ranks;
  for (RankHang& rank : job::ranks_in(folder, notes))
    ranks.emplace(rank.identity.rank, std::move(rank));
  if (!notes.empty() && ranks.size() == notes.size()) return ranks;
  try {
    add_traces(folder, is_asked(notes), quiet, ranks);
  } catch (const Error& error) {
    if (notes.empty()) missing = error;
  }
  return ranks;
}

}  // namespace

int report_job_hang(const fs::path& folder, bool quiet) {
  std::vector<job::FoundNote> notes = notes_in(folder);
  // Where nobody has asked, most notes say nothing of the rank's calls.
  if (!is_asked(notes))
    std::erase_if(notes, [](const job::FoundNote& found) { return found.note.more_follows; });
  std::vector<RankHang> ranks;
  std::optional<Error> missing;
  for (auto& [number, rank] : ranks_in(folder, notes, quiet, missing))
    ranks.push_back(std::move(rank));
  std::vector<std::string> problems;
  job::add_foreign_ranks(folder, ranks, problems);
  for (const std::string& problem : problems) message("{}", problem);
  if (ranks.empty() && missing) throw *missing;
  if (ranks.empty()) {
    throw Error(folder, "has no trace of a rank",
                "record with streamscope record --run; streamscope hang TRACE explains a single "
                "trace");
  }
  const auto judged = std::ranges::find_if(
      notes, [](const job::FoundNote& found) { return !found.note.verdict.empty(); });
  if (judged != notes.end() && std::ranges::all_of(ranks, is_over)) {
    fmt::print("{}\n  as rank {} found while the job ran; it has ended since\n",
               analysis::printable(judged->note.verdict), judged->note.rank.identity.rank);
    return kFound;
  }
  const job::JobHang hang = job::explain(ranks);
  if (hang.kind == job::JobHangKind::kNone) {
    fmt::print("no rank of the job was hung when its trace ended\n");
    return kDone;
  }
  fmt::print("{}", analysis::printable(job::text_of(hang, notes), true));
  return kFound;
}

}  // namespace streamscope::cli
