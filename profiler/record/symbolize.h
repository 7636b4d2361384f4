// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Names the code at an address of an ELF file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace streamscope::record {

/// Keeps files open between look-ups. Thread-compatible.
class Symbolizer {
 public:
  Symbolizer();
  ~Symbolizer();
  Symbolizer(Symbolizer&&) noexcept;
  Symbolizer& operator=(Symbolizer&&) noexcept;

  /// Function at `address` of the file (as in its symbol table), with " file:line" where the file
  /// has debug information. "" if nothing is known, also if this build has no libdw. Never asks the
  /// network.
  std::string name(const std::string& file, uint64_t address);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace streamscope::record
