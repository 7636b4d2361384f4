// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0
#include "idle_reader.h"

#include <algorithm>

#include "ring/image.h"
#include "ring/process.h"
#include "trace/folder_names.h"

namespace streamscope::record {

namespace fs = std::filesystem;

void IdleReader::scan() {
  for (const std::string& name : trace::try_names_in(rings_).value_or(std::vector<std::string>())) {
    if (!name.ends_with(".ring") || opened_.contains(name)) continue;
    std::string why;
    auto ring = ring::Consumer::open(rings_ / name, &why);
    if (!ring) continue;  // incomplete
    opened_.insert(name);
    const auto process = ProcessIdentity::of(ring->header());
    lanes_.push_back({std::move(*ring), process});
  }
}

size_t IdleReader::read(Lane& lane) {
  const ring::Consumer::Pending pending = lane.ring.pending();
  std::vector<ring::Record> records;
  records.reserve(pending.size());
  for (size_t i = 0; i < pending.size(); ++i) records.push_back(pending[i]);
  const size_t taken = facts_[lane.process].add(records);
  lane.ring.release(taken);
  return taken;
}

void IdleReader::remove(const Lane& lane) {
  std::error_code ignored;
  opened_.erase(lane.ring.file().filename().string());
  fs::remove(lane.ring.file(), ignored);
  fs::remove(lane.ring.backlog_file(), ignored);
  const ring::RingHeader& header = lane.ring.header();
  for (const std::string& name : trace::try_names_in(rings_).value_or(std::vector<std::string>())) {
    const std::string prefix =
        std::to_string(header.pid) + "-" + std::to_string(header.process_start) + "-";
    if (name.starts_with(prefix) && name.ends_with(ring::kExitEnding))
      fs::remove(rings_ / name, ignored);
  }
}

size_t IdleReader::step() {
  scan();
  size_t taken = 0;
  for (auto lane = lanes_.begin(); lane != lanes_.end();) {
    const bool alive = ring::process_alive(lane->process.pid, lane->process.start);
    taken += read(*lane);
    if (alive) {
      ++lane;
      continue;
    }
    remove(*lane);
    facts_.erase(lane->process);
    lane = lanes_.erase(lane);
  }
  return taken;
}

std::vector<fs::path> IdleReader::write_facts() const {
  std::vector<fs::path> files;
  for (const auto& [process, facts] : facts_) {
    const auto lane = std::ranges::find(lanes_, process, &Lane::process);
    if (lane == lanes_.end() || facts.size() == 0) continue;
    const std::vector<ring::Record> records = facts.all();
    const uint32_t index = process.image * ring::kRingsPerImage + kFactsIndex;
    const ring::RingHeader& header = lane->ring.header();
    files.push_back(rings_ / ring_file(header, index));
    write_ring(files.back(), header, index, records.size(), 0, records);
  }
  return files;
}

}  // namespace streamscope::record
