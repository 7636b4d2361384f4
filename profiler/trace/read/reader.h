// SPDX-FileCopyrightText: 2026 StreamScope contributors
// SPDX-License-Identifier: Apache-2.0

// Loads a trace file into an immutable Trace of columns, the input of every analysis, report and
// view.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model.h"

namespace streamscope::trace {

/// A whole trace in memory. Immutable once read, so any number of threads may use it.
/// `trace.op.start_ns[id]`.
struct Trace {
  // Out of line: avoids inlining the copy and destruction of some four hundred columns everywhere.
  Trace();
  Trace(const Trace&);
  Trace(Trace&&) noexcept;
  Trace& operator=(const Trace&);
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  std::filesystem::path file;
  std::map<std::string, std::string, std::less<>> meta;
  std::vector<std::string> strings;

#define STREAMSCOPE_MEMBER(sql_name, Row, COLUMNS) Row##Columns sql_name;
  STREAMSCOPE_TABLES(STREAMSCOPE_MEMBER)
#undef STREAMSCOPE_MEMBER

  /// Text of a string id; "" for kNoId.
  std::string_view text(Id string_id) const {
    return string_id < strings.size() ? std::string_view(strings[string_id]) : std::string_view();
  }
  /// Packs the tables of a trace that was built row by row, as read() does.
  void pack();
  /// True if the recording ended normally and was finished.
  bool complete() const;
  /// Latest time in any call, op, range or sync. Linear in the rows.
  Ns end_ns() const;
  /// Process of a thread, device of a stream, ...: kNoId if the chain is broken.
  Id process_of_thread(Id thread_id) const;
  Id process_of_stream(Id stream_id) const;
  Id device_of_stream(Id stream_id) const;
};

struct ReadOptions {
  /// Called occasionally with a fraction in [0, 1]; return false to cancel (read() then throws
  /// Error "cancelled").
  std::function<bool(double)> progress;
  /// Read these tables (and meta and the strings) and leave the others empty; if empty: all of
  /// them. For a first look at a large trace: ids that refer to an omitted table are not valid.
  std::vector<std::string_view> only;
  /// Tables that are not in `only` get the number of their rows, but every value in them reads as
  /// unknown.
  bool count_others = false;
};

/// Reads FILE, finished or still being recorded. Throws Error with what is wrong and what to do:
/// not a file, not SQLite, not a trace, a newer format, truncated, corrupt.
Trace read(const std::filesystem::path& file, const ReadOptions& options = {});

/// Names of the stable views and tables for `query` users, for help texts.
std::vector<std::string> stable_views();

}  // namespace streamscope::trace
