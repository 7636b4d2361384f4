// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Finds unordered memory accesses, based only on CUDA's guarantees: streams, events, host waits,
// values in memory; regardless of the order a run took.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/engine.h"

namespace coord::sim {

/// A set of past steps, by number.
class Past {
 public:
  void add(std::uint32_t number);
  void add(const Past& other);
  [[nodiscard]] bool contains(std::uint32_t number) const;

 private:
  std::vector<std::uint64_t> bits_;
};

/// Thread-compatible. Actors are host threads, by number.
class Races {
 public:
  /// `actor` has submitted `op`, which follows `after`.
  void submitted(std::size_t actor, OpRef op, std::span<const OpRef> after);
  /// The operation happens now. `text` describes it; returns the race that it causes, if any.
  std::optional<std::string> performed(const Op& op, const std::string& text);
  /// `actor` runs the host function `op` from here on.
  void enters(std::size_t actor, OpRef op);
  /// The host function has returned.
  void leaves(std::size_t actor, OpRef op);
  /// `actor` has observed that they have ended.
  void seen(std::size_t actor, std::span<const OpRef> ops);
  /// `actor` comes after everything that other actors have done.
  void follows_all(std::size_t actor);
  void started(std::size_t parent, std::size_t child);
  std::optional<std::string> accessed(std::size_t actor, const Access& access,
                                      const std::string& text);

 private:
  struct Known {
    std::uint32_t number = 0;
    Past past;  // without itself; complete once performed
    std::vector<std::uint64_t> after;
  };
  struct Touched {
    Access access;
    std::uint32_t number;
    std::string text;
  };
  struct Word {
    Past past;  // of the operations that wrote the word
    std::uint64_t value = 0;
  };

  Past& actor_past(std::size_t actor);
  std::optional<std::string> touch(const Access& access, std::uint32_t number, const Past& past,
                                   const std::string& text);

  std::uint32_t next_number_ = 0;
  std::vector<Past> actors_;
  std::unordered_map<std::uint64_t, Known> ops_;  // by serial
  std::unordered_map<const std::uint64_t*, Word> words_;
  std::vector<Touched> touched_;
};

}  // namespace coord::sim
