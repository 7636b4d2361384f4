// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// A finished trace, and the copy that will replace it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "replacement.h"
#include "trace/sqlite/sqlite.h"

namespace streamscope::trace {

/// Thread-compatible. While it exists no one can store a change in the trace, which the copy would
/// miss.
class TraceChange {
 public:
  /// Throws Error.
  explicit TraceChange(const std::filesystem::path& file);

  /// The copy as a URI for SQLITE_OPEN_URI. No one else opens it, so nothing is locked.
  std::string copy() const;
  /// Replaces the trace by the copy. The connection must be closed. Throws Error; the trace is then
  /// unchanged.
  void commit();

 private:
  // In this order: closing a descriptor of a file ends all locks that the process has on it.
  std::unique_ptr<Replacement> replacement_;
  std::unique_ptr<Database> original_;
};

}  // namespace streamscope::trace
