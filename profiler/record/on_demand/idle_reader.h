// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the rings while nothing is recorded, so that they never fill up, and keeps only what later
// records refer to.
#pragma once

#include <filesystem>
#include <list>
#include <set>
#include <string>
#include <vector>

#include "record/drain/known_facts.h"
#include "ring/ring.h"

namespace streamscope::record {

/// Thread-compatible. The only consumer of the rings while it exists.
class IdleReader {
 public:
  /// `rings`: their folder. `facts` outlives this.
  IdleReader(std::filesystem::path rings, FactsOfProcesses& facts)
      : rings_(std::move(rings)), facts_(facts) {}

  /// Finds new rings, reads and releases what is in them, and removes those of processes that have
  /// ended. Returns the number of records.
  size_t step();
  /// True if every process that has created a ring has ended.
  bool all_finished() const { return lanes_.empty(); }
  /// Creates a ring with what is known of each process, for the next reader; returns their files.
  /// Throws Error.
  std::vector<std::filesystem::path> write_facts() const;

 private:
  struct Lane {
    ring::Consumer ring;
    ProcessIdentity process;
  };
  void scan();
  size_t read(Lane& lane);
  void remove(const Lane& lane);

  std::filesystem::path rings_;
  FactsOfProcesses& facts_;
  std::list<Lane> lanes_;
  std::set<std::string> opened_;
};

}  // namespace streamscope::record
