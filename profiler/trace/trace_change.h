// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A finished trace, and the copy that is to take its place.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "replacement.h"
#include "sqlite.h"

namespace streamscope::trace {

/// Thread-compatible. Until its end nobody can store a change in the trace, which the copy would
/// miss.
class TraceChange {
 public:
  /// Throws Error.
  explicit TraceChange(const std::filesystem::path& file);

  /// The copy as SQLite opens it with SQLITE_OPEN_URI. Nobody else does, so nothing is locked.
  std::string copy() const;
  /// Puts the copy in the trace's place. The connection must be closed. Throws Error; the trace is
  /// then what it was.
  void commit();

 private:
  // In this order: closing a descriptor of a file ends all locks that the process has on it.
  std::optional<Replacement> replacement_;
  std::unique_ptr<Database> original_;
};

}  // namespace streamscope::trace
