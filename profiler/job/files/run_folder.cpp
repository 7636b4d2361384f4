// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "job/files/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "trace/error.h"
#include "trace/folder_names.h"
#include "trace/loss.h"
#include "trace/read/query.h"
#include "trace/write/memory_tables.h"
#include "vocabulary/number_ranges.h"
#include "vocabulary/rank.h"

namespace streamscope::job {
namespace {

namespace fs = std::filesystem;

int32_t number_in(const trace::Query& query, size_t column) {
  const trace::Cell cell = query.cell(column);
  const int64_t* number = std::get_if<int64_t>(&cell);
  return number != nullptr && *number >= 0 && *number <= INT32_MAX ? static_cast<int32_t>(*number)
                                                                   : -1;
}

std::string text_in(const trace::Query& query, size_t column) {
  const trace::Cell cell = query.cell(column);
  const auto* text = std::get_if<std::string_view>(&cell);
  return text == nullptr ? "" : std::string(*text);
}

// One row for each rank of the trace and one for its processes without a rank. A process that has
// made no context used no device.
constexpr char kIdentities[] =
    "SELECT process.rank, max(process.world_size), max(process.local_rank), max(host.value),"
    " max(source.value), count(DISTINCT uuid.value), max(uuid.value) FROM process"
    " LEFT JOIN string AS host ON host.id = process.host_id"
    " LEFT JOIN string AS source ON source.id = process.rank_source_id"
    " LEFT JOIN context ON context.process_id = process.id"
    " LEFT JOIN device ON device.id = context.device_id"
    " LEFT JOIN string AS uuid ON uuid.id = device.uuid_id"
    " GROUP BY process.rank, process.rank_source_id";

std::vector<RankIdentity> identities_of(const fs::path& file) {
  std::vector<RankIdentity> identities;
  for (trace::Query query(file, kIdentities); query.next();) {
    RankIdentity identity{.rank = number_in(query, 0),
                          .world_size = number_in(query, 1),
                          .local_rank = number_in(query, 2),
                          .host = text_in(query, 3),
                          .told_by = text_in(query, 4),
                          .trace = file.filename().string()};
    if (number_in(query, 5) == 1) identity.gpu = text_in(query, 6);
    identities.push_back(std::move(identity));
  }
  return identities;
}

std::vector<std::string> contradictions_in(const fs::path& file) {
  std::vector<std::string> texts;
  for (trace::Query query(file, fmt::format("SELECT detail.value FROM loss"
                                            " JOIN string AS name ON name.id = loss.name_id"
                                            " JOIN string AS detail ON detail.id = loss.detail_id"
                                            " WHERE name.value = '{}'",
                                            trace::kRankContradiction));
       query.next();)
    texts.push_back(fmt::format("{}: {}", file.filename().string(), text_in(query, 0)));
  return texts;
}

class Reader {
 public:
  explicit Reader(const fs::path& folder) : folder_(folder) {}

  RunFolder read() {
    for (const std::string& name : traces_in(folder_)) add(folder_ / name);
    if (run_.ranks.empty() && run_.others.empty() && run_.problems.empty())
      throw Error(folder_, "has no traces", "record into it with streamscope record --run");
    leave_launchers_out();
    std::ranges::stable_sort(run_.ranks, {}, &RankIdentity::rank);
    compare_sizes();
    find_doubled();
    find_missing();
    return std::move(run_);
  }

 private:
  void add(const fs::path& file) {
    const std::string name = file.filename().string();
    try {
      for (RankIdentity& identity : identities_of(file))
        (identity.rank < 0 ? run_.others : run_.ranks).push_back(std::move(identity));
      for (std::string& text : contradictions_in(file)) run_.problems.push_back(std::move(text));
      if (trace::is_unfinished(file)) run_.unfinished.push_back(name);
    } catch (const Error& error) {
      run_.problems.push_back(fmt::format("{} cannot be read: {}", name, error.cause()));
    }
  }

  void leave_launchers_out() {
    if (std::ranges::all_of(run_.ranks, is_from_slurm)) return;
    const auto launchers = std::ranges::stable_partition(
        run_.ranks, [](const RankIdentity& identity) { return !is_from_slurm(identity); });
    std::ranges::move(launchers, std::back_inserter(run_.others));
    run_.ranks.erase(launchers.begin(), launchers.end());
  }

  void compare_sizes() {
    const RankIdentity* first = nullptr;
    for (const RankIdentity& identity : run_.ranks) {
      run_.world_size = std::max(run_.world_size, identity.world_size);
      if (identity.world_size < 0) continue;
      if (identity.rank >= identity.world_size) {
        run_.problems.push_back(fmt::format("{} is rank {} of only {}", identity.trace,
                                            identity.rank, identity.world_size));
      }
      if (first == nullptr) first = &identity;
      if (identity.world_size != first->world_size) {
        run_.problems.push_back(fmt::format("the job has {} ranks by {}, but {} by {}",
                                            first->world_size, first->trace, identity.world_size,
                                            identity.trace));
      }
    }
  }

  void find_doubled() {
    std::map<int32_t, std::set<std::string>> traces;
    for (const RankIdentity& identity : run_.ranks) traces[identity.rank].insert(identity.trace);
    for (const auto& [rank, files] : traces) {
      if (files.size() > 1) {
        run_.problems.push_back(
            fmt::format("rank {} has {} traces: {}", rank, files.size(), fmt::join(files, ", ")));
      }
    }
  }

  void find_missing() {
    if (run_.ranks.empty()) return;
    std::set<int32_t> missing;
    const int32_t end = std::max(run_.world_size, run_.ranks.back().rank + 1);
    auto next = run_.ranks.begin();
    for (int32_t rank = 0; rank < end; ++rank) {
      while (next != run_.ranks.end() && next->rank < rank) ++next;
      if (next == run_.ranks.end() || next->rank != rank) missing.insert(rank);
    }
    if (missing.empty()) return;
    const std::string size =
        run_.world_size > 0 ? fmt::format(" of {}", run_.world_size) : std::string();
    run_.problems.push_back(
        fmt::format("{} {}{} {} no trace", missing.size() > 1 ? "ranks" : "rank",
                    number_ranges(missing), size, missing.size() > 1 ? "have" : "has"));
  }

  const fs::path& folder_;
  RunFolder run_;
};

}  // namespace

std::vector<std::string> traces_in(const fs::path& folder) {
  std::vector<std::string> names = trace::names_in(folder);
  std::erase_if(names, [&](const std::string& name) {
    return !name.ends_with(".sqlite") || name.starts_with('.') ||
           trace::holds_memory_tables(folder / name);
  });
  std::ranges::sort(names);
  return names;
}

bool is_from_slurm(const RankIdentity& identity) {
  return identity.told_by == std::rbegin(kRankVariables)->rank;
}

RunFolder read_run_folder(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw Error(folder, "is no folder", "name the folder of a run");
  return Reader(folder).read();
}

}  // namespace streamscope::job
