// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Names the code at addresses of ELF files.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace streamscope::record {

struct CodePlace {
  std::string file;
  uint64_t address = 0;  ///< as in the file's symbol table

  auto operator<=>(const CodePlace&) const = default;
};

/// Keeps files open, and their symbols sorted, between look-ups. Thread-compatible.
class Symbolizer {
 public:
  Symbolizer();
  ~Symbolizer();
  Symbolizer(Symbolizer&&) noexcept;
  Symbolizer& operator=(Symbolizer&&) noexcept;

  /// Function at a place, with " file:line" where the file has debug information. "" if nothing is
  /// known, also if this build has no libdw. Never asks the network. O(log symbols) but for the
  /// first place in a file.
  std::string name(const CodePlace& place);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Names of many places, looked up in a process of its own: libdw reads files of any making, and
/// where memory runs out it may end whoever called it. Remembers names. Thread-compatible.
class CodeNames {
 public:
  CodeNames();
  ~CodeNames();
  CodeNames(CodeNames&&) noexcept;
  CodeNames& operator=(CodeNames&&) noexcept;

  /// As Symbolizer::name() of each; nullopt where looking it up ended that process.
  std::vector<std::optional<std::string>> look_up(const std::vector<CodePlace>& places);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace streamscope::record
