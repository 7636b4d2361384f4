// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// What must be kept of records that are not stored: those to which later ones refer (texts,
// streams, modules, stacks, graphs and so on), the newest of each, up to a limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "process_identity.h"
#include "ring/image.h"
#include "ring/ring.h"

namespace streamscope::record {

/// Records of one process that later ones refer to. Thread-compatible.
class KnownFacts {
 public:
  /// `records`: of one ring, in order. Returns how many were taken; those after them are the
  /// beginning of a fact whose rest has not arrived, and must be passed again with it.
  size_t add(std::span<const ring::Record> records);
  /// Whether a record belongs to a fact.
  static bool holds(const ring::Record& record);
  /// Oldest first.
  std::vector<ring::Record> all() const;
  size_t size() const { return count_; }

 private:
  struct Key {
    ring::RecordKind kind;
    uint64_t first, second;
    auto operator<=>(const Key&) const = default;
  };
  struct Fact {
    uint64_t number;  // in sequence
    std::vector<ring::Record> records;
  };
  static std::optional<Key> key_of(const ring::Record& record);
  static bool ends(const ring::Record& record);
  void forget(const Key& key);
  void forget_graph(uint64_t graph);

  std::map<Key, Fact> facts_;
  std::map<uint64_t, Key> by_age_;
  uint64_t next_ = 0;
  size_t count_ = 0;  // records
};

/// What is known of each process.
using FactsOfProcesses = std::map<ProcessIdentity, KnownFacts>;

/// Number, within its image, of the ring that contains known facts: after all that a program
/// creates.
inline constexpr uint32_t kFactsIndex = ring::kRingsPerImage - 1;

/// PID-START-INDEX.ring, of the process that has the ring `of`.
std::filesystem::path ring_file(const ring::RingHeader& of, uint32_t index);

/// Creates the file of a ring of the process that has the ring `of`, for a reader alone: its
/// records from number `tail` to `head` are `records`, and `open` is in progress. Throws Error.
void write_ring(const std::filesystem::path& file, const ring::RingHeader& of, uint32_t index,
                uint64_t head, uint64_t tail, const std::vector<ring::Record>& records,
                const std::optional<ring::OpenCall::View>& open = std::nullopt);

}  // namespace streamscope::record
