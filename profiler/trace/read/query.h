// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Runs a user's SQL on a trace, for the `query` command and the viewer's SQL panel.
//
// The statement may only read: an authorizer refuses everything that writes, attaches, vacuums,
// loads extensions or changes settings, on a connection that is read-only anyway. The SQL may be
// hostile; it can be interrupted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace streamscope::trace {

class MemoryTables;

struct Blob {
  std::span<const std::byte> bytes;
};
/// A value with SQLite's type; NULL is monostate. Texts and blobs are valid until the next call of
/// next().
using Cell = std::variant<std::monostate, int64_t, double, std::string_view, Blob>;

/// One statement and its rows. Thread-compatible, except for interrupt(), which is thread-safe.
class Query {
 public:
  /// Opens the trace, or a file of MemoryTables, and prepares `sql`. Throws Error: unusable file,
  /// wrong SQL, more than one statement, not reading.
  Query(const std::filesystem::path& file, std::string_view sql);
  /// The same for tables in memory.
  Query(MemoryTables tables, std::string_view sql);
  Query(Query&&) noexcept;
  Query& operator=(Query&&) noexcept;
  ~Query();

  const std::vector<std::string>& columns() const;
  /// Moves to the next row, initially to the first; false at the end. Throws Error if that fails or
  /// is interrupted.
  [[nodiscard]] bool next();
  /// Value in the current row; `column` must be below columns().size().
  Cell cell(size_t column) const;

  /// Makes the running next(), or otherwise the following one, throw Error soon.
  void interrupt();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace streamscope::trace
