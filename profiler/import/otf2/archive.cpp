// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

#include "archive.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <unordered_map>

#include "import/assembly.h"
#include "process.h"
#include "stream_events.h"
#include "thread_events.h"
#include "trace/error.h"

namespace streamscope::import::otf2 {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCopyAgain =
    "copy the whole archive again: FILE.otf2, FILE.def and the folder FILE";

// What the library says first of all is the cause; it would print it.
thread_local std::string first_message;

OTF2_ErrorCode keep_message(void*, const char*, uint64_t, const char*, OTF2_ErrorCode code,
                            const char* format, va_list values) {
  if (first_message.empty()) {
    std::array<char, 512> text{};
    std::vsnprintf(text.data(), text.size(), format, values);
    first_message = text.data();
  }
  return code;
}

void require(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) throw Error(file, "is missing", kCopyAgain);
}

}  // namespace

Archive::Archive(const fs::path& file) : file_(file), reader_(nullptr, OTF2_Reader_Close) {
  const fs::path definitions = fs::path(file).replace_extension(".def");
  require(definitions);
  OTF2_Error_RegisterCallback(keep_message, nullptr);
  first_message.clear();
  reader_.reset(OTF2_Reader_Open(file.c_str()));
  if (!reader_) reject(file, OTF2_ERROR_INVALID_DATA);
  OTF2_Reader_SetSerialCollectiveCallbacks(reader_.get());
  if (const OTF2_ErrorCode code = read_definitions(reader_.get(), definitions_);
      code != OTF2_SUCCESS)
    reject(definitions, code);
  if (definitions_.ticks_per_second == 0)
    throw Error(definitions, "does not say how fast its clock is", kCopyAgain);
  find_processes();
  if (processes_.empty())
    throw Error(definitions, "describes no thread or stream of a process", "check the file");
  name_ranks();
  for (const Process& process : processes_) {
    for (const auto* locations : {&process.threads, &process.streams}) {
      for (const Location& location : *locations)
        OTF2_Reader_SelectLocation(reader_.get(), location.id);
    }
  }
  OTF2_Reader_OpenDefFiles(reader_.get());
  if (const OTF2_ErrorCode code = OTF2_Reader_OpenEvtFiles(reader_.get()); code != OTF2_SUCCESS)
    reject(file, code);
}

void Archive::reject(const fs::path& file, OTF2_ErrorCode code) const {
  const std::string cause = first_message.empty() ? OTF2_Error_GetDescription(code) : first_message;
  throw Error(file, "is damaged or of another version of OTF2: " + cause, kCopyAgain);
}

// Streams are in groups of their own since OTF2 3.0, which name the process unless there is only
// one.
void Archive::find_processes() {
  std::unordered_map<uint32_t, size_t> index_of;
  for (const auto& [reference, group] : definitions_.location_groups) {
    if (group.type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR) continue;
    index_of[reference] = processes_.size();
    processes_.push_back({.group = reference});
  }
  for (const Location& location : definitions_.locations) {
    const auto group = definitions_.location_groups.find(location.group);
    if (group == definitions_.location_groups.end()) continue;
    const bool on_device = group->second.type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR;
    const auto known = index_of.find(on_device ? group->second.creator : location.group);
    if (known == index_of.end() && processes_.size() != 1) continue;
    Process& process = processes_[known == index_of.end() ? 0 : known->second];
    if (location.type == OTF2_LOCATION_TYPE_CPU_THREAD) process.threads.push_back(location);
    if (location.type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM) process.streams.push_back(location);
    if (location.type == OTF2_LOCATION_TYPE_METRIC) process.metric_count += location.event_count;
  }
  std::erase_if(processes_, [](const Process& process) {
    return process.threads.empty() && process.streams.empty();
  });
}

// By MPI's list of all ranks, else by names, else by their order.
void Archive::name_ranks() {
  std::unordered_map<uint32_t, Process*> by_group;
  for (Process& process : processes_) by_group[process.group] = &process;
  const auto set = [](Process& process, int64_t rank, size_t count, std::string_view source) {
    if (!process.rank.is_known())
      process.rank = {static_cast<int32_t>(rank), static_cast<int32_t>(count), -1, source};
  };
  if (const std::vector<uint64_t>* const ranks = definitions_.ranks_of(OTF2_PARADIGM_MPI)) {
    std::unordered_map<uint64_t, uint32_t> group_of;
    for (const Location& location : definitions_.locations) group_of[location.id] = location.group;
    for (size_t rank = 0; rank < ranks->size(); ++rank) {
      const auto group = group_of.find((*ranks)[rank]);
      if (group == group_of.end()) continue;
      if (const auto process = by_group.find(group->second); process != by_group.end())
        set(*process->second, static_cast<int64_t>(rank), ranks->size(), "MPI");
    }
  }
  constexpr std::string_view kRank = "MPI Rank ";
  for (Process& process : processes_) {
    const std::string_view name = definitions_.location_groups.at(process.group).name;
    const int32_t rank = name.starts_with(kRank) ? rank_number(name.substr(kRank.size())) : -1;
    if (rank >= 0) set(process, rank, processes_.size(), "MPI");
  }
  const bool none = std::ranges::none_of(
      processes_, [](const Process& process) { return process.rank.is_known(); });
  if (!none || processes_.size() == 1) return;
  for (size_t i = 0; i < processes_.size(); ++i)
    set(processes_[i], static_cast<int64_t>(i), processes_.size(), "order in the archive");
}

fs::path Archive::path_of(const Location& location, const char* suffix) const {
  return fs::path(file_).replace_extension() / (std::to_string(location.id) + suffix);
}

// How the location's own numbers of regions and the like, and its clock, become those of all.
void Archive::read_mappings(const Location& location) {
  const fs::path file = path_of(location, ".def");
  std::error_code error;
  if (!fs::exists(file, error)) return;
  OTF2_DefReader* const from = OTF2_Reader_GetDefReader(reader_.get(), location.id);
  if (!from) reject(file, OTF2_ERROR_INVALID_DATA);
  uint64_t count = 0;
  const OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalDefinitions(reader_.get(), from, &count);
  OTF2_Reader_CloseDefReader(reader_.get(), from);
  if (code != OTF2_SUCCESS) reject(file, code);
}

template <class Events>
void Archive::read_events(const Location& location, Events& events, Assembly& assembly) {
  if (location.event_count == 0) return;
  const fs::path file = path_of(location, ".evt");
  require(file);
  first_message.clear();
  read_mappings(location);
  OTF2_EvtReader* const from = OTF2_Reader_GetEvtReader(reader_.get(), location.id);
  if (!from) reject(file, OTF2_ERROR_INVALID_DATA);
  OTF2_EvtReaderCallbacks* const callbacks = Events::callbacks();
  uint64_t count = 0;
  OTF2_ErrorCode code = OTF2_Reader_RegisterEvtCallbacks(reader_.get(), from, callbacks, &events);
  OTF2_EvtReaderCallbacks_Delete(callbacks);
  if (code == OTF2_SUCCESS) code = OTF2_Reader_ReadAllLocalEvents(reader_.get(), from, &count);
  OTF2_Reader_CloseEvtReader(reader_.get(), from);
  events.rethrow();
  if (code != OTF2_SUCCESS) reject(file, code);
  if (count < location.event_count) {
    constexpr uint64_t kMostCounted = uint64_t{1} << 53;  // the number may be damaged, too
    assembly.losses().add("import-truncated", std::min(location.event_count - count, kMostCounted),
                          kNoId, "events of " + file.filename().string());
  }
  events.finish();
}

void Archive::read(size_t index, Assembly& assembly) {
  const Process& process = processes_[index];
  ProcessRows rows(definitions_, process.group, process.rank, assembly);
  if (process.metric_count > 0) rows.count_ignored("values of metrics", process.metric_count);
  if (definitions_.start_realtime_ns < uint64_t{1} << 62) {
    assembly.writer().set_meta("trace_start_realtime_ns",
                               static_cast<Int>(definitions_.start_realtime_ns));
  }
  for (const Location& location : process.streams) rows.stream(location);
  Regions regions(rows);
  for (const Location& location : process.threads) {
    ThreadEvents events(rows, regions, rows.thread(location));
    read_events(location, events, assembly);
  }
  for (const Location& location : process.streams) {
    StreamEvents events(rows, rows.stream(location));
    read_events(location, events, assembly);
  }
  rows.finish();
}

}  // namespace streamscope::import::otf2

namespace streamscope::import {

std::unique_ptr<ProcessesOfFile> open_otf2(const std::filesystem::path& file) {
  return std::make_unique<otf2::Archive>(file);
}

}  // namespace streamscope::import
