// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Writes a trace file: rows are buffered and inserted in bulk, one transaction per flush().
//
// Used by `record` (rings), `import` (other tools' files), `analysis` results (derived tables) and
// test builders. The file can be read by others at any time; finish() turns it into one plain
// indexed file.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "trace/model.h"

namespace streamscope::trace {

/// Thread-compatible. Throws streamscope::Error (disk full, unwritable path, file exists). A Writer
/// that is destroyed without finish() leaves a readable, incomplete trace (WAL mode), as after a
/// crash.
class Writer {
 public:
  struct Options {
    bool overwrite = false;  ///< replace an existing file; otherwise an existing file is an Error
    /// False: no one reads the file before finish(), and it is useless without. Then every page is
    /// written once; otherwise it goes through a WAL, so that readers see whole flushes.
    bool read_meanwhile = true;
  };

  /// Creates FILE (mode 0600) with the schema and meta.
  static Writer create(const std::filesystem::path& file, Options options);
  static Writer create(const std::filesystem::path& file) { return create(file, Options{}); }
  /// Opens a finished trace to replace its derived tables: clear(), append(), finish(). It works on
  /// a copy next to the file, with which finish() replaces it in one step: anyone who opens or
  /// copies the file at any time, on any medium, gets it complete, without or with the change.
  /// While a process reads the trace through its log, the change goes there in one transaction.
  static Writer open_derived(const std::filesystem::path& file);
  /// Opens a trace whose writer ended before finish(), to add what it left in the rings and finish
  /// it. Ids continue where they ended. The caller makes sure that the old writer is gone.
  static Writer resume(const std::filesystem::path& file);

  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();

  /// Adds a row and returns its id: 0, 1, 2, ... per table. Buffered; visible to readers after
  /// flush(). Impossible values (checks.h) are stored as unknown and counted as a loss.
  template <class Row>
  Id append(const Row& row);
  /// Replaces a row appended earlier, flushed or not.
  template <class Row>
  void update(Id id, const Row& row);
  /// Number of rows appended to the table so far.
  template <class Row>
  Id count() const;
  /// Deletes all rows of a derived table; the next row has id 0.
  template <class Row>
  void clear();

  /// Id of the text; equal texts have equal ids.
  Id intern(std::string_view text);
  /// An id for a text that is not known yet. set_string() sets the text; without it the string
  /// reads "?".
  Id reserve_string();
  void set_string(Id id, std::string_view text);

  /// Keys: schema.sql, table meta. The writer sets format_version, complete, duration_ns, producer
  /// and trace_start_realtime_ns itself; the last three only if they are not set otherwise.
  void set_meta(std::string_view key, std::string_view value);
  void set_meta(std::string_view key, int64_t value);
  /// Removes a key that set_meta() added.
  void erase_meta(std::string_view key);

  /// Stores everything buffered in one transaction (after open_derived() all flushes are one
  /// transaction). Call at least a few times a second while recording.
  void flush();
  /// Bytes of rows buffered and not yet flushed; callers flush above a few MiB.
  size_t buffered_bytes() const;

  /// Stores short kernel names, flushes, builds the indexes that the data needs, marks the trace
  /// complete or not, checkpoints and leaves one file in journal mode DELETE (while another process
  /// reads it, the file stays in WAL mode; it is finished nonetheless). Throws Error also if only
  /// the last step fails; then file and log contain the finished trace, and fold_wal() merges them.
  /// After open_derived() `complete` is ignored: the trace keeps its state. The Writer cannot be
  /// used afterwards.
  void finish(bool complete);
  const std::filesystem::path& file() const;

  struct Impl;

 private:
  explicit Writer(std::unique_ptr<Impl> impl);
  void store_damage();
  std::unique_ptr<Impl> impl_;
};

}  // namespace streamscope::trace
