// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/files/nccl_dumps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "packed_file.h"
#include "pickle.h"
#include "trace/error.h"
#include "trace/folder_names.h"
#include "vocabulary/rank.h"

namespace streamscope::job {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Members of JSON objects, whatever they are.
const json& member(const json& object, const char* name) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(name);
  return found == object.end() ? kNothing : *found;
}
std::string text_in(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}
uint64_t number_in(const json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  return value.is_number_integer()
             ? static_cast<uint64_t>(std::max<int64_t>(value.get<int64_t>(), 0))
             : 0;
}
bool is_true(const json& value) { return value.is_boolean() && value.get<bool>(); }

uint32_t small(uint64_t number) {
  return static_cast<uint32_t>(std::min<uint64_t>(number, UINT32_MAX));
}

// PyTorch's names of types.
uint64_t bytes_of_type(const std::string& name) {
  constexpr std::pair<std::string_view, uint64_t> kTypes[] = {
      {"Byte", 1}, {"Char", 1},     {"Bool", 1},         {"Short", 2},
      {"Half", 2}, {"BFloat16", 2}, {"Int", 4},          {"Float", 4},
      {"Long", 8}, {"Double", 8},   {"ComplexFloat", 8}, {"ComplexDouble", 16}};
  for (const auto& [type, bytes] : kTypes) {
    if (name == type) return bytes;
  }
  return name.starts_with("Float8") ? 1 : 0;
}

// Of the tensors that the rank contributes; 0: not known.
uint64_t input_bytes(const json& entry) {
  const json &sizes = member(entry, "input_sizes"), &types = member(entry, "input_dtypes");
  if (!sizes.is_array() || !types.is_array() || sizes.size() != types.size()) return 0;
  uint64_t sum = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    uint64_t bytes = bytes_of_type(text_in(types[i]));
    if (!sizes[i].is_array()) return 0;
    for (const json& size : sizes[i]) {
      if (__builtin_mul_overflow(bytes, number_in(size), &bytes)) return 0;
    }
    if (__builtin_add_overflow(sum, bytes, &sum)) return 0;
  }
  return sum;
}

// The line of the program: the innermost frame that is not PyTorch's.
std::string source_line_of(const json& entry) {
  const json& frames = member(entry, "frames");
  if (!frames.is_array()) return "";
  for (const json& frame : frames) {
    const std::string file = text_in(member(frame, "filename"));
    if (file.empty() || file.find("/torch/") != file.npos) continue;
    return fmt::format("{}:{} {}", fs::path(file).filename().string(),
                       number_in(member(frame, "line")), text_in(member(frame, "name")));
  }
  return "";
}

class FlightDump {
 public:
  FlightDump(const json& dump, int32_t rank) : dump_(dump) { hang_.identity.rank = rank; }

  RankHang read() {
    const json& entries = member(dump_, "entries");
    if (entries.is_array()) {
      has_starts_ = std::ranges::any_of(entries, [](const json& entry) {
        return number_in(member(entry, "time_discovered_started_ns")) > 0;
      });
      for (const json& entry : entries) add(entry);
    }
    hang_.state = RankState::kQuiet;
    hang_.reason = waits_at_.empty() ? "has ended all collectives that it called"
                                     : "waits in what " + waits_at_ + " called";
    for (auto& [name, call] : calls_) {
      call.communicator = name;
      hang_.calls.push_back(std::move(call));
    }
    return std::move(hang_);
  }

 private:
  void add(const json& entry) {
    const json& group = member(entry, "process_group");
    const std::string id = group.is_array() && !group.empty() ? text_in(group[0]) : "";
    const std::string what = group.is_array() && group.size() > 1 ? text_in(group[1]) : "";
    const std::string state = text_in(member(entry, "state"));
    const bool ended = state == "completed";
    // Without timing PyTorch does not notice starts, and each group runs its work in order.
    const bool first =
        calls_.find(name_of(id, what)) == calls_.end() || calls_[name_of(id, what)].ended;
    const bool started = ended || state == "started" || (!has_starts_ && first);
    if (is_true(member(entry, "is_p2p"))) {
      hang_.in_message |= started && !ended;
      return;
    }
    const uint32_t number = small(number_in(member(entry, "collective_seq_id")));
    LastCall& call = calls_[name_of(id, what)];
    call.issued = std::max(call.issued, number);
    if (call.size < 0) call.size = size_of(id);
    // The parts of a coalesced collective have one number.
    const bool is_part = call.sequence == number && call.kind != CollectiveKind::kOther;
    if (!first || is_part) {
      call.ended &= ended || call.sequence != number;
      return;
    }
    call.sequence = number;
    call.kind = collective_kind(text_in(member(entry, "profiling_name")));
    call.bytes = input_bytes(entry);
    call.started = started;
    call.ended = ended;
    if (!ended && waits_at_.empty()) waits_at_ = source_line_of(entry);
  }
  static std::string name_of(const std::string& id, const std::string& what) {
    return what.empty() || what == "undefined" ? id : fmt::format("{} ({})", id, what);
  }
  // "[0, 1, 2]"
  int32_t size_of(const std::string& id) const {
    const std::string ranks =
        text_in(member(member(member(dump_, "pg_config"), id.c_str()), "ranks"));
    if (ranks.size() < 3) return -1;
    return static_cast<int32_t>(1 + std::ranges::count(ranks, ','));
  }

  const json& dump_;
  RankHang hang_;
  std::map<std::string, LastCall> calls_;
  std::string waits_at_;
  bool has_starts_ = false;
};

json parse(std::string_view bytes, const fs::path& origin) {
  if (!bytes.empty() && bytes[0] == '\x80') return read_pickle(bytes, origin);
  constexpr bool kThrows = false;
  json value = json::parse(bytes, nullptr, kThrows);
  if (value.is_discarded()) throw Error(origin, "is neither JSON nor a pickle", "dump it again");
  return value;
}

// "nccl_trace_rank_3", "rank_3.json"; -1: the name has no number at its end.
int32_t rank_in(std::string name) {
  for (const std::string_view ending : {".json", ".pickle", ".pkl"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  const size_t digits = name.find_last_not_of("0123456789");
  if (digits == name.npos || name.find("rank") == name.npos) return -1;
  return rank_number(name.substr(digits + 1));
}

bool is_of_ours(const std::string& name) {
  return name.ends_with(".sqlite") || name.ends_with(kHangNoteEnding) || name.ends_with(".summary");
}

// Visits what may be a dump; another file of that name is a problem only if it is broken.
template <class Visit>
void each_file(const fs::path& folder, std::vector<std::string>& problems, const Visit& visit) {
  std::vector<std::string> names = trace::try_names_in(folder).value_or(std::vector<std::string>());
  std::ranges::sort(names);
  for (const std::string& name : names) {
    std::error_code error;
    if (name.starts_with('.') || is_of_ours(name) || !fs::is_regular_file(folder / name, error))
      continue;
    try {
      visit(name);
    } catch (const Error& failure) {
      problems.push_back(fmt::format("{} {}", name, failure.cause()));
    }
  }
}

}  // namespace

RankHang read_flight_dump(std::string_view bytes, int32_t rank, const fs::path& origin) {
  const json dump = parse(bytes, origin);
  if (!member(dump, "version").is_string() || !member(dump, "pg_config").is_object())
    throw Error(origin, "is no dump of PyTorch's flight recorder", "check the name");
  return FlightDump(dump, rank).read();
}

ForeignRanks read_flight_dumps(const fs::path& folder) {
  ForeignRanks found;
  each_file(folder, found.problems, [&](const std::string& name) {
    const int32_t rank = rank_in(name);
    if (rank < 0) return;
    found.ranks.push_back(read_flight_dump(read_file(folder / name), rank, folder / name));
    found.ranks.back().identity.trace = name;
  });
  std::ranges::stable_sort(found.ranks, {},
                           [](const RankHang& rank) { return rank.identity.rank; });
  return found;
}

ForeignRanks read_ras_report(std::string_view bytes, const fs::path& origin) {
  constexpr bool kThrows = false;
  const json report = json::parse(bytes, nullptr, kThrows);
  const json& communicators = member(report, "communicators");
  if (report.is_discarded() || !communicators.is_array())
    throw Error(origin, "is no answer of NCCL's RAS", "use ncclras -f json");
  ForeignRanks found;
  const json* largest = nullptr;
  for (const json& one : communicators) {
    if (largest == nullptr || number_in(member(one, "size")) > number_in(member(*largest, "size")))
      largest = &one;
  }
  if (largest == nullptr) return found;
  const std::string communicator = text_in(member(*largest, "hash"));
  found.world_size =
      static_cast<int32_t>(std::min<uint64_t>(number_in(member(*largest, "size")), 1 << 20));
  std::vector<uint64_t> counts;
  for (const json& rank : member(*largest, "ranks")) {
    uint64_t count = 0;
    for (const auto& [name, calls] : member(rank, "collective_counts").items()) {
      const CollectiveKind kind = collective_kind(name);
      if (kind != CollectiveKind::kOther && !is_message(kind)) count += number_in(calls);
    }
    RankHang& hang = found.ranks.emplace_back();
    hang.identity.rank =
        static_cast<int32_t>(std::min<uint64_t>(number_in(member(rank, "rank")), INT32_MAX));
    hang.state = RankState::kQuiet;
    hang.reason = "answers NCCL's RAS";
    counts.push_back(count);
    if (count == 0) continue;
    hang.calls.push_back({.communicator = communicator,
                          .size = found.world_size,
                          .sequence = small(count - 1),
                          .issued = small(count - 1)});
  }
  // Who called less than others is awaited by them.
  const auto [least, most] = std::ranges::minmax_element(counts);
  for (size_t i = 0; i < counts.size(); ++i) {
    RankHang& hang = found.ranks[i];
    hang.calls_are_missing = *least == *most;
    if (hang.calls_are_missing) hang.calls.clear();
    for (LastCall& call : hang.calls) {
      call.started = true;
      call.ended = counts[i] < *most;
    }
  }
  for (const json& rank : member(*largest, "missing_ranks")) {
    RankHang& hang = found.ranks.emplace_back();
    hang.identity.rank =
        static_cast<int32_t>(std::min<uint64_t>(number_in(member(rank, "rank")), INT32_MAX));
    hang.state = RankState::kLost;
    hang.reason = is_true(member(member(rank, "status"), "considered_dead"))
                      ? "is considered dead by NCCL's RAS"
                      : "does not answer NCCL's RAS";
  }
  return found;
}

ForeignRanks read_ras_reports(const fs::path& folder) {
  ForeignRanks newest;
  fs::file_time_type at = fs::file_time_type::min();
  std::vector<std::string> problems;
  each_file(folder, problems, [&](const std::string& name) {
    if (name.find("ras") == name.npos || !name.ends_with(".json")) return;
    ForeignRanks found = read_ras_report(read_file(folder / name), folder / name);
    std::error_code error;
    const auto written = fs::last_write_time(folder / name, error);
    if (written >= std::exchange(at, std::max(at, written))) newest = std::move(found);
  });
  newest.problems = std::move(problems);
  return newest;
}

namespace {

void replace_lost(std::vector<RankHang>& ranks, const RankHang& by) {
  const auto known = std::ranges::find(ranks, by.identity.rank,
                                       [](const RankHang& rank) { return rank.identity.rank; });
  if (known == ranks.end()) {
    ranks.push_back(by);
  } else if (known->state == RankState::kLost) {
    *known = by;
  }
}

}  // namespace

void add_foreign_ranks(const fs::path& folder, std::vector<RankHang>& ranks,
                       std::vector<std::string>& problems) {
  const auto is_known = [&](const RankHang& foreign) {
    return std::ranges::any_of(ranks, [&](const RankHang& rank) {
      return rank.identity.rank == foreign.identity.rank && rank.state != RankState::kLost;
    });
  };
  ForeignRanks dumps = read_flight_dumps(folder), ras = read_ras_reports(folder);
  problems.insert(problems.end(), dumps.problems.begin(), dumps.problems.end());
  problems.insert(problems.end(), ras.problems.begin(), ras.problems.end());
  if (!std::ranges::all_of(dumps.ranks, is_known)) {
    // Their names of communicators are not those of traces.
    for (RankHang& rank : ranks) {
      const auto dump = std::ranges::find(dumps.ranks, rank.identity.rank,
                                          [](const RankHang& one) { return one.identity.rank; });
      rank.calls_are_missing |= !rank.calls.empty() && dump == dumps.ranks.end();
      if (dump != dumps.ranks.end() && rank.state != RankState::kLost) rank.calls = dump->calls;
    }
    for (const RankHang& dump : dumps.ranks) replace_lost(ranks, dump);
  }
  for (RankHang& rank : ras.ranks) {
    rank.identity.world_size = ras.world_size;
    if (rank.identity.rank < std::max(ras.world_size, 0)) replace_lost(ranks, rank);
  }
}

}  // namespace streamscope::job
