// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Maps addresses in ELF files to function names.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace streamscope::record {

struct CodePlace {
  std::string file;
  uint64_t address = 0;  ///< as in the file's symbol table

  auto operator<=>(const CodePlace&) const = default;
};

/// Keeps files open, and their symbols sorted, between lookups. Thread-compatible.
class Symbolizer {
 public:
  Symbolizer();
  ~Symbolizer();

  /// Function at a place, with " file:line" if the file has debug information. "" if nothing is
  /// known, also if this build has no libdw. Never uses the network. O(log symbols) except for the
  /// first place in a file.
  std::string name(const CodePlace& place);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Names of many places, looked up in a separate process: libdw reads untrusted files, and if
/// memory runs out it may end its caller. Caches names. Thread-compatible.
class CodeNames {
 public:
  /// As Symbolizer::name() of each; nullopt if its lookup ended that process.
  std::vector<std::optional<std::string>> look_up(const std::vector<CodePlace>& places);

 private:
  // A file that was replaced meanwhile is a different file.
  using Key = std::tuple<std::string, dev_t, ino_t, time_t, uint64_t>;
  std::map<Key, std::optional<std::string>> known_;
};

}  // namespace streamscope::record
