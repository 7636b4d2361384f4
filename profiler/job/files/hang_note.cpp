// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/files/hang_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <set>
#include <tuple>

#include "files/packed_hang.pb.h"
#include "packed_file.h"
#include "run_folder.h"
#include "trace/error.h"
#include "trace/folder_names.h"

namespace streamscope::job {
namespace {

namespace fs = std::filesystem;

constexpr PackedKind kNote{
    {'S', 'S', 'H', 'n'}, kHangNoteVersion, "note of a rank", "wait until its recorder renews it"};
constexpr int32_t kMostRanks = 1 << 20;  // of which each may be lost
constexpr size_t kMostNameBytes = 128, kMostReasonBytes = 900, kMostVerdictBytes = 900;

// Without a part of a character at the end.
std::string cut(const std::string& text, size_t most) {
  constexpr std::string_view kMore = "…";
  if (text.size() <= most) return text;
  size_t end = most - kMore.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + std::string(kMore);
}

void add(const LastCall& call, packed::Note& to) {
  to.add_communicator(call.communicator);
  to.add_ranks_of_communicator(call.size);
  to.add_rank_in_communicator(call.rank);
  to.add_peer(call.peer);
  to.add_sequence(call.sequence);
  to.add_issued(call.issued);
  to.add_kind(static_cast<uint32_t>(call.kind));
  to.add_bytes(call.bytes);
  to.add_progress((call.started ? 1u : 0u) | (call.ended ? 2u : 0u));
}

// What others may wait for comes first.
std::vector<const LastCall*> by_importance(const std::vector<LastCall>& calls) {
  std::vector<const LastCall*> order;
  for (const LastCall& call : calls) order.push_back(&call);
  std::ranges::stable_sort(order, {}, [](const LastCall* call) {
    return call->ended ? 2 : call->started ? 0 : 1;
  });
  return order;
}

packed::Note without_calls(const HangNote& note) {
  const RankIdentity& identity = note.rank.identity;
  packed::Note to;
  to.set_rank(identity.rank);
  to.set_world_size(identity.world_size);
  to.set_local_rank(identity.local_rank);
  to.set_host(cut(identity.host, kMostNameBytes));
  to.set_told_by(cut(identity.told_by, kMostNameBytes));
  to.set_trace(cut(identity.trace, 2 * kMostNameBytes));
  to.set_pid(note.pid);
  to.set_state(static_cast<uint32_t>(note.rank.state));
  to.set_reason(cut(note.rank.reason, kMostReasonBytes));
  to.set_in_message(note.rank.in_message);
  to.set_progress_ns(note.progress_ns);
  to.set_written_ns(note.written_ns);
  to.set_asked_for_ms(note.asked_for_ms);
  to.set_more_follows(note.more_follows);
  to.set_renewed_within_ms(note.renewed_within_ms);
  to.set_verdict(cut(note.verdict, kMostVerdictBytes));
  return to;
}

// "14:03:22 UTC"
std::string time_of_day(int64_t wall_clock_ns) {
  const auto seconds = static_cast<time_t>(wall_clock_ns / 1'000'000'000);
  tm parts{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return "an unknown time";
  return fmt::format("{:02}:{:02}:{:02} UTC", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// The clocks of two hosts differ, that of the file system is one.
std::string silence(const FoundNote& found, bool host_writes) {
  const std::string& host = found.note.rank.identity.host;
  return fmt::format(
      "has written nothing since {}, {} its host {} {}", time_of_day(found.last_sign_ns),
      host_writes ? "though others on" : "and nobody on", host, host_writes ? "have" : "has");
}

}  // namespace

std::string pack(const HangNote& note) {
  packed::Note to = without_calls(note);
  to.set_calls_are_missing(true);
  size_t added = 0;
  for (const LastCall* call : by_importance(note.rank.calls)) {
    packed::Note longer = to;
    add(*call, longer);
    if (kPackedHeaderBytes + longer.ByteSizeLong() > kMostNoteBytes) break;
    to = std::move(longer);
    ++added;
  }
  to.set_calls_are_missing(note.rank.calls_are_missing || added < note.rank.calls.size());
  return with_header(kNote, to.SerializeAsString());
}

HangNote unpack_note(std::string_view bytes, const fs::path& origin) {
  bytes = without_header(kNote, bytes, origin);
  packed::Note from;
  const auto require = [&](bool holds) {
    if (!holds) throw_damaged(kNote, origin);
  };
  require(from.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) &&
          from.state() <= static_cast<uint32_t>(RankState::kLost) && from.rank() >= 0 &&
          from.world_size() <= kMostRanks);
  HangNote note;
  note.rank.identity = {.rank = from.rank(),
                        .world_size = from.world_size(),
                        .local_rank = from.local_rank(),
                        .host = from.host(),
                        .gpu = {},
                        .told_by = from.told_by(),
                        .trace = from.trace()};
  note.pid = from.pid();
  note.rank.state = static_cast<RankState>(from.state());
  note.rank.reason = from.reason();
  note.rank.in_message = from.in_message();
  note.rank.calls_are_missing = from.calls_are_missing();
  note.progress_ns = from.progress_ns();
  note.written_ns = from.written_ns();
  note.asked_for_ms = from.asked_for_ms();
  note.more_follows = from.more_follows();
  note.renewed_within_ms = from.renewed_within_ms();
  note.verdict = from.verdict();
  const int count = from.communicator_size();
  for (const int other : {from.ranks_of_communicator_size(), from.sequence_size(),
                          from.issued_size(), from.kind_size(), from.bytes_size(),
                          from.progress_size(), from.rank_in_communicator_size(), from.peer_size()})
    require(other == count);
  std::set<std::tuple<std::string_view, CollectiveKind, int32_t>> known;
  for (int i = 0; i < count; ++i) {
    require(from.kind(i) < std::size(kCollectiveKinds) && from.progress(i) < 4 &&
            from.sequence(i) <= from.issued(i));
    const auto kind = static_cast<CollectiveKind>(from.kind(i));
    const bool message = is_message(kind);
    require(message ? from.rank_in_communicator(i) >= 0 && from.peer(i) >= 0 : from.peer(i) < 0);
    require(known.insert({from.communicator(i), message ? kind : CollectiveKind{}, from.peer(i)})
                .second);
    note.rank.calls.push_back({.communicator = from.communicator(i),
                               .size = from.ranks_of_communicator(i),
                               .rank = from.rank_in_communicator(i),
                               .peer = from.peer(i),
                               .sequence = from.sequence(i),
                               .issued = from.issued(i),
                               .kind = kind,
                               .bytes = from.bytes(i),
                               .started = (from.progress(i) & 1) != 0,
                               .ended = (from.progress(i) & 2) != 0});
  }
  return note;
}

void write_note(const HangNote& note, const fs::path& file) { replace_file(file, pack(note)); }

namespace {

int64_t last_written_ns(const fs::path& file) {
  std::error_code error;
  const fs::file_time_type written = fs::last_write_time(file, error);
  if (error) return 0;
  const auto since = std::chrono::file_clock::to_sys(written).time_since_epoch();
  return std::chrono::nanoseconds(since).count();
}

FoundNote read_note(const fs::path& folder, const std::string& name) {
  FoundNote found{unpack_note(read_file(folder / name), folder / name), {}};
  std::error_code error;
  found.renewed = fs::last_write_time(folder / name, error);
  found.last_sign_ns = found.note.written_ns;
  // A recorder that nobody has asked writes only the trace.
  const std::string& trace = found.note.rank.identity.trace;
  if (found.note.more_follows && trace.find('/') == trace.npos) {
    found.last_sign_ns = std::max({found.last_sign_ns, last_written_ns(folder / trace),
                                   last_written_ns(folder / (trace + "-wal"))});
  }
  return found;
}

}  // namespace

std::vector<FoundNote> read_notes(const fs::path& folder) {
  std::vector<FoundNote> notes;
  for (const std::string& name : trace::try_names_in(folder).value_or(std::vector<std::string>())) {
    if (!name.ends_with(kHangNoteEnding) || name.starts_with('.')) continue;
    try {
      notes.push_back(read_note(folder, name));
    } catch (const Error&) {  // of another version, or removed meanwhile
    }
  }
  const auto identity = [](const FoundNote& found) { return found.note.rank.identity; };
  if (!std::ranges::all_of(notes, is_from_slurm, identity))
    std::erase_if(notes, [&](const FoundNote& found) { return is_from_slurm(identity(found)); });
  std::ranges::sort(notes, {}, [&](const FoundNote& found) {
    return std::pair(found.note.rank.identity.rank, -found.renewed.time_since_epoch());
  });
  const auto older = std::ranges::unique(
      notes, {}, [](const FoundNote& found) { return found.note.rank.identity.rank; });
  notes.erase(older.begin(), older.end());
  return notes;
}

std::vector<RankHang> ranks_of(const std::vector<FoundNote>& notes, bool* waits) {
  using std::chrono::milliseconds;
  // Since when somebody has asked, by the clock of the file system.
  fs::file_time_type newest = fs::file_time_type::min(), asked = fs::file_time_type::max();
  for (const FoundNote& found : notes) newest = std::max(newest, found.renewed);
  for (const FoundNote& found : notes) {
    const milliseconds for_ms(found.note.asked_for_ms), promised(found.note.renewed_within_ms);
    if (for_ms.count() > 0 && newest - found.renewed <= promised)
      asked = std::min(asked, found.renewed - for_ms);
  }
  const bool is_asked = asked != fs::file_time_type::max();
  const auto is_silent = [&](const FoundNote& found) {
    const milliseconds promised(found.note.renewed_within_ms);
    return is_asked && promised.count() > 0 && newest - std::max(found.renewed, asked) > promised;
  };
  bool some_may_answer = false;
  std::set<std::string_view> hosts;  // on which somebody writes
  for (const FoundNote& found : notes) {
    const bool is_last = found.note.renewed_within_ms == 0, silent = is_silent(found);
    some_may_answer |=
        is_asked && !is_last && !silent && (found.renewed < asked || found.note.more_follows);
    if (!is_last && !silent) hosts.insert(found.note.rank.identity.host);
  }
  std::vector<RankHang> ranks;
  for (const FoundNote& found : notes) {
    RankHang& rank = ranks.emplace_back(found.note.rank);
    if (!is_silent(found)) continue;
    rank.state = RankState::kLost;
    rank.calls_are_missing = false;  // it may be the one that others wait for
    rank.reason = silence(found, hosts.contains(rank.identity.host));
  }
  const size_t known = ranks.size();
  add_lost_ranks(ranks, "has written nothing");
  some_may_answer |= ranks.size() > known && is_asked && newest - asked <= kNotePromise;
  if (waits != nullptr) *waits = some_may_answer;
  return ranks;
}

std::vector<RankHang> ranks_in(const fs::path& folder, const std::vector<FoundNote>& notes,
                               bool* waits) {
  std::vector<RankHang> ranks = ranks_of(notes, waits);
  if (ranks.size() == notes.size()) return ranks;
  const std::vector<std::string> names =
      trace::try_names_in(folder).value_or(std::vector<std::string>());
  for (size_t i = notes.size(); i < ranks.size(); ++i) {
    const std::string prefix = fmt::format("rank-{:05}", ranks[i].identity.rank);
    int64_t written = 0;
    for (const std::string& name : names) {
      if (name.starts_with(prefix)) written = std::max(written, last_written_ns(folder / name));
    }
    if (written > 0) ranks[i].reason += " since " + time_of_day(written);
  }
  return ranks;
}

std::vector<std::string> places_of(const std::vector<int32_t>& ranks,
                                   const std::vector<FoundNote>& notes) {
  constexpr size_t kMostPlaces = 4;
  std::vector<std::string> lines;
  for (const FoundNote& found : notes) {
    const RankIdentity& identity = found.note.rank.identity;
    if (found.note.pid < 0 || lines.size() == kMostPlaces ||
        !std::ranges::binary_search(ranks, identity.rank))
      continue;
    lines.push_back(fmt::format("rank {} is process {} on {}; its last progress was at {}",
                                identity.rank, found.note.pid, identity.host,
                                time_of_day(found.note.progress_ns)));
  }
  return lines;
}

}  // namespace streamscope::job
